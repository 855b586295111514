// SPDX-License-Identifier: BSD-3-Clause
// What the simulation asks of a wire: two protocol engines without I/O, joined by some network in
// virtual time, with everything drawn from one seed. A program of posts (pair_program.h) and what
// must hold after it are written against this alone. A second wire is simulated by one class that
// meets the concept EnginePair below, and one line that makes the program for it
// (stream_program.{h,cc} do so for iWARP over a byte stream).
//
// Made. `Pair(seed)` draws the options of its wire from the seed, makes both ends and connects
// them. Options are drawn from a generator of their own, so that a new option of the wire changes
// no program. All other choices come from Draw(), the pair's and the program's alike: this one
// sequence is what a seed replays.
//
// Sides. `side(0)` has begun the connection, `side(1)` has taken it. Each derives from EngineSide:
// memory, queues, rings, buffers and posts are the same on every wire. Beyond these, a side says
// how its engine stands:
//
//   ended()           the connection is over here; completions are final, and end() says why
//   wants_transmit()  it has something to send
//   stalled()         a message waits for a receive
//   timer_runs()      it has asked for a timer
//   held_receives()   receives taken from an SRQ by a message that is not complete
//   packets_sent()    counts what it sends; stands still behind the end
//   Disconnect(mode)  the consumer's
//
// Steps. Transmit(i) moves something from engine i into the network, Receive(i) from the network
// into engine i: some random part of what could move, and both say whether anything did. StepAll()
// gives each side a turn at both, and does nothing only if nothing can move before time passes.
// AdvanceClock() takes the clock to the next arrival or timer, and is false if there is none.
// UnderWay(i) says whether something of side i has not arrived: the program lets no timer go off
// while it could look at something instead.
//
// Losing it. PlanLoss() makes the connection break at some moment that is drawn, by whatever can
// break it on this wire: a byte of the stream for TCP, a packet that is never acknowledged for
// RoCE. Afterwards everything that happens must be excused by a loss. Break(i, why) tells side i at
// once what its transport would tell it after its own patience.
//
// What differs between wires and is not wrong is said by EngineRules, and by StatusOf(kind): with
// which status a bad request ends. EndedInMidPacket() is the one excuse that belongs to a run: an
// end had to leave a packet unfinished, so that neither an error nor what was under way could be
// told.
#ifndef SOFTDAT_TESTS_SIM_ENGINE_PAIR_H_
#define SOFTDAT_TESTS_SIM_ENGINE_PAIR_H_

#include <concepts>
#include <cstdint>
#include <string>

#include "dat/transport/transport.h"
#include "provider_softnet/queue/engine_side.h"

namespace softdat::sim {

using softnet::CompletionRing;
using softnet::Segment;
using softnet::testing::EngineSide;

// What is wrong with a bad request. "Gone": its memory is freed at some moment behind the post,
// maybe too late to do harm.
enum class BadKind : uint8_t {
  kOutsideWrite,  // reaches for what the peer has not opened
  kOutsideWriteImmediate,
  kOutsideRead,
  kOutsideFetchAdd,
  kOutsideCompareSwap,
  kTooLong,  // for its receive
  kInvalidatesNothing,
  kReceiveGone,  // the peer's
  kTargetGone,
  kReadSourceGone,
  kSourceGone,  // the own
  kSinkGone,
  kBindGone,
  kCount
};

// What a connection of this wire promises, as it was made.
struct EngineRules {
  uint32_t queue = 0;  // work requests that each queue takes
  bool reads = true;   // reads and atomics may be posted
  // Whose success says that the peer has it: of every send and write, or of none but the writes
  // that ask for it (kConfirm), which is allowed if can_confirm.
  bool confirms_all = false;
  bool can_confirm = false;
  // A read or atomic whose memory is gone, at either end, keeps the peer from what stands behind.
  bool failed_read_stops_the_rest = false;
  // The network takes few bytes at a time: long messages would need too many steps.
  bool narrow = false;
};

template <typename S>
concept SimulatedSide = std::derived_from<S, EngineSide> &&
    requires(S s, const S c, transport::DisconnectMode mode) {
  s.Disconnect(mode);
  { c.ended() } -> std::same_as<bool>;
  { c.end().reason } -> std::convertible_to<transport::EndReason>;
  { c.end().why } -> std::convertible_to<std::string>;
  { c.wants_transmit() } -> std::same_as<bool>;
  { c.stalled() } -> std::same_as<bool>;
  { c.timer_runs() } -> std::same_as<bool>;
  { c.held_receives() } -> std::convertible_to<uint32_t>;
  { c.packets_sent() } -> std::convertible_to<uint64_t>;
};

template <typename P>
concept EnginePair = SimulatedSide<typename P::Side> && std::constructible_from<P, uint64_t> &&
    requires(P p, const P c, int i, uint64_t bound, BadKind kind) {
  { p.side(i) } -> std::same_as<typename P::Side&>;
  { c.rules() } -> std::convertible_to<EngineRules>;
  { p.Draw(bound) } -> std::same_as<uint64_t>;
  { p.Transmit(i) } -> std::same_as<bool>;
  { p.Receive(i) } -> std::same_as<bool>;
  { p.StepAll() } -> std::same_as<bool>;
  { p.AdvanceClock() } -> std::same_as<bool>;
  { c.now_us() } -> std::same_as<uint64_t>;
  { c.UnderWay(i) } -> std::same_as<bool>;
  p.PlanLoss();
  p.Break(i, std::string());
  { c.EndedInMidPacket() } -> std::same_as<bool>;
  { P::StatusOf(kind) } -> std::same_as<transport::WorkStatus>;
  { c.Describe(i) } -> std::same_as<std::string>;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_ENGINE_PAIR_H_
