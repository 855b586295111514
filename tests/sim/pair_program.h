// SPDX-License-Identifier: BSD-3-Clause
// One run of the simulation. A random program posts on both sides of a pair of engines, over their
// network in virtual time. All of it is drawn from the seed. Every run must keep these invariants:
// one completion per signalled post, in order; data by pattern; guard bytes untouched; nothing
// written outside a window or region; receives consumed once; failures only after failures; after
// the end everything is flushed, and then there is silence; resources balance; bounded progress.
// With confirmed completions nothing succeeds that the peer has not placed. If one request is bad,
// those before it succeed and those after it are not carried out.
#ifndef SOFTDAT_TESTS_SIM_PAIR_PROGRAM_H_
#define SOFTDAT_TESTS_SIM_PAIR_PROGRAM_H_

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "tests/sim/engine_pair.h"

namespace softdat::sim {

// How a run ends.
enum class Ending : uint8_t {
  kGraceful,
  kAbrupt,
  kBothGraceful,
  kBothAbrupt,
  kLost,        // the connection is lost at some moment
  kReset,       // of one side, or of both, with what is under way
  kBadRequest,  // one among good ones
  kCount
};

// A request that is posted.
struct Posted {
  uint64_t cookie = 0;
  transport::Op op = transport::Op::kSend;
  uint8_t flags = 0;
  uint32_t length = 0;
  uint64_t slot = 0;    // offset in the sink (reads) or in the peer's target (writes)
  uint64_t stream = 0;  // pattern
  uint64_t expect = 0;  // atomics: the value before
};

// The program's knowledge of a side.
struct Node {
  size_t source = 0, target = 0, sink = 0, counter = 0, inbox = 0;
  uint32_t window = 0, window_key = 0;  // over the target's middle, if the run has windows
  uint32_t own_window = 0;              // bound now and then, for nobody
  uint64_t target_used = 0;             // in the peer's target
  uint64_t sink_used = 0;
  uint64_t posts_left = 0;
  uint64_t next_cookie = 1;
  uint64_t adds = 0;            // fetch-and-adds posted
  uint64_t adds_done = 0;       // those that completed with success
  std::deque<Posted> sends;     // posted, completion not seen (or suppressed)
  std::deque<Posted> writes;    // posted, not seen in place by the peer
  std::deque<Posted> messages;  // sends and immediates posted, not received by the peer yet
  std::deque<std::pair<uint64_t, uint64_t>> receives;  // cookie, inbox slot
  std::vector<uint64_t> free_inbox;
  bool send_failed = false, receive_failed = false;
  uint64_t received = 0;
  uint64_t last_received = 0;  // cookie of the peer's message
};

inline constexpr size_t kNoBuffer = ~size_t{0};

// The bad request of a run.
struct Bad {
  BadKind kind = BadKind::kCount;
  bool posted = false, completed = false, failed = false;
  int side = 0;
  uint64_t cookie = 0;
  int owner = 0;  // the side whose memory is freed
  size_t memory = kNoBuffer;
  uint32_t window = 0;  // over that memory
  bool freed = false;
  uint64_t free_in = 0;  // in steps
};

template <EnginePair Pair>
class PairProgram {
 public:
  explicit PairProgram(uint64_t seed);

  // Runs to the end. Returns an empty text if all invariants held, else the one that did not.
  std::string Run();

 private:
  using Side = typename Pair::Side;

  static constexpr uint32_t kInboxSlot = 9000;
  static constexpr uint32_t kInboxSlots = 24;
  static constexpr uint64_t kArea = 160 * 1024;
  // The size of the target's region on each side of its window.
  static constexpr uint64_t kMargin = 4096;
  // The slot of a receive in the memory that is freed.
  static constexpr uint64_t kNoSlot = ~uint64_t{0};

  static const uint8_t* SourceBytes(int i);
  void BindTargets();
  DAT_RMR_TRIPLET TargetOf(int i, uint64_t slot, uint32_t length);
  uint8_t* TargetData(int i) { return pair_.side(i).data(nodes_[i].target) + kMargin; }
  void Post(int i);
  void PostReceives(int i);
  void Reap(int i);
  void CheckSend(int i, const transport::Completion& c);
  void CheckReceive(int i, const transport::Completion& c);
  bool Matches(const uint8_t* at, const Posted& p);
  void CheckData(int i, const Posted& p);
  void Drive();
  void End();
  void Step();
  void PlanLoss();
  void PostBind(int i);
  // pair_program_bad.h
  void PostAmongGood(int i);
  bool PostBad(int i);
  void ReachOutside(int i, Posted* p, transport::SendRequest* r, Segment* local);
  bool AimAtReceive(int i);
  size_t Mortal(int owner, uint32_t length);
  void FreeInTime();
  bool BadMaySucceed() const;
  bool BadStopsWhatIsBehind() const;
  bool LostHalfAPacket() const;
  void CheckBad(int i, const Posted& p, const transport::Completion& c);
  void CheckFailedReceive(int i, const transport::Completion& c);
  void CheckBehindBad();
  bool Confirms(const Posted& p) const;
  void CheckTaken(int i, const Posted& p);
  void Settle();
  void CheckLeftovers(int i);
  void CheckUntouched(int i);
  void CheckSilence(int i);
  std::vector<Segment> Split(Side& side, size_t buffer, uint64_t offset, uint32_t length);
  uint32_t RandomLength();
  std::string Describe() const;
  void Expect(bool ok, const std::string& what);

  const uint64_t seed_;
  Pair pair_;
  const EngineRules rules_;
  std::array<Node, 2> nodes_;
  Ending ending_;
  bool windows_ = false;
  bool eager_ = false;  // looks at completions at each step
  bool lossy_ = false;  // the connection may be lost as well
  Bad bad_;
  std::string wrong_;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_PAIR_PROGRAM_H_
