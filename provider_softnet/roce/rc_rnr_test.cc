// SPDX-License-Identifier: BSD-3-Clause
// Messages that find no receive: the peer is told to come again, and how often it does.
#include "provider_softnet/roce/rc_test.h"

namespace softdat::softnet::testing {
namespace {

using transport::WorkStatus;
using Lines = std::vector<std::string>;

struct RcRnrTest : RcTest {
  void Make(uint8_t retries, uint8_t timer = 12) {
    RcPairOptions o;
    o.rnr_retry_count = retries;
    o.rnr_timer = timer;
    RcTest::Make(o);
  }
  // Until side b has said so many more times that it has no receive.
  void Wait(uint64_t times) {
    const uint64_t until = counters(0).rnr_naks_received + times;
    for (int i = 0; i < 10000 && counters(0).rnr_naks_received < until; ++i) {
      if (!pair->StepAll()) pair->AdvanceClock();
    }
    ASSERT_EQ(counters(0).rnr_naks_received, until);
  }
};

// The whole message comes again after the time that the peer asked for, and what stands behind it
// does not overtake it.
TEST_F(RcRnrTest, TheMessageComesAgainAfterTheTime) {
  Make(kRnrRetryForever, 12);
  Send(1, 2000);
  Write(2, 100, 5000);
  Wait(1);
  const uint64_t now_us = pair->now_us();
  EXPECT_EQ(a().connection->deadline_us(), now_us + 640);
  EXPECT_FALSE(a().wants_transmit());
  EXPECT_FALSE(SameBytes(100, 5000));
  Sent(0);
  EXPECT_EQ(Sent(1), Lines{"NAK 2c 0 MSN 0"}) << "one, whatever follows";
  Receive(9, 2000);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(Sent(0), (Lines{"SEND First 0 1024 bytes", "SEND Last 1 A 976 bytes",
                            "RDMA WRITE Only 2 A 100 bytes"}));
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(2, WorkStatus::kSuccess));
  EXPECT_EQ(StatusesOf(b().Receives()), Statuses{WorkStatus::kSuccess});
  EXPECT_TRUE(SameBytes(2000) && SameBytes(100, 5000));
}

// A count of n is n times more, and the next refusal is one too many.
TEST_F(RcRnrTest, RetriesAreCounted) {
  for (const uint8_t retries : {0, 1, 2, 6}) {
    Make(retries);
    Send(1, 8);
    Send(2, 8);
    ASSERT_TRUE(pair->Run());
    EXPECT_EQ(counters(1).rnr_naks_sent, 1u + retries);
    EXPECT_EQ(StatusesOf(a().Sends()),
              (Statuses{WorkStatus::kReceiverNotReady, WorkStatus::kFlushed}));
    EXPECT_EQ(a().end().reason, transport::EndReason::kBroken);
  }
}

TEST_F(RcRnrTest, SevenMeansForEver) {
  Make(kRnrRetryForever);
  Send(1, 8);
  Wait(300);
  EXPECT_FALSE(a().ended());
  Receive(9, 8);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses{WorkStatus::kSuccess});
}

// Only refusals in a row count.
TEST_F(RcRnrTest, EachMessageHasItsRetriesAnew) {
  Make(2);
  for (uint64_t i = 0; i < 4; ++i) {
    Send(i, 8);
    Wait(2);
    Receive(i, 8);
    ASSERT_TRUE(pair->Run());
    ASSERT_FALSE(a().ended());
  }
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(4, WorkStatus::kSuccess));
}

// Immediate data take their receive at the end, so that only the end comes again.
TEST_F(RcRnrTest, AWriteWithImmediateWaitsAtItsEnd) {
  WriteImmediate(1, 3000, 7);
  Wait(1);
  EXPECT_TRUE(SameBytes(2048));
  EXPECT_EQ(Sent(1), Lines{"NAK 2c 2 MSN 0"});
  Sent(0);
  Receive(9, 0);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(Sent(0), Lines{"RDMA WRITE Last with Immediate 2 A 952 bytes"});
  EXPECT_TRUE(SameBytes(3000));
  EXPECT_EQ(StatusesOf(b().Receives()), Statuses{WorkStatus::kSuccess});
}

TEST_F(RcRnrTest, AnSrqIsAskedInTheSameWay) {
  RcPairOptions o;
  o.share_receives = true;
  RcTest::Make(o);
  Send(1, 8);
  Wait(2);
  Receive(9, 8);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(b().Receives()), Statuses{WorkStatus::kSuccess});
  EXPECT_EQ(b().held_receives(), 0u);
}

}  // namespace
}  // namespace softdat::softnet::testing
