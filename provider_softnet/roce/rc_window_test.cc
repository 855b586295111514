// SPDX-License-Identifier: BSD-3-Clause
// How much is on its way, what is acknowledged when, and what the socket did not take.
#include "provider_softnet/roce/rc_test.h"

namespace softdat::softnet::testing {
namespace {

using transport::WorkStatus;
using Lines = std::vector<std::string>;

using RcWindowTest = RcTest;

TEST_F(RcWindowTest, NoMorePacketsThanTheWindowAreOnTheirWay) {
  Write(1, 100 * 1024);
  Transmit(0);
  const Lines sent = Sent(0);
  EXPECT_EQ(sent.size(), 32u);
  EXPECT_EQ(sent.back(), "RDMA WRITE Middle 31 A 1024 bytes") << "the peer must answer";
  Take(1);
  Transmit(1);
  Take(0);
  Transmit(0);
  EXPECT_EQ(Sent(0).size(), 64u) << "it doubles in each round";
}

// A program that sends one packet at a time shows nothing about the path.
TEST_F(RcWindowTest, AWindowThatIsNeverFullDoesNotGrow) {
  for (int i = 0; i < 200; ++i) {
    Write(1, 8);
    ASSERT_TRUE(pair->Run());
    a().Sends();
  }
  Sent(0);
  Write(2, 100 * 1024);
  Transmit(0);
  EXPECT_EQ(Sent(0).size(), 32u);
}

TEST_F(RcWindowTest, OneAcknowledgementForManyPackets) {
  Write(1, kBytes);
  ASSERT_TRUE(pair->Run());
  const size_t packets = kBytes / 1024;
  EXPECT_LE(Sent(1).size(), packets / 16 + 8);
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses{WorkStatus::kSuccess});
}

// A short message is acknowledged with what is sent next, or when it has waited long enough.
TEST_F(RcWindowTest, AShortMessageIsAcknowledgedWithTheAnswer) {
  Receive(1, 8);
  Send(1, 8);
  Transmit(0);
  while (pair->Receive(1)) {
  }
  EXPECT_TRUE(b().connection->owes());
  EXPECT_FALSE(b().wants_transmit());
  ASSERT_EQ(b().Write(2, {b().Local(far, 0, 8)}, a().Remote(near, 0, 8)), Code::kOk);
  PacketBatch batch;
  b().connection->Transmit(&batch, pair->now_us());
  EXPECT_EQ(batch.size(), 2u);
  EXPECT_FALSE(b().connection->owes());
}

TEST_F(RcWindowTest, WhatTheSocketDidNotTakeIsOfferedAgain) {
  for (size_t taken = 0; taken < 8; ++taken) {
    Make({});
    Write(1, 3000);
    Read(2, 2000, 8192);
    Add(3, 1, 20000);
    Write(4, 100, 24000);
    std::vector<uint32_t> psns;
    PacketBatch batch;
    a().connection->Transmit(&batch, 1);
    ASSERT_EQ(batch.size(), 6u);
    if (taken >= batch.size()) break;
    a().connection->TakeBack(batch, taken);
    batch.Clear();
    EXPECT_TRUE(a().wants_transmit());
    Transmit(0);
    EXPECT_EQ(Sent(0).size(), 6 - taken) << "nothing twice, nothing left out";
  }
}

TEST_F(RcWindowTest, ResponsesThatWereNotTakenAreOfferedAgain) {
  for (size_t taken = 0; taken < 4; ++taken) {
    Make({});
    Read(1, 3000);
    Add(2, 1, 20000);
    Transmit(0);
    Take(1);
    PacketBatch batch;
    b().connection->Transmit(&batch, 1);
    ASSERT_EQ(batch.size(), 4u);
    b().connection->TakeBack(batch, taken);
    batch.Clear();
    Transmit(1);
    const Lines all = {"RDMA READ Response First 0 MSN 1 1024 bytes",
                       "RDMA READ Response Middle 1 1024 bytes",
                       "RDMA READ Response Last 2 MSN 1 952 bytes", "ATOMIC Acknowledge 3 MSN 2"};
    EXPECT_EQ(Sent(1), Lines(all.begin() + static_cast<ptrdiff_t>(taken), all.end()));
  }
}

// -------------------------------------------------------------------------------------------------
// Packets of an exchange, as Linux' rxe sends them: AckReq on the last one of each message and on
// requests, a read takes the PSNs of its responses, which carry the MSN with the read counted.

TEST_F(RcWindowTest, AnExchangeAsOnTheWire) {
  Receive(1, 4096);
  Send(1, 2500, transport::kSolicited);
  Read(2, 2500);
  Write(3, 1024, 8192);
  Add(4, 1, 20000);
  Transmit(0);
  EXPECT_EQ(Sent(0), (Lines{"SEND First 0 1024 bytes", "SEND Middle 1 1024 bytes",
                            "SEND Last 2 A SE 452 bytes", "RDMA READ Request 3 A",
                            "RDMA WRITE Only 6 A 1024 bytes", "FetchAdd 7 A"}));
  Take(1);
  Transmit(1);
  EXPECT_EQ(Sent(1), (Lines{"RDMA READ Response First 3 MSN 2 1024 bytes",
                            "RDMA READ Response Middle 4 1024 bytes",
                            "RDMA READ Response Last 5 MSN 2 452 bytes",
                            "ATOMIC Acknowledge 7 MSN 4", "ACK 7 MSN 4"}));
}

// -------------------------------------------------------------------------------------------------
// Order

TEST_F(RcWindowTest, AFenceWaitsForReadsAndAtomicsInFrontOfIt) {
  Read(1, 8);
  Write(2, 8, 64);
  Write(3, 8, 128, transport::kFence);
  Write(4, 8, 192);
  Transmit(0);
  EXPECT_EQ(Sent(0), (Lines{"RDMA READ Request 0 A", "RDMA WRITE Only 1 A 8 bytes"}));
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses(4, WorkStatus::kSuccess));
}

TEST_F(RcWindowTest, AnAbruptDisconnectFlushesInOrder) {
  Write(1, 8);
  ASSERT_TRUE(pair->Run());
  Read(2, 8);
  Write(3, 8);
  Transmit(0);
  ASSERT_EQ(a().Receive(4, {}), Code::kOk);
  a().Disconnect(transport::DisconnectMode::kAbrupt);
  const auto done = a().Sends();
  ASSERT_EQ(done.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(done[i].cookie, i + 1);
  EXPECT_EQ(StatusesOf(done),
            (Statuses{WorkStatus::kSuccess, WorkStatus::kFlushed, WorkStatus::kFlushed}));
  EXPECT_EQ(StatusesOf(a().Receives()), Statuses{WorkStatus::kFlushed});
  Write(5, 8);  // posted after the end
  EXPECT_EQ(StatusesOf(a().Sends()), Statuses{WorkStatus::kFlushed});
  EXPECT_EQ(a().connection->deadline_us(), 0u);
}

TEST_F(RcWindowTest, ALostPathIsBlamedOnTheOldestRequest) {
  Write(1, 8);
  Write(2, 8);
  Transmit(0);
  a().connection->OnPathLost("the cable is out");
  EXPECT_EQ(StatusesOf(a().Sends()), (Statuses{WorkStatus::kTransport, WorkStatus::kFlushed}));
  EXPECT_EQ(a().end().reason, transport::EndReason::kBroken);
  EXPECT_NE(a().end().why.find("the cable is out"), std::string::npos);
}

}  // namespace
}  // namespace softdat::softnet::testing
