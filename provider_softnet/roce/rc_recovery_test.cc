// SPDX-License-Identifier: BSD-3-Clause
// How losses are healed: what is sent again, and what is waited for. A time-out is waited for only
// where nothing arrives behind what was lost.
#include <algorithm>
#include <cstring>
#include <vector>

#include "provider_softnet/roce/rc_test.h"
#include "provider_softnet/roce/round_trip.h"

namespace softdat::softnet::testing {
namespace {

using transport::WorkStatus;

struct RcRecoveryTest : RcTest {
  void Lose(int i, std::initializer_list<size_t> lost) {
    pair->losses[i].assign(*std::ranges::max_element(lost) + 1, false);
    for (const size_t k : lost) pair->losses[i][k] = true;
  }
};

// Something arrives behind each loss, so that nobody waits.
TEST_F(RcRecoveryTest, TheMiddleOfAMessageIsSentAgainAtOnce) {
  Lose(0, {3});
  Write(1, 20 * 1024);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(counters(0).timeouts, 0u);
  EXPECT_EQ(counters(1).naks_sent, 1u);
  EXPECT_EQ(counters(0).requests_resent, 1u) << "what is behind it was kept";
  EXPECT_TRUE(SameBytes(20 * 1024));
}

// The NAK names the read, and shows on the way that a response in front of it is lost. Asked for in
// two parts, the read would be two of the peer's, which remembers as many as the two ends have
// agreed on.
TEST_F(RcRecoveryTest, AReadThatNeverCameIsAskedForWhole) {
  Lose(0, {1});
  Lose(1, {0});
  Add(1, 5);
  Read(2, 2 * 1024, 8);
  Write(3, 64, 8 * 1024);
  ASSERT_TRUE(pair->Run());
  const std::vector<std::string> sent = Sent(0);
  EXPECT_EQ(std::ranges::count_if(sent, [](const auto& s) { return s.starts_with("RDMA READ"); }),
            2);
  EXPECT_EQ(counters(0).timeouts + counters(0).probes, 0u);
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(3, WorkStatus::kSuccess));
}

// What the peer dropped behind the loss is sent again, all of it, and no time-out is needed. After
// two losses it is known what this peer does.
TEST_F(RcRecoveryTest, APeerThatKeepsNothingGetsEverythingFromTheLossOn) {
  RcPairOptions o;
  o.go_back_n[1] = true;
  Make(o);
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    pair->losses[0].assign(pair->log[0].size() + 4, false);
    pair->losses[0].back() = true;
    const RcCounters before = counters(0);
    Write(1, 20 * 1024);
    ASSERT_TRUE(pair->Run());
    EXPECT_EQ(counters(0).timeouts + counters(0).probes, 0u);
    EXPECT_LE(counters(0).requests_resent - before.requests_resent, 17u);
    EXPECT_TRUE(round < 2 || counters(0).naks_received - before.naks_received == 1);
    EXPECT_TRUE(SameBytes(20 * 1024));
    std::memset(b().data(far), 0, 20 * 1024);
  }
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(4, WorkStatus::kSuccess));
}

// Several losses in a row look as if the peer kept nothing. Later ones show that it does.
TEST_F(RcRecoveryTest, APeerThatSeemedToKeepNothingIsTriedAgain) {
  Lose(0, {3, 4, 5, 6, 7});
  Write(1, 20 * 1024);
  ASSERT_TRUE(pair->Run());
  EXPECT_GT(counters(0).requests_resent, 15u) << "all were sent again";
  for (int round = 0; round < 20; ++round) {
    pair->losses[0].assign(pair->log[0].size() + 4, false);
    pair->losses[0].back() = true;
    const uint64_t before = counters(0).requests_resent;
    Write(1, 20 * 1024);
    ASSERT_TRUE(pair->Run());
    EXPECT_TRUE(round < 10 || counters(0).requests_resent - before == 1) << "round " << round;
  }
  EXPECT_EQ(counters(0).timeouts + counters(0).probes, 0u);
  EXPECT_TRUE(SameBytes(20 * 1024));
}

// One that keeps nothing indeed is tried seldom: each time costs it one more NAK.
TEST_F(RcRecoveryTest, APeerThatKeepsNothingIsSeldomTried) {
  RcPairOptions o;
  o.go_back_n[1] = true;
  Make(o);
  constexpr uint64_t kRounds = 300;
  for (uint64_t round = 0; round < kRounds; ++round) {
    pair->losses[0].assign(pair->log[0].size() + 4, false);
    pair->losses[0].back() = true;
    Write(1, 20 * 1024);
    ASSERT_TRUE(pair->Run());
  }
  EXPECT_EQ(counters(0).timeouts + counters(0).probes, 0u);
  EXPECT_LE(counters(0).naks_received, kRounds + 16);
  EXPECT_LE(counters(0).requests_resent, kRounds * 17);
}

// So is what one that goes back has had before.
TEST_F(RcRecoveryTest, APeerThatGoesBackIsTakenAtItsWord) {
  RcPairOptions o;
  o.go_back_n[0] = true;
  Make(o);
  Lose(0, {3});
  Write(1, 20 * 1024);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(counters(0).timeouts, 0u);
  EXPECT_EQ(counters(0).requests_resent, 17u);
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses{WorkStatus::kSuccess});
  EXPECT_TRUE(SameBytes(20 * 1024));
}

// Other connections have used up what there is.
TEST_F(RcRecoveryTest, WithoutMemoryForThemRequestsBehindALossComeAgain) {
  RcPairOptions o;
  o.early_bytes = 0;
  Make(o);
  Lose(0, {3});
  Write(1, 20 * 1024);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(counters(0).timeouts, 0u);
  EXPECT_EQ(counters(0).requests_resent, 17u);
  EXPECT_TRUE(SameBytes(20 * 1024));
}

// A message without a receive comes again with all that is behind it, kept or not.
TEST_F(RcRecoveryTest, AMessageWithoutAReceiveBehindALoss) {
  for (uint32_t i = 0; i < 2; ++i) Receive(i, 8);
  Lose(0, {1});
  for (uint32_t i = 0; i < 5; ++i) Send(i, 8);
  Transmit(0);
  Take(1);
  Transmit(1);
  Take(0);
  Transmit(0);
  Take(1);
  for (uint32_t i = 2; i < 5; ++i) Receive(i, 8);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(5, WorkStatus::kSuccess));
  EXPECT_EQ(b().Receives().size(), 5u);
}

// The NAK tells of the first loss only. The next one is told when the first is healed.
TEST_F(RcRecoveryTest, SeveralLossesInOneWindow) {
  Lose(0, {3, 7, 11, 12});
  Write(1, 20 * 1024);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(counters(0).timeouts, 0u);
  EXPECT_EQ(counters(0).requests_resent, 4u);
  EXPECT_TRUE(SameBytes(20 * 1024));
}

// The answer to it says how far the peer is, and so what is missing.
TEST_F(RcRecoveryTest, ALostNakCostsOneProbe) {
  Lose(0, {3});
  Lose(1, {0});
  Write(1, 10 * 1024);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(counters(0).probes, 1u);
  EXPECT_EQ(counters(0).timeouts, 0u);
  EXPECT_TRUE(SameBytes(10 * 1024));
}

// If each copy of an old acknowledgement had something sent again, and each of these had an
// acknowledgement, they would become more and more on a network that doubles packets.
TEST_F(RcRecoveryTest, AnOldAcknowledgementOfAProbeAsksForNothing) {
  Write(1, 100);
  ASSERT_TRUE(pair->Run());
  Lose(0, {1, 2, 3});
  Write(2, 2 * 1024);
  while (counters(0).probes == 0) ASSERT_TRUE(pair->StepAll() || pair->AdvanceClock());
  Transmit(0);
  const uint64_t sent = counters(0).packets_sent;
  roce::Packet old = PacketTo(0, roce::Opcode::kAcknowledge, 0);
  old.headers.aeth = {roce::AckSyndrome(roce::kCreditsUnused), 1};
  for (int i = 0; i < 5; ++i) {
    pair->Inject(0, old);
    Transmit(0);
  }
  EXPECT_EQ(counters(0).packets_sent, sent);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(2, WorkStatus::kSuccess));
}

// The same of a NAK that comes while responses in front of it are missing. Its request goes again
// once, when they are there.
TEST_F(RcRecoveryTest, ANakBehindMissingResponsesIsAskedForOnce) {
  for (const bool go_back_n : {false, true}) {
    RcPairOptions o;
    o.go_back_n[0] = go_back_n;
    Make(o);
    Lose(1, {0});  // the response
    Read(1, 100);
    a().Write(2, {a().Local(near, 0, 8)}, b().Remote(far, kBytes, 8));  // beyond the end
    roce::Packet nak = PacketTo(0, roce::Opcode::kAcknowledge, 1);
    nak.headers.aeth = {roce::NakSyndrome(roce::NakCode::kRemoteAccess), 1};
    Transmit(0);
    Take(1);
    Transmit(1);
    Take(0);
    Transmit(0);
    const uint64_t sent = counters(0).packets_sent;
    for (int i = 0; i < 5; ++i) {
      pair->Inject(0, nak);
      Transmit(0);
    }
    EXPECT_EQ(counters(0).packets_sent, sent) << go_back_n;
    ASSERT_TRUE(pair->Run());
    EXPECT_EQ(StatusesOf(a().Sends()), (Statuses{WorkStatus::kSuccess, WorkStatus::kRemoteAccess}));
  }
}

// Nothing that is sent again may bring about more of the same, whatever the network does. Without
// losses these are 150 packets and their acknowledgements.
TEST_F(RcRecoveryTest, WhatIsSentAgainStaysInProportion) {
  constexpr uint64_t kSeeds = 40, kOperations = 30;
  uint64_t most = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    RcPairOptions o;
    o.seed = seed;
    o.mtu = 256;
    o.first_window = o.most_window = 3;
    o.max_delay_us = 20'000;
    o.lose_one_in = 20;
    o.duplicate_one_in = o.reorder_one_in = 10;
    Make(o);
    for (uint64_t k = 0; k < kOperations; ++k) {
      k % 3 == 0 ? Read(k, 1000, 1024 * k) : Write(k, 1000, 1024 * k);
    }
    ASSERT_TRUE(pair->Run()) << "seed " << seed;
    ASSERT_EQ(StatusesOf(a().Sends()), Statuses(kOperations, WorkStatus::kSuccess));
    most = std::max(most, counters(0).packets_sent + counters(1).packets_sent);
  }
  EXPECT_LE(most, 800u);
}

TEST_F(RcRecoveryTest, ALaterAcknowledgementReplacesALostOne) {
  for (uint32_t i = 0; i < 3; ++i) Receive(i, 8);
  Lose(1, {0});
  Send(1, 8);
  Transmit(0);
  Take(1);
  b().connection->PayOwed();
  Transmit(1);
  Send(2, 8);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(counters(0).timeouts + counters(0).requests_resent, 0u);
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(2, WorkStatus::kSuccess));
}

// When the round trip is known, the last packet of all is missed for as long as that says, and not
// for the time-out of the connection.
TEST_F(RcRecoveryTest, TheLastPacketIsSentAgainAfterTheLearnedTime) {
  for (int i = 0; i < 5; ++i) {
    Write(1, 100);
    ASSERT_TRUE(pair->Run());
  }
  const uint64_t before_us = pair->now_us();
  Lose(0, {5});
  Write(2, 100);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(counters(0).probes, 1u);
  EXPECT_EQ(counters(0).timeouts, 0u);
  EXPECT_EQ(pair->now_us() - before_us, RoundTrip::kShortestProbeUs);
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(6, WorkStatus::kSuccess));
}

// A response is lost, and then one of those that were asked for again: the same one, or another.
TEST_F(RcRecoveryTest, ASecondLossAmongTheResponsesIsNoticedAtOnce) {
  constexpr size_t kPackets = 40;
  for (size_t first = 0; first + 1 < kPackets; ++first) {
    for (size_t k = 0; first + k + 1 < kPackets; ++k) {
      Make({});
      Lose(1, {first, kPackets + k});
      Read(1, kPackets * 1024);
      ASSERT_TRUE(pair->Run());
      ASSERT_TRUE(SameBytes(kPackets * 1024));
      ASSERT_EQ(StatusesOf(a().Sends()), Statuses{WorkStatus::kSuccess});
      EXPECT_EQ(counters(0).timeouts, 0u) << first << " and the " << k << ". of those again";
    }
  }
}

// What was on its way when the loss was noticed is no second loss.
TEST_F(RcRecoveryTest, WhatCameOutOfTurnIsAskedForOnce) {
  Lose(1, {2});
  Read(1, 60 * 1024);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(Sent(0), (std::vector<std::string>{"RDMA READ Request 0 A", "RDMA READ Request 2 A"}));
}

// The NAK says that requests were lost, and the responses in front of it are lost as well.
TEST_F(RcRecoveryTest, ANakBehindLostResponses) {
  Lose(0, {1});
  Lose(1, {0, 1});
  Read(1, 2000);
  Write(2, 100, 4000);
  Write(3, 100, 5000);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(3, WorkStatus::kSuccess));
  EXPECT_EQ(counters(0).timeouts, 0u);
  EXPECT_TRUE(SameBytes(2000) && SameBytes(100, 4000) && SameBytes(100, 5000));
}

// The memory of a request is gone when it should be sent again. Then it turns out that it had
// arrived, and the connection goes on.
TEST_F(RcRecoveryTest, ALateAcknowledgementExcusesMemoryThatIsGone) {
  const size_t lost = a().AddBuffer(64);
  for (uint32_t i = 0; i < 3; ++i) Receive(i, 64);
  Send(1, 64);
  ASSERT_EQ(a().Send(2, {a().Local(lost, 0, 64)}), Code::kOk);
  Transmit(0);
  Take(1);
  b().connection->PayOwed();
  Free(&a(), lost);
  while (counters(0).timeouts == 0) a().connection->OnTime(a().connection->deadline_us());
  pair->Transmit(0);  // the first one leaves again, and the second one cannot
  EXPECT_FALSE(a().ended());
  Transmit(1);
  Take(0);
  Send(3, 64);
  ASSERT_TRUE(pair->Run());
  EXPECT_FALSE(a().ended()) << a().end().why;
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(3, WorkStatus::kSuccess));
}

// -------------------------------------------------------------------------------------------------
// Patience

TEST_F(RcRecoveryTest, ASilentPeerIsGivenUp) {
  RcPairOptions o;
  o.ack_timeout = 12;  // 16.8 ms
  o.retry_count = 3;
  Make(o);
  Write(1, 100);
  Write(2, 100);
  pair->Cut();
  ASSERT_TRUE(pair->Run());
  EXPECT_TRUE(a().ended());
  EXPECT_EQ(StatusesOf(a().Sends()), (Statuses{WorkStatus::kTransport, WorkStatus::kFlushed}));
  EXPECT_GE(pair->now_us(), 4u * 16777);
  EXPECT_LE(pair->now_us(), 5u * 16778);
}

TEST_F(RcRecoveryTest, WithoutATimeOutThePeerIsNeverGivenUp) {
  RcPairOptions o;
  o.ack_timeout = 0;
  Make(o);
  Write(1, 100);
  pair->Cut();
  for (int i = 0; i < 500; ++i) {
    pair->StepAll();
    ASSERT_TRUE(pair->AdvanceClock());
  }
  EXPECT_FALSE(a().ended());
  EXPECT_GT(pair->now_us(), 600'000'000u);
}

// A peer that says the same NAK for ever does not keep the connection.
TEST_F(RcRecoveryTest, NaksWithoutProgressAreNoSignOfLife) {
  Write(1, 5000);
  const uint64_t patience_us = 8u * 67109;  // of the default options
  uint64_t now_us = 1;
  for (; now_us < 2 * patience_us && !a().ended(); now_us += 1000) {
    PacketBatch batch;
    a().connection->Transmit(&batch, now_us);
    roce::Packet nak = PacketTo(0, roce::Opcode::kAcknowledge, 0);
    nak.headers.aeth.syndrome = roce::NakSyndrome(roce::NakCode::kPsnSequence);
    a().connection->OnPacket(nak, now_us);
  }
  EXPECT_TRUE(a().ended());
  EXPECT_GE(now_us, patience_us);
  EXPECT_LE(now_us, patience_us + 10000);
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses{WorkStatus::kTransport});
}

}  // namespace
}  // namespace softdat::softnet::testing
