// SPDX-License-Identifier: BSD-3-Clause
// For the tests here: a pair of reliable connections with memory at both ends, short spellings of
// what tests post, and the packets of an exchange as text.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_RC_TEST_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_RC_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "provider_softnet/roce/rc_pair.h"

namespace softdat::softnet::testing {

using Statuses = std::vector<transport::WorkStatus>;
Statuses StatusesOf(const std::vector<transport::Completion>& all);

class RcTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kBytes = 300 * 1024;

  RcTest() { Make({}); }
  // A new pair. `near` is a's buffer, filled with pattern 1, and `far` is b's, with pattern 2.
  void Make(const RcPairOptions& options);

  RcSide& a() { return pair->a(); }
  RcSide& b() { return pair->b(); }
  const RcCounters& counters(int i) { return pair->sides[i]->connection->counters(); }
  // Side a posts. Offsets are those in both buffers.
  void Send(uint64_t cookie, uint32_t length, uint8_t flags = 0);
  void Write(uint64_t cookie, uint32_t length, uint64_t offset = 0, uint8_t flags = 0);
  void WriteImmediate(uint64_t cookie, uint32_t length, uint32_t immediate);
  void Read(uint64_t cookie, uint32_t length, uint64_t offset = 0, uint8_t flags = 0);
  // Adds `value` to the word at `offset` in b's buffer. The one before goes to the same place in
  // a's, or to `sink`.
  void Add(uint64_t cookie, uint64_t value, uint64_t offset = 0);
  void Add(uint64_t cookie, uint64_t value, uint64_t offset, uint64_t sink);
  void SendInvalidate(uint64_t cookie, uint32_t length, uint32_t key);
  void Receive(uint64_t cookie, uint32_t length);  // b posts
  void Free(RcSide* side, size_t buffer) {
    ASSERT_TRUE(side->memory->DeregisterRegion(side->buffers[buffer].key));
  }
  // Everything that side `i` wants to send leaves, and what has arrived at it is taken in.
  void Transmit(int i) {
    while (pair->Transmit(i)) {
    }
  }
  void Take(int i) {
    while (pair->Receive(i)) {
    }
  }
  bool SameBytes(uint32_t length, uint64_t offset = 0);
  uint64_t Word(RcSide* side, size_t buffer, uint64_t offset = 0);
  void SetWord(RcSide* side, size_t buffer, uint64_t value, uint64_t offset = 0);

  // A packet as a's peer, or b's, could have sent it. `psn` counts from the first of the direction.
  roce::Packet PacketTo(int i, roce::Opcode opcode, uint32_t psn) const;
  // What side `i` has sent since the last call: "SEND First 0", "SEND Last 2 A SE", "ACK 2 MSN 1",
  // "READ Response Last 2 MSN 2 452 bytes", "NAK 61 0 MSN 0". PSNs count from the first one of the
  // direction that they belong to.
  std::vector<std::string> Sent(int i);

  std::unique_ptr<RcPair> pair;
  size_t near = 0, far = 0;

 private:
  transport::SendRequest Request(transport::Op op, uint64_t cookie, const Segment* local,
                                 uint64_t offset, uint32_t length);
  std::string TextOf(int i, const roce::Packet& packet) const;

  RcPairOptions options_;
  size_t told_[2] = {0, 0};
};

}  // namespace softdat::softnet::testing

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_RC_TEST_H_
