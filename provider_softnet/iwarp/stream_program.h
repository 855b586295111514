// SPDX-License-Identifier: BSD-3-Clause
// For tests: a random program of posts on both sides of a stream pair, and the invariants that
// every run must keep: one completion per signalled post, in order; data by pattern; guard bytes
// untouched; receives consumed once; failures only behind failures; nothing left over at the end.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_PROGRAM_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_PROGRAM_H_

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "provider_softnet/iwarp/stream_pair.h"

namespace softdat::softnet::testing {

// How a run ends.
enum class Ending : uint8_t {
  kGraceful,
  kAbrupt,
  kBothGraceful,
  kBothAbrupt,
  kCut,
  kReset,
  kCount
};

class StreamProgram {
 public:
  explicit StreamProgram(uint64_t seed);

  // Runs to the end. Empty when all invariants held, else what did not.
  std::string Run();

 private:
  struct Posted {
    uint64_t cookie = 0;
    transport::Op op = transport::Op::kSend;
    uint8_t flags = 0;
    uint32_t length = 0;
    uint64_t slot = 0;    // offset in the sink (reads) or in the peer's target (writes)
    uint64_t stream = 0;  // pattern
    uint64_t expect = 0;  // atomics: the value before
  };
  struct Node {
    size_t source = 0, target = 0, sink = 0, counter = 0, inbox = 0;
    uint64_t target_used = 0;  // in the peer's target
    uint64_t sink_used = 0;
    uint64_t posts_left = 0;
    uint64_t next_cookie = 1;
    uint64_t adds = 0;            // fetch-and-adds posted
    std::deque<Posted> sends;     // posted, completion not seen (or suppressed)
    std::deque<Posted> writes;    // posted, not seen in place by the peer
    std::deque<Posted> messages;  // sends and immediates posted, not received by the peer yet
    std::deque<std::pair<uint64_t, uint64_t>> receives;  // cookie, inbox slot
    std::vector<uint64_t> free_inbox;
    bool send_failed = false, receive_failed = false;
    uint64_t received = 0;
  };

  static constexpr uint32_t kInboxSlot = 9000;
  static constexpr uint32_t kInboxSlots = 24;

  void Post(int i);
  void PostReceives(int i);
  void Reap(int i);
  void CheckSend(int i, const transport::Completion& c);
  void CheckReceive(int i, const transport::Completion& c);
  bool Matches(const uint8_t* at, const Posted& p);
  void CheckData(int i, const Posted& p);
  void Drive();
  void End();
  void Settle();
  std::vector<Segment> Split(Side& side, size_t buffer, uint64_t offset, uint32_t length);
  uint32_t RandomLength();
  std::string Describe() const;
  void Expect(bool ok, const std::string& what);
  static PairOptions Options(uint64_t seed);

  const uint64_t seed_;
  StreamPair pair_;
  std::array<Node, 2> nodes_;
  Ending ending_;
  std::string wrong_;
};

}  // namespace softdat::softnet::testing

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_PROGRAM_H_
