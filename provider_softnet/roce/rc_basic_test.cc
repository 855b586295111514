// SPDX-License-Identifier: BSD-3-Clause
// Reliable connections without errors: every operation, its bytes, its completions and their
// order.
#include <cstring>

#include "provider_softnet/roce/rc_test.h"

namespace softdat::softnet::testing {
namespace {

using transport::DisconnectMode;
using transport::EndReason;
using transport::Op;
using transport::WorkStatus;

class RcBasicTest : public RcTest, public ::testing::WithParamInterface<uint32_t> {
 protected:
  RcBasicTest() {
    RcPairOptions o;
    o.mtu = GetParam();
    o.queue = 128;
    Make(o);
  }
  // Around the multiples of what a packet holds.
  static std::vector<uint32_t> Sizes() {
    std::vector<uint32_t> sizes = {0, 1, 2, 3, 4, 5, 100};
    for (const uint32_t k : {1u, 2u, 3u, 17u}) {
      for (const uint32_t d : {0u, 1u, 2u, 3u, 4u}) sizes.push_back(k * GetParam() + d - 2);
    }
    return sizes;
  }
  static std::vector<Segment> Split(RcSide& side, size_t buffer, uint64_t at, uint32_t length) {
    const uint32_t third = length / 3;
    return {side.Local(buffer, at, third), side.Local(buffer, at + third, 0),
            side.Local(buffer, at + third, third),
            side.Local(buffer, at + 2 * third, length - 2 * third)};
  }
};

TEST_P(RcBasicTest, MessagesOfManySizesArriveInOrder) {
  const size_t inbox = b().AddBuffer(1 << 20);
  uint64_t at = 0, cookie = 0;
  for (const uint32_t size : Sizes()) {
    ASSERT_EQ(b().Receive(100 + cookie, Split(b(), inbox, at, size)), Code::kOk);
    ASSERT_EQ(
        a().Send(cookie, Split(a(), near, 0, size), cookie % 2 == 0 ? transport::kSolicited : 0),
        Code::kOk);
    at += size;
    ++cookie;
  }
  ASSERT_TRUE(pair->Run());
  const auto sent = a().Sends(), received = b().Receives();
  ASSERT_EQ(sent.size(), Sizes().size());
  ASSERT_EQ(received.size(), Sizes().size());
  at = 0;
  for (size_t i = 0; i < sent.size(); ++i) {
    const uint32_t size = Sizes()[i];
    EXPECT_EQ(sent[i].cookie, i);
    EXPECT_EQ(sent[i].status, WorkStatus::kSuccess);
    EXPECT_EQ(sent[i].length, size);
    EXPECT_EQ(received[i].cookie, 100 + i);
    EXPECT_EQ(received[i].status, WorkStatus::kSuccess);
    EXPECT_EQ(received[i].length, size);
    EXPECT_EQ(received[i].solicited, i % 2 == 0);
    EXPECT_EQ(std::memcmp(b().data(inbox) + at, a().data(near), size), 0) << size;
    at += size;
  }
  EXPECT_TRUE(b().GuardsIntact());
}

TEST_P(RcBasicTest, WritesOfManySizes) {
  for (const uint32_t size : Sizes()) {
    Write(1, size, 5);
    ASSERT_TRUE(pair->Run());
    EXPECT_EQ(StatusesOf(a().Sends()), Statuses{WorkStatus::kSuccess}) << size;
    EXPECT_TRUE(SameBytes(size, 5)) << size;
    EXPECT_EQ(b().data(far)[4], Pattern(2, 4));
    EXPECT_EQ(b().data(far)[5 + size], Pattern(2, 5 + size)) << size;
    std::memset(b().data(far), 0, 5 + size + 1);
    for (uint32_t i = 0; i < 6 + size; ++i) b().data(far)[i] = Pattern(2, i);
  }
  EXPECT_TRUE(b().Receives().empty());
}

TEST_P(RcBasicTest, ReadsOfManySizesIntoSegments) {
  for (const uint32_t size : Sizes()) {
    std::memset(a().data(near), 0, 2 * size + 8);
    ASSERT_EQ(a().Read(1, Split(a(), near, 3, size), b().Remote(far, 3, size)), Code::kOk);
    ASSERT_TRUE(pair->Run());
    const auto done = a().Sends();
    ASSERT_EQ(StatusesOf(done), Statuses{WorkStatus::kSuccess}) << size;
    EXPECT_EQ(done[0].length, size);
    EXPECT_TRUE(SameBytes(size, 3)) << size;
    EXPECT_EQ(a().data(near)[2], 0);
    EXPECT_EQ(a().data(near)[3 + size], 0) << size;
  }
}

TEST_P(RcBasicTest, AWriteAMessageAndAReadInOrder) {
  Receive(9, kBytes);
  Write(1, kBytes);
  Send(2, 0);
  Read(3, kBytes);
  ASSERT_TRUE(pair->Run());
  const auto done = a().Sends();
  ASSERT_EQ(done.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(done[i].cookie, i + 1);
  EXPECT_EQ(done[0].op, Op::kRdmaWrite);
  EXPECT_EQ(done[2].op, Op::kRdmaRead);
  EXPECT_EQ(StatusesOf(done), Statuses(3, WorkStatus::kSuccess));
  EXPECT_TRUE(SameBytes(kBytes));
  EXPECT_EQ(counters(0).timeouts + counters(0).requests_resent, 0u);
}

TEST_P(RcBasicTest, ImmediateDataTakesAReceiveAndNoneOfItsMemory) {
  for (const uint32_t size : {0u, 1u, GetParam(), 3 * GetParam() + 1}) {
    Receive(7, 4);
    WriteImmediate(1, size, 0xabcd0000 + size);
    ASSERT_TRUE(pair->Run());
    const auto received = b().Receives();
    ASSERT_EQ(received.size(), 1u);
    EXPECT_EQ(received[0].op, Op::kReceiveImmediate);
    EXPECT_EQ(received[0].length, size);
    EXPECT_EQ(received[0].key, 0xabcd0000 + size);
    EXPECT_TRUE(SameBytes(size));
    EXPECT_EQ(StatusesOf(a().Sends()), Statuses{WorkStatus::kSuccess});
  }
}

TEST_P(RcBasicTest, AtomicsAreCarriedOutAndGiveWhatWasThere) {
  SetWord(&b(), far, 40);
  Add(1, 2);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(Word(&b(), far), 42u);
  EXPECT_EQ(Word(&a(), near), 40u);
  const Segment local = a().Local(near, 8, 8);
  transport::SendRequest r;
  r.op = Op::kCompareSwap;
  r.local = {&local, 1};
  r.remote = b().Remote(far, 0, 8);
  for (const uint64_t compare : {41u, 42u}) {
    r.atomic = {.compare = compare, .swap_or_add = 77};
    ASSERT_EQ(a().PostSend(r), Code::kOk);
    ASSERT_TRUE(pair->Run());
    EXPECT_EQ(Word(&a(), near, 8), 42u);
    EXPECT_EQ(Word(&b(), far), compare == 42 ? 77u : 42u);
  }
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(3, WorkStatus::kSuccess));
}

TEST_P(RcBasicTest, BothDirectionsAtOnce) {
  const size_t back = b().AddBuffer(kBytes), front = a().AddBuffer(kBytes);
  for (uint64_t i = 0; i < 4; ++i) {
    Write(i, kBytes / 4, i * (kBytes / 4));
    ASSERT_EQ(b().Write(i, {b().Local(back, 0, kBytes)}, a().Remote(front, 0, kBytes)), Code::kOk);
    ASSERT_EQ(b().Read(i, {b().Local(back, 0, kBytes)}, a().Remote(near, 0, kBytes)), Code::kOk);
  }
  ASSERT_TRUE(pair->Run());
  EXPECT_TRUE(SameBytes(kBytes));
  EXPECT_EQ(std::memcmp(b().data(back), a().data(near), kBytes), 0);
  EXPECT_EQ(StatusesOf(b().Sends()), Statuses(8, WorkStatus::kSuccess));
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(4, WorkStatus::kSuccess));
}

TEST_P(RcBasicTest, GracefulDisconnectDrainsFirst) {
  Receive(1, kBytes);
  Receive(2, 0);
  Send(3, 100000);
  Read(4, 100000, 100000);
  a().Disconnect(DisconnectMode::kGraceful);
  EXPECT_EQ(a().Send(5, {}), Code::kInvalidState);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(2, WorkStatus::kSuccess));
  EXPECT_EQ(StatusesOf(b().Receives()), (Statuses{WorkStatus::kSuccess, WorkStatus::kFlushed}));
  EXPECT_TRUE(SameBytes(200000));
  for (const auto& side : pair->sides) {
    EXPECT_EQ(side->ends_seen, 1);
    EXPECT_EQ(side->end().reason, EndReason::kDisconnected) << side->end().why;
  }
  EXPECT_FALSE(a().end().by_peer);
  EXPECT_TRUE(b().end().by_peer);
}

INSTANTIATE_TEST_SUITE_P(Mtu, RcBasicTest, ::testing::Values(256, 1024, 4096));

// -------------------------------------------------------------------------------------------------

using RcEdgeTest = RcTest;

// Every boundary of the PSNs' wrap lies within some packet of some operation.
TEST_F(RcEdgeTest, PsnsWrapAnywhere) {
  for (uint32_t before = 0; before < 16; ++before) {
    RcPairOptions o;
    o.first_psn = (roce::kMask24 - before + 1) & roce::kMask24;
    Make(o);
    SetWord(&b(), far, 5, 20000);
    Receive(9, 0);
    Write(1, 4000);
    Send(2, 0);
    Read(3, 5000, 8000);
    Add(4, 1, 20000);
    Write(5, 3000, 24000);
    ASSERT_TRUE(pair->Run());
    EXPECT_EQ(StatusesOf(a().Sends()), Statuses(5, WorkStatus::kSuccess)) << before;
    EXPECT_TRUE(SameBytes(4000) && SameBytes(5000, 8000) && SameBytes(3000, 24000)) << before;
    EXPECT_EQ(Word(&b(), far, 20000), 6u);
    EXPECT_EQ(counters(0).requests_resent + counters(1).duplicates, 0u) << before;
  }
}

// A peer that takes one read at a time is asked for one piece at a time.
TEST_F(RcEdgeTest, ALongReadIsAskedForPieceByPiece) {
  RcPairOptions o;
  o.depth = 1;
  Make(o);
  Read(1, 200 * 1024);
  Read(2, 1, 250 * 1024);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(2, WorkStatus::kSuccess));
  EXPECT_TRUE(SameBytes(200 * 1024) && SameBytes(1, 250 * 1024));
  EXPECT_EQ(Sent(0), (std::vector<std::string>{"RDMA READ Request 0 A", "RDMA READ Request 64 A",
                                               "RDMA READ Request 128 A", "RDMA READ Request 192 A",
                                               "RDMA READ Request 200 A"}));
}

// Nobody may look at the key and the address of what has no bytes (IBTA vol. 1 §9.7.4.1.5).
TEST_F(RcEdgeTest, WithoutBytesNoKeyIsLookedAt) {
  Segment empty = a().Local(near, 0, 0);
  empty.lmr_context ^= 0xffffff;
  DAT_RMR_TRIPLET nowhere = b().Remote(far, 0, 0);
  nowhere.rmr_context ^= 0xffffff;
  Segment nothing = b().Local(far, 0, 0);
  nothing.lmr_context ^= 0xffffff;
  ASSERT_EQ(b().Receive(9, {nothing, b().Local(far, 0, 8), nothing, b().Local(far, 8, 8)}),
            Code::kOk);
  ASSERT_EQ(b().Receive(10, {nothing}), Code::kOk);
  ASSERT_EQ(a().Write(1, {empty}, nowhere), Code::kOk);
  ASSERT_EQ(a().Read(2, {empty}, nowhere), Code::kOk);
  ASSERT_EQ(a().Send(3, {empty, a().Local(near, 0, 16), empty}), Code::kOk);
  ASSERT_EQ(a().Send(4, {empty}), Code::kOk);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(4, WorkStatus::kSuccess)) << b().end().why;
  EXPECT_EQ(StatusesOf(b().Receives()), Statuses(2, WorkStatus::kSuccess));
  EXPECT_TRUE(SameBytes(16));
}

TEST_F(RcEdgeTest, NothingIsLongerThanAMessageMayBe) {
  const Segment huge = a().Local(near, 0, 1u << 31), more = a().Local(near, 0, 1);
  EXPECT_EQ(a().Send(1, {huge, more}), Code::kLength);
  EXPECT_EQ(a().Read(2, {huge, more}, b().Remote(far, 0, (1u << 31) + 1)), Code::kLength);
  EXPECT_EQ(a().Write(3, {huge, more}, b().Remote(far, 0, (1u << 31) + 1)), Code::kLength);
  EXPECT_NE(a().Send(4, {huge}), Code::kLength) << "its memory is wrong, not its length";
  EXPECT_TRUE(a().send_queue.empty());
}

TEST_F(RcEdgeTest, WithoutReadsTheyAreRefusedWhenTheyArePosted) {
  RcPairOptions o;
  o.depth = 0;
  Make(o);
  EXPECT_EQ(a().Read(1, {a().Local(near, 0, 8)}, b().Remote(far, 0, 8)), Code::kNoResources);
  Write(2, 8);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses{WorkStatus::kSuccess});
}

}  // namespace
}  // namespace softdat::softnet::testing
