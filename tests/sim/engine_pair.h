// SPDX-License-Identifier: BSD-3-Clause
// The interface that the simulation needs of a wire: two protocol engines without I/O, joined by
// some network in virtual time, with everything drawn from one seed. A program of posts
// (pair_program.h) and the checks after it use only this interface. A second wire needs one class
// that meets the concept EnginePair below, and one line that makes the program for it
// (stream_program.{h,cc} do so for iWARP over a byte stream).
//
// Construction. `Pair(seed)` draws the options of its wire from the seed, makes both ends and
// connects them. Options are drawn from a generator of their own, so that a new option of the wire
// changes no program. All other choices of the pair and of the program come from Draw(). A seed
// replays this one sequence.
//
// Sides. `side(0)` has begun the connection, `side(1)` has accepted it. Each derives from
// EngineSide, because memory, queues, rings, buffers and posts are the same on every wire. In
// addition, a side shows the state of its engine:
//
//   ended()           the connection is over here; completions are final, and end() says why
//   wants_transmit()  it has something to send
//   stalled()         a message waits for a receive
//   timer_runs()      it has asked for a timer
//   held_receives()   receives taken from an SRQ by a message that is not complete
//   packets_sent()    counts what it sends; stands still after the end
//   Disconnect(mode)  the consumer's disconnect
//
// Steps. Transmit(i) moves something from engine i into the network, and Receive(i) from the
// network into engine i. Each moves a random part of what could move, and returns whether it moved
// anything. StepAll() gives each side a turn at both. It does nothing only if nothing can move
// before time passes. AdvanceClock() takes the clock to the next arrival or timer, and returns
// false if there is none. UnderWay(i) says whether something of side i has not arrived, because the
// program lets no timer expire while it could look at something instead.
//
// Loss. PlanLoss() makes the connection break at some moment that is drawn, by anything that can
// break it on this wire: a byte of the stream for TCP, a packet that is never acknowledged for
// RoCE. Afterwards a loss must excuse everything that happens. Break(i, why) tells side i at once
// what its transport would tell it after its own patience.
//
// EngineRules contains the differences between wires that are not wrong. So does StatusOf(kind),
// the status with which a bad request ends. EndedInMidPacket() is the one excuse that belongs to a
// run: an end had to leave a packet unfinished, so that it could tell neither an error nor what was
// under way.
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

// What is wrong with a bad request. "Gone": its memory is freed at some moment after the post,
// which may be too late to do harm.
enum class BadKind : uint8_t {
  kOutsideWrite,  // accesses memory that the peer has not opened
  kOutsideWriteImmediate,
  kOutsideRead,
  kOutsideFetchAdd,
  kOutsideCompareSwap,
  kTooLong,  // for its receive
  kInvalidatesNothing,
  kReceiveGone,  // the peer's receive
  kTargetGone,
  kReadSourceGone,
  kSourceGone,  // the request's own source
  kSinkGone,
  kBindGone,
  kCount
};

// The promises of a connection of this wire, as it was made.
struct EngineRules {
  uint32_t queue = 0;  // work requests that each queue takes
  bool reads = true;   // reads and atomics may be posted
  // Which successes say that the peer has the data: all sends and writes, or only writes that ask
  // for it (kConfirm), which they may if can_confirm.
  bool confirms_all = false;
  bool can_confirm = false;
  // A read or atomic whose memory is gone, at either end, keeps the peer from carrying out what
  // follows.
  bool failed_read_stops_the_rest = false;
  // The network takes few bytes at a time, so long messages would need too many steps.
  bool narrow = false;
};

// With which status a bad request ends at its requester, where a wire tells all of them.
inline transport::WorkStatus StatusOfBad(BadKind kind) {
  using transport::WorkStatus;
  switch (kind) {
    case BadKind::kTooLong:
    case BadKind::kReceiveGone:
      return WorkStatus::kRemoteResponder;
    case BadKind::kSourceGone:
    case BadKind::kSinkGone:
      return WorkStatus::kLocalProtection;
    case BadKind::kBindGone:
      return WorkStatus::kBindFailed;
    default:
      return WorkStatus::kRemoteAccess;
  }
}

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
