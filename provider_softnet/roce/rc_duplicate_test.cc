// SPDX-License-Identifier: BSD-3-Clause
// Requests that come again (IBTA vol. 1 §9.7.5.1.1), during the connection and after its end.
#include "provider_softnet/roce/rc_test.h"

namespace softdat::softnet::testing {
namespace {

using roce::Opcode;
using transport::WorkStatus;
using Lines = std::vector<std::string>;

struct RcDuplicateTest : RcTest {
  roce::Packet ReadOf(uint32_t psn, uint64_t offset, uint32_t length) {
    roce::Packet p = PacketTo(1, Opcode::kReadRequest, psn);
    p.headers.reth = {b().Remote(far, offset, 0).virtual_address, b().buffers[far].key, length};
    return p;
  }
  roce::Packet AddOf(uint32_t psn, uint64_t offset) {
    roce::Packet p = PacketTo(1, Opcode::kFetchAdd, psn);
    p.headers.atomic = {b().Remote(far, offset, 0).virtual_address, b().buffers[far].key, 1, 0};
    return p;
  }
  Lines AnswersTo(const roce::Packet& p) {
    Sent(1);
    pair->Inject(1, p);
    Transmit(1);
    return Sent(1);
  }
};

TEST_F(RcDuplicateTest, AMessageIsAcknowledgedAgainAndNotTakenAgain) {
  for (uint64_t i = 0; i < 3; ++i) Receive(i, 8);
  Send(1, 8);
  Send(2, 8);
  ASSERT_TRUE(pair->Run());
  const roce::Packet again = PacketTo(1, Opcode::kSendOnly, 0);
  EXPECT_EQ(AnswersTo(again), Lines{"ACK 1 MSN 2"}) << "the latest, whichever it was";
  EXPECT_EQ(b().Receives().size(), 2u);
  EXPECT_EQ(counters(1).duplicates, 1u);
}

TEST_F(RcDuplicateTest, AReadIsReadAgain) {
  Read(1, 3000);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(AnswersTo(ReadOf(1, 1024, 1976)), (Lines{"RDMA READ Response First 1 MSN 1 1024 bytes",
                                                     "RDMA READ Response Last 2 MSN 1 952 bytes"}));
  EXPECT_EQ(AnswersTo(ReadOf(1, 1024, 10)), Lines{"RDMA READ Response Only 1 MSN 1 10 bytes"});
}

// The peer has got the answer, so both programs may have let go of the memory. That a question
// which was asked too early comes later is no fault of theirs.
TEST_F(RcDuplicateTest, AReadWhoseMemoryIsGoneDoesNoHarm) {
  const size_t lost = b().AddBuffer(64);
  Receive(1, 8);
  ASSERT_EQ(a().Read(1, {a().Local(near, 0, 64)}, b().Remote(lost, 0, 64)), Code::kOk);
  ASSERT_TRUE(pair->Run());
  roce::Packet again = PacketTo(1, Opcode::kReadRequest, 0);
  again.headers.reth = {b().Remote(lost, 0, 0).virtual_address, b().buffers[lost].key, 64};
  Free(&b(), lost);
  pair->Inject(1, again);
  ASSERT_TRUE(pair->Run());
  EXPECT_FALSE(b().ended()) << b().end().why;
  EXPECT_FALSE(a().ended()) << a().end().why;
  Send(2, 8);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(2, WorkStatus::kSuccess));
}

// Without the answer the peer hears that there will be none.
TEST_F(RcDuplicateTest, AReadWhoseMemoryIsGoneBeforeItsAnswerCameIsRefused) {
  pair->losses[1] = {true};
  Read(1, 64);
  Transmit(0);
  Take(1);
  Transmit(1);
  Free(&b(), far);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses{WorkStatus::kRemoteAccess});
}

// It is no way to read what was never asked for.
TEST_F(RcDuplicateTest, AReadOfSomethingElseIsNotAnswered) {
  Read(1, 3000);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(AnswersTo(ReadOf(0, 1, 3000)), Lines{});
  EXPECT_EQ(AnswersTo(ReadOf(0, 0, 3001)), Lines{});
  EXPECT_EQ(AnswersTo(ReadOf(1, 0, 8)), Lines{}) << "another place of it";
  EXPECT_EQ(AnswersTo(ReadOf(roce::kMask24, 0, 8)), Lines{}) << "before the connection";
  roce::Packet key = ReadOf(0, 0, 8);
  key.headers.reth.rkey ^= 1;
  EXPECT_EQ(AnswersTo(key), Lines{});
  EXPECT_EQ(AnswersTo(AddOf(0, 0)), Lines{}) << "an atomic where a read was";
  EXPECT_EQ(AnswersTo(PacketTo(1, static_cast<Opcode>(0x15), 0)), Lines{});
  EXPECT_FALSE(b().ended());
}

// Both are asked for again before anything leaves.
TEST_F(RcDuplicateTest, TwoPartsOfAReadAtOnce) {
  Read(1, 5000);
  ASSERT_TRUE(pair->Run());
  Sent(1);
  pair->Inject(1, ReadOf(1, 1024, 1024));
  pair->Inject(1, ReadOf(3, 3072, 1024));
  Transmit(1);
  EXPECT_EQ(Sent(1), (Lines{"RDMA READ Response First 1 MSN 1 1024 bytes",
                            "RDMA READ Response Middle 2 1024 bytes",
                            "RDMA READ Response Last 3 MSN 1 1024 bytes"}));
}

TEST_F(RcDuplicateTest, AnAtomicIsNotCarriedOutAgain) {
  SetWord(&b(), far, 5);
  Add(1, 1);
  ASSERT_TRUE(pair->Run());
  SetWord(&b(), far, 100);
  Sent(1);
  pair->Inject(1, AddOf(0, 0));
  EXPECT_EQ(Word(&b(), far), 100u);
  Transmit(1);
  roce::Packet answer;
  ASSERT_EQ(roce::ParsePacket(pair->log[1].back(), &answer), roce::PacketParse::kOk);
  EXPECT_EQ(answer.bth.opcode, Opcode::kAtomicAcknowledge);
  EXPECT_EQ(answer.headers.original, 5u) << "as the first time";
}

TEST_F(RcDuplicateTest, WhatIsForgottenIsNotAnswered) {
  for (uint64_t i = 0; i < 5; ++i) Add(i, 1, 8 * i);  // one more than are remembered
  ASSERT_TRUE(pair->Run());
  const uint64_t before = Word(&b(), far);
  EXPECT_EQ(AnswersTo(AddOf(0, 0)), Lines{});
  EXPECT_EQ(Word(&b(), far), before);
  EXPECT_EQ(AnswersTo(AddOf(1, 8)), Lines{"ATOMIC Acknowledge 1 MSN 2"});
}

// A peer that does not know yet that it is over gets the answers that it misses.
TEST_F(RcDuplicateTest, AfterTheEndWhatWasBeforeIsAnsweredAgain) {
  Receive(1, 8);
  Send(1, 8);
  Read(2, 8);
  ASSERT_TRUE(pair->Run());
  b().Disconnect(transport::DisconnectMode::kAbrupt);
  EXPECT_EQ(AnswersTo(PacketTo(1, Opcode::kSendOnly, 0)), Lines{"ACK 1 MSN 2"});
  EXPECT_EQ(AnswersTo(ReadOf(1, 0, 8)), Lines{"RDMA READ Response Only 1 MSN 2 8 bytes"});
  EXPECT_EQ(AnswersTo(PacketTo(1, Opcode::kSendOnly, 2)), Lines{}) << "a new one";
}

TEST_F(RcDuplicateTest, WhoeverHasDisconnectedGetsNoAnswer) {
  Receive(1, 8);
  Send(1, 8);
  ASSERT_TRUE(pair->Run());
  b().connection->OnPeerDisconnected();
  EXPECT_EQ(AnswersTo(PacketTo(1, Opcode::kSendOnly, 0)), Lines{});
  EXPECT_FALSE(b().wants_transmit());
}

// Of a gap the peer is told once, until what is expected comes.
TEST_F(RcDuplicateTest, AGapIsToldOnce) {
  const std::vector<uint8_t> bytes(8, 1);
  for (uint32_t i = 0; i < 4; ++i) Receive(i, 8);
  roce::Packet p = PacketTo(1, Opcode::kSendOnly, 1);
  p.payload = bytes;
  EXPECT_EQ(AnswersTo(p), Lines{"NAK 60 0 MSN 0"});
  p.bth.psn = PacketTo(1, Opcode::kSendOnly, 2).bth.psn;
  EXPECT_EQ(AnswersTo(p), Lines{});
  p.bth.psn = PacketTo(1, Opcode::kSendOnly, 0).bth.psn;
  EXPECT_EQ(AnswersTo(p), Lines{"ACK 2 MSN 3"}) << "those behind it were kept";
  p.bth.psn = PacketTo(1, Opcode::kSendOnly, 4).bth.psn;
  EXPECT_EQ(AnswersTo(p), Lines{"NAK 60 3 MSN 3"});
}

// A peer that goes back sends what is kept a second time. The one that is missing was lost again.
TEST_F(RcDuplicateTest, AGapIsToldAgainToAPeerThatGoesBack) {
  const std::vector<uint8_t> bytes(8, 1);
  roce::Packet p = PacketTo(1, Opcode::kSendOnly, 1);
  p.payload = bytes;
  EXPECT_EQ(AnswersTo(p), Lines{"NAK 60 0 MSN 0"});
  EXPECT_EQ(AnswersTo(p), Lines{"NAK 60 0 MSN 0"});
}

// One that keeps nothing cannot know that.
TEST_F(RcDuplicateTest, WithoutMemoryAGapIsToldOnce) {
  RcPairOptions o;
  o.early_bytes = 0;
  Make(o);
  const std::vector<uint8_t> bytes(8, 1);
  Receive(1, 8);
  roce::Packet p = PacketTo(1, Opcode::kSendOnly, 1);
  p.payload = bytes;
  EXPECT_EQ(AnswersTo(p), Lines{"NAK 60 0 MSN 0"});
  EXPECT_EQ(AnswersTo(p), Lines{});
  p.bth.psn = PacketTo(1, Opcode::kSendOnly, 0).bth.psn;
  b().connection->OnPacket(p, 1);
  b().connection->PayOwed();
  Transmit(1);
  EXPECT_EQ(Sent(1), Lines{"ACK 0 MSN 1"});
  p.bth.psn = PacketTo(1, Opcode::kSendOnly, 3).bth.psn;
  EXPECT_EQ(AnswersTo(p), Lines{"NAK 60 1 MSN 1"});
}

}  // namespace
}  // namespace softdat::softnet::testing
