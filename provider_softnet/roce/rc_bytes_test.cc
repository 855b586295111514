// SPDX-License-Identifier: BSD-3-Clause
// How the numbers of requests and answers lie on the wire, octet by octet. Two ends of this code
// would understand each other in any order of octets; a peer on an adapter does not.
#include <array>
#include <bit>
#include <cstring>

#include "provider_softnet/roce/rc_test.h"

namespace softdat::softnet::testing {
namespace {

using transport::Op;
using transport::WorkStatus;
using Octets = std::vector<uint8_t>;

class RcBytesTest : public RcTest {
 protected:
  static constexpr uint64_t kCompare = 0x1112131415161718, kSwap = 0x2122232425262728;
  static constexpr uint64_t kAdd = 0x3132333435363738;

  // The extended headers and the payload of the first packet that side `i` has sent, without ICRC.
  Octets First(int i, roce::Opcode opcode) {
    if (pair->log[i].empty()) return {};
    const Octets& packet = pair->log[i].front();
    EXPECT_EQ(packet[0], static_cast<uint8_t>(opcode));
    return {packet.begin() + roce::kBthSize,
            packet.end() - static_cast<std::ptrdiff_t>(roce::kIcrcSize)};
  }
  // Octets of a number, the most significant first.
  template <typename T>
  static Octets Big(T value) {
    Octets octets;
    for (size_t i = sizeof value; i-- > 0;) octets.push_back(static_cast<uint8_t>(value >> 8 * i));
    return octets;
  }
  static Octets Joined(std::initializer_list<Octets> parts) {
    Octets all;
    for (const Octets& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }
  Octets Target(uint64_t offset = 0) {
    const DAT_RMR_TRIPLET remote = b().Remote(far, offset, 8);
    return Joined({Big(uint64_t{remote.virtual_address}), Big(uint32_t{remote.rmr_context})});
  }
  void CompareSwap() {
    const Segment local = a().Local(near, 0, 8);
    transport::SendRequest r;
    r.op = Op::kCompareSwap;
    r.local = {&local, 1};
    r.remote = b().Remote(far, 0, 8);
    r.atomic = {.compare = kCompare, .swap_or_add = kSwap};
    ASSERT_EQ(a().PostSend(r), Code::kOk);
  }
};

// The operands are numbers, and so are the words in the memory of both ends.
TEST_F(RcBytesTest, CompareAndSwap) {
  SetWord(&b(), far, kCompare);
  CompareSwap();
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(First(0, roce::Opcode::kCompareSwap), Joined({Target(), Big(kSwap), Big(kCompare)}));
  // Behind the syndrome and the number of the message.
  const Octets answer = First(1, roce::Opcode::kAtomicAcknowledge);
  ASSERT_EQ(answer.size(), 12u);
  EXPECT_EQ(Octets(answer.begin() + 4, answer.end()), Big(kCompare));
  EXPECT_EQ(Word(&a(), near), kCompare);
  EXPECT_EQ(Word(&b(), far), kSwap);
}

TEST_F(RcBytesTest, FetchAndAdd) {
  SetWord(&b(), far, kCompare, 16);
  Add(1, kAdd, 16);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(First(0, roce::Opcode::kFetchAdd), Joined({Target(16), Big(kAdd), Big(uint64_t{0})}));
  const Octets answer = First(1, roce::Opcode::kAtomicAcknowledge);
  ASSERT_EQ(answer.size(), 12u);
  EXPECT_EQ(Octets(answer.begin() + 4, answer.end()), Big(kCompare));
  EXPECT_EQ(Word(&b(), far, 16), kCompare + kAdd);
}

TEST_F(RcBytesTest, TheKeyOfASendWithInvalidate) {
  Receive(7, 4);
  SendInvalidate(1, 4, 0x01020304);
  Transmit(0);
  EXPECT_EQ(First(0, roce::Opcode::kSendOnlyInvalidate),
            Joined({{1, 2, 3, 4}, Octets(a().data(near), a().data(near) + 4)}));
}

TEST_F(RcBytesTest, WhereAWriteGoes) {
  Write(1, 8, 24);
  Transmit(0);
  EXPECT_EQ(
      First(0, roce::Opcode::kWriteOnly),
      Joined({Target(24), Big(uint32_t{8}), Octets(a().data(near) + 24, a().data(near) + 32)}));
}

TEST_F(RcBytesTest, WhereAReadComesFrom) {
  Read(1, 8, 40);
  Transmit(0);
  EXPECT_EQ(First(0, roce::Opcode::kReadRequest), Joined({Target(40), Big(uint32_t{8})}));
}

// Immediate data are four octets of a program, and no number. A peer on verbs hands them to its
// program as they come.
TEST_F(RcBytesTest, ImmediateData) {
  const std::array<uint8_t, 4> octets = {1, 2, 3, 4};
  Receive(7, 4);
  WriteImmediate(1, 0, std::bit_cast<uint32_t>(octets));
  ASSERT_TRUE(pair->Run());
  const Octets sent = First(0, roce::Opcode::kWriteOnlyImmediate);
  ASSERT_EQ(sent.size(), 20u);
  EXPECT_EQ(Octets(sent.begin() + 16, sent.end()), Octets(octets.begin(), octets.end()));
  const auto received = b().Receives();
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(std::memcmp(&received[0].key, octets.data(), octets.size()), 0);
}

// The same with a message, which a peer on an adapter may send.
TEST_F(RcBytesTest, ImmediateDataOfAMessage) {
  const std::array<uint8_t, 4> octets = {1, 2, 3, 4};
  Receive(7, 4);
  roce::Packet packet = PacketTo(1, roce::Opcode::kSendOnlyImmediate, 0);
  Octets wire(roce::kMaxPacketSize);
  wire.resize(roce::EncodePacket(packet, 0, wire));
  ASSERT_EQ(wire.size(), roce::kBthSize + octets.size() + roce::kIcrcSize);
  std::memcpy(wire.data() + roce::kBthSize, octets.data(), octets.size());
  ASSERT_EQ(roce::ParsePacket(wire, &packet), roce::PacketParse::kOk);
  pair->Inject(1, packet);
  const auto received = b().Receives();
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].op, Op::kReceiveImmediate);
  EXPECT_EQ(std::memcmp(&received[0].key, octets.data(), octets.size()), 0);
}

}  // namespace
}  // namespace softdat::softnet::testing
