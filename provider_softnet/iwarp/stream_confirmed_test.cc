// SPDX-License-Identifier: BSD-3-Clause
// Confirmed mode: what the peer is asked, what its answers prove, and what happens to requests
// whose answer never comes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "provider_softnet/iwarp/stream_pair.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::softnet::testing {
namespace {

using transport::Completion;
using transport::DisconnectMode;
using transport::EndReason;
using transport::Op;
using transport::WorkStatus;
using Bytes = std::vector<uint8_t>;
using Statuses = std::vector<WorkStatus>;

PairOptions Confirmed() {
  PairOptions o;
  o.rtr = Rtr::kNone;
  o.whole_steps = true;
  o.confirm = true;
  return o;
}

// Counts the requests for reads of nothing, or the answers to them, in a log of FPDUs.
size_t EmptyReads(const Bytes& log, iwarp::Opcode opcode) {
  size_t count = 0;
  for (size_t at = 0; at < log.size();) {
    const size_t ulpdu = LoadBe16(&log[at]);
    const uint8_t* front = &log[at + iwarp::kFpduLengthSize];
    iwarp::DdpHeader h;
    EXPECT_EQ(iwarp::ParseDdpHeader({front, ulpdu}, &h), iwarp::DdpParse::kOk);
    iwarp::ReadRequest read;
    if (h.opcode == iwarp::Opcode::kReadRequest) {
      iwarp::ParseReadRequest({front + h.size, ulpdu - h.size}, &read);
    } else {
      read.size = static_cast<uint32_t>(ulpdu - h.size);
    }
    count += h.opcode == opcode && read.size == 0;
    at += iwarp::FpduSize(ulpdu);
  }
  return count;
}

// A segment of the answer to a read of nothing, in the form that softnet asks for.
Bytes Answer(size_t payload = 0, bool last = true) {
  Bytes fpdu(iwarp::kTaggedFpduHeaderSize);
  iwarp::EncodeTaggedFpduHeader(fpdu.data(), iwarp::Opcode::kReadResponse, last, 0, 0, payload);
  fpdu.resize(iwarp::FpduSize(iwarp::kTaggedHeaderSize + payload));
  return fpdu;
}

Statuses StatusesOf(const std::vector<Completion>& all) {
  Statuses s;
  for (const Completion& c : all) s.push_back(c.status);
  return s;
}

struct ConfirmedTest : ::testing::Test {
  void SetUp() override { Make(Confirmed()); }
  void Make(const PairOptions& options) {
    pair = std::make_unique<StreamPair>(options);
    for (Pipe& pipe : pair->pipes) pipe.keep_log = true;
    a = &pair->a();
    b = &pair->b();
    source = a->AddBuffer(kBytes);
    target = b->AddBuffer(kBytes);
    for (size_t i = 0; i < kBytes; ++i) a->data(source)[i] = Pattern(1, i);
  }
  void Write(uint64_t cookie, uint32_t size = 8, uint8_t flags = 0) {
    ASSERT_EQ(a->Write(cookie, {a->Local(source, 0, size)}, b->Remote(target, 0, size), flags),
              Code::kOk);
  }
  void Send(uint64_t cookie, uint32_t size = 8) {
    ASSERT_EQ(a->Send(cookie, {a->Local(source, 0, size)}), Code::kOk);
  }
  // What is owed travels along.
  void Transmit(int i = 0) {
    while (pair->Transmit(i)) {
    }
  }
  size_t Asked() { return EmptyReads(pair->pipes[0].log, iwarp::Opcode::kReadRequest); }
  size_t Answered() { return EmptyReads(pair->pipes[1].log, iwarp::Opcode::kReadResponse); }

  static constexpr size_t kBytes = 64 << 10;
  std::unique_ptr<StreamPair> pair;
  Side *a = nullptr, *b = nullptr;
  size_t source = 0, target = 0;
};

// ---- what is asked ----

TEST_F(ConfirmedTest, OneAnswerConfirmsAllInFrontOfIt) {
  for (uint64_t i = 0; i < 10; ++i) Write(i);
  Transmit();
  EXPECT_EQ(Asked(), 1u);
  for (uint64_t i = 10; i < 15; ++i) Write(i);
  Transmit();
  EXPECT_EQ(Asked(), 2u);
  EXPECT_TRUE(a->Sends().empty());
  pair->Inject(0, Answer());
  ASSERT_TRUE(pair->Receive(0));
  const auto first = a->Sends();
  ASSERT_EQ(first.size(), 10u) << "the second request's answer is still to come";
  for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(first[i].cookie, i);
  pair->Inject(0, Answer());
  ASSERT_TRUE(pair->Receive(0));
  EXPECT_EQ(a->Sends().size(), 5u);
  EXPECT_TRUE(a->send_queue.empty());
}

// Otherwise all of it would complete together, and the program could post more only when nothing is
// under way any more.
TEST_F(ConfirmedTest, BulkAsksAlthoughMoreIsQueued) {
  PairOptions options = Confirmed();
  options.pipe_capacity = 16 << 20;
  options.confirmation_slots = kMostConfirmations;
  Make(options);
  constexpr uint64_t kWrites = 8;
  constexpr uint32_t kSize = kBulkToConfirm / 2;
  const size_t from = a->AddBuffer(kSize), to = b->AddBuffer(kSize);
  for (uint64_t i = 0; i < kWrites; ++i) {
    ASSERT_EQ(a->Write(i, {a->Local(from, 0, kSize)}, b->Remote(to, 0, kSize)), Code::kOk);
  }
  Transmit();
  EXPECT_EQ(Asked(), kWrites / 2);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(a->Sends().size(), kWrites);
  // The bytes count from the last question.
  for (uint64_t i = 0; i < kWrites; ++i) Write(i, 1000);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(Asked(), kWrites / 2 + 1);
}

TEST_F(ConfirmedTest, FewAreUnderWayAtATime) {
  for (uint64_t i = 0; i < 3 * kMostConfirmations; ++i) {
    Write(i);
    Transmit();
  }
  EXPECT_LE(Asked(), kMostConfirmations);
  EXPECT_GE(Asked(), 1u);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(a->Sends().size(), 3 * kMostConfirmations);
}

TEST_F(ConfirmedTest, WhatNobodySeesAsksWhenTheQueueIsHalfFull) {
  PairOptions options = Confirmed();
  options.queue = 8;
  Make(options);
  for (uint64_t i = 0; i < 3; ++i) Write(i, 8, transport::kSuppress);
  Transmit();
  EXPECT_EQ(Asked(), 0u);
  Write(3, 8, transport::kSuppress);
  Transmit();
  EXPECT_EQ(Asked(), 1u);
  ASSERT_TRUE(pair->Run());
  EXPECT_TRUE(a->send_queue.empty());
  EXPECT_TRUE(a->Sends().empty());
}

// The answer to a read proves the same, so no other question is asked.
TEST_F(ConfirmedTest, AReadConfirmsWhatStandsInFrontOfIt) {
  b->Receive(9, {});
  ASSERT_EQ(a->Send(1, {}), Code::kOk);
  a->Read(2, {a->Local(source, 0, 8)}, b->Remote(target, 0, 8));
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a->Sends()), (Statuses{WorkStatus::kSuccess, WorkStatus::kSuccess}));
  EXPECT_LE(Asked(), 1u);
}

// A plain request follows a confirmed one that nobody sees. Its completion must not wait for ever.
TEST_F(ConfirmedTest, ASeenRequestAsksForSuppressedOnesInFront) {
  PairOptions options = Confirmed();
  options.confirm = false;
  Make(options);
  Write(1, 8, transport::kConfirm | transport::kSuppress);
  Transmit();
  EXPECT_EQ(Asked(), 0u);
  Write(2);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(Asked(), 1u);
  const auto sent = a->Sends();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].cookie, 2u);
}

// ---- answers that are none ----

TEST_F(ConfirmedTest, AnAnswerToNothingBreaks) {
  pair->Inject(0, Answer());
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(a->stream->end().reason, EndReason::kBroken);
  EXPECT_EQ(a->stream->end().terminate, iwarp::kTermTaggedInvalidStag);
}

TEST_F(ConfirmedTest, OneAnswerTooManyBreaks) {
  Write(1);
  Transmit();
  pair->Inject(0, Answer());
  pair->Inject(0, Answer());
  while (pair->Receive(0)) {
  }
  EXPECT_EQ(StatusesOf(a->Sends()), Statuses{WorkStatus::kSuccess});
  EXPECT_EQ(a->stream->end().reason, EndReason::kBroken);
}

TEST_F(ConfirmedTest, AnAnswerWithBytesOrWithoutAnEndBreaks) {
  for (const auto& [payload, last] : {std::pair{size_t{4}, true}, {size_t{0}, false}}) {
    Make(Confirmed());
    Write(1);
    Transmit();
    pair->Inject(0, Answer(payload, last));
    ASSERT_TRUE(pair->Receive(0));
    EXPECT_EQ(a->stream->end().reason, EndReason::kBroken) << payload;
    EXPECT_EQ(StatusesOf(a->Sends()), Statuses{WorkStatus::kFlushed}) << payload;
    EXPECT_TRUE(a->GuardsIntact());
  }
}

// An answer that comes before its question proves no more than what TCP has.
TEST_F(ConfirmedTest, AnAnswerThatComesTooEarlyCompletesNothing) {
  PairOptions options = Confirmed();
  options.pipe_capacity = 100;
  Make(options);
  Write(1, 40'000);
  ASSERT_TRUE(pair->Transmit(0));
  pair->Inject(0, Answer());
  while (pair->Receive(0)) {
  }
  EXPECT_TRUE(std::ranges::none_of(
      a->Sends(), [](const Completion& c) { return c.status == WorkStatus::kSuccess; }));
}

// A peer requests more than was agreed on, and reads no answer.
TEST_F(ConfirmedTest, AFloodOfRequestsWhileAnswersAreOwedBreaks) {
  PairOptions options = Confirmed();
  Make(options);
  for (uint32_t i = 0; i <= options.depth; ++i) {
    Bytes fpdu(iwarp::kReadRequestFpduHeadSize);
    iwarp::EncodeReadRequestFpduHead(fpdu.data(), iwarp::kFirstMsn + i, {});
    fpdu.resize(iwarp::FpduSize(fpdu.size() - iwarp::kFpduLengthSize));
    pair->Inject(1, fpdu);
  }
  while (pair->Receive(1)) {
  }
  Transmit(1);
  EXPECT_EQ(b->stream->end().reason, EndReason::kBroken);
  EXPECT_EQ(b->stream->end().terminate, iwarp::kTermStreamCatastrophic);
  EXPECT_EQ(Answered(), options.depth) << "those in front of the one too many";
}

// ---- ends with confirmations under way ----

TEST_F(ConfirmedTest, AnAbruptLeaverConfirmsWhatItHasTaken) {
  Write(1, 5000);
  Transmit();
  while (pair->Receive(1)) {
  }
  b->stream->Disconnect(DisconnectMode::kAbrupt);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(Answered(), 1u);
  EXPECT_EQ(StatusesOf(a->Sends()), Statuses{WorkStatus::kSuccess});
  EXPECT_EQ(a->stream->end().reason, EndReason::kDisconnected);
}

TEST_F(ConfirmedTest, AnAbruptLeaverConfirmsNothingThatItHasNot) {
  Write(1, 5000);
  Send(2);  // finds no receive
  Transmit();
  while (pair->Receive(1)) {
  }
  b->stream->Disconnect(DisconnectMode::kAbrupt);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(Answered(), 0u);
  EXPECT_EQ(StatusesOf(a->Sends()), (Statuses{WorkStatus::kSuccess, WorkStatus::kFlushed}))
      << "the parting word tells them apart";
}

TEST_F(ConfirmedTest, AnAbruptEndWithoutAnswersFlushesOnce) {
  for (uint64_t i = 0; i < 5; ++i) Write(i);
  Transmit();
  a->stream->Disconnect(DisconnectMode::kAbrupt);
  const auto sent = a->Sends();
  ASSERT_EQ(sent.size(), 5u);
  for (uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(sent[i].cookie, i);
    EXPECT_EQ(sent[i].status, WorkStatus::kFlushed);
  }
  pair->Inject(0, Answer());
  while (pair->Receive(0)) {
  }
  EXPECT_TRUE(a->Sends().empty());
}

TEST_F(ConfirmedTest, AGracefulEndWaitsForTheAnswer) {
  Write(1, 8, transport::kSuppress);
  a->stream->Disconnect(DisconnectMode::kGraceful);
  Transmit();
  EXPECT_EQ(Asked(), 1u);
  EXPECT_FALSE(a->stream->ended());
  ASSERT_TRUE(pair->Run());
  EXPECT_TRUE(a->stream->ended());
  EXPECT_EQ(a->stream->end().reason, EndReason::kDisconnected);
  EXPECT_EQ(b->data(target)[7], Pattern(1, 7));
}

// ---- failures of this side ----

// The requests before the one that fails here are carried out and reported as successful.
TEST_F(ConfirmedTest, ALocalFailureWaitsForWhatIsInFront) {
  const size_t gone = a->AddBuffer(4096);
  for (uint64_t i = 0; i < 3; ++i) Write(i, 4096);
  ASSERT_EQ(a->Write(3, {a->Local(gone, 0, 4096)}, b->Remote(target, 0, 4096)), Code::kOk);
  Write(4);
  ASSERT_TRUE(a->memory->DeregisterRegion(a->buffers[gone].key));
  Transmit();
  EXPECT_TRUE(a->Sends().empty());
  EXPECT_FALSE(a->stream->ended());
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a->Sends()),
            (Statuses{WorkStatus::kSuccess, WorkStatus::kSuccess, WorkStatus::kSuccess,
                      WorkStatus::kLocalProtection, WorkStatus::kFlushed}));
  EXPECT_EQ(a->stream->end().reason, EndReason::kBroken);
  EXPECT_EQ(b->stream->end().reason, EndReason::kBroken);
}

// The memory is freed when everything is gathered and TCP has taken only the first message. The
// work after it is taken back, but answers to the peer are not.
TEST_F(ConfirmedTest, ALocalFailureInFrontOfMoreThatIsGathered) {
  for (const bool early : {false, true}) {
    PairOptions options = Confirmed();
    options.pipe_capacity = iwarp::FpduSize(iwarp::kTaggedHeaderSize + 8);
    Make(options);
    Write(0);
    ASSERT_TRUE(pair->Run());
    ASSERT_EQ(a->Sends().size(), 1u);
    ASSERT_EQ(b->Read(9, {b->Local(target, 0, 2000)}, a->Remote(source, 0, 2000)), Code::kOk);
    Transmit(1);
    while (pair->Receive(0) || pair->Transmit(1)) {
    }
    const size_t gone = a->AddBuffer(4096);
    Write(1);
    ASSERT_EQ(a->Write(2, {a->Local(gone, 0, 4096)}, b->Remote(target, 0, 4096)), Code::kOk);
    a->Read(3, {a->Local(source, 0, 8)}, b->Remote(target, 0, 8));
    Write(4);
    ASSERT_TRUE(pair->Transmit(0));
    ASSERT_TRUE(a->memory->DeregisterRegion(a->buffers[gone].key));
    if (early) {  // answers to requests that have not left
      for (int i = 0; i < 3; ++i) pair->Inject(0, Answer());
      while (pair->Receive(0)) {
      }
    }
    ASSERT_TRUE(pair->Run());
    EXPECT_TRUE(a->stream->ended());
    const Statuses sent = StatusesOf(a->Sends());
    ASSERT_EQ(sent.size(), 4u);
    if (early) continue;
    EXPECT_EQ(sent, (Statuses{WorkStatus::kSuccess, WorkStatus::kLocalProtection,
                              WorkStatus::kFlushed, WorkStatus::kFlushed}));
    EXPECT_EQ(StatusesOf(b->Sends()), Statuses{WorkStatus::kSuccess}) << "b's read";
  }
}

TEST_F(ConfirmedTest, ALocalFailureThatThePeerNeverConfirmsEndsByAnAbruptEnd) {
  const size_t gone = a->AddBuffer(4096);
  Write(0);
  ASSERT_EQ(a->Write(1, {a->Local(gone, 0, 4096)}, b->Remote(target, 0, 4096)), Code::kOk);
  ASSERT_TRUE(a->memory->DeregisterRegion(a->buffers[gone].key));
  Transmit();
  EXPECT_TRUE(a->Sends().empty());
  a->stream->Disconnect(DisconnectMode::kAbrupt);
  EXPECT_EQ(StatusesOf(a->Sends()), (Statuses{WorkStatus::kFlushed, WorkStatus::kFlushed}));
}

// ---- kTerminating ----

struct TerminatingTest : ConfirmedTest {
  // A read of 40,000 bytes, followed by a write that is refused.
  void ReadAndFail() {
    PairOptions options = Confirmed();
    options.pipe_capacity = 2000;
    Make(options);
    std::fill_n(b->data(target), kBytes, uint8_t{7});
    a->Read(1, {a->Local(source, 0, 40'000)}, b->Remote(target, 0, 40'000));
    DAT_RMR_TRIPLET bad = b->Remote(target, 0, 8);
    bad.rmr_context ^= 0xff00;
    ASSERT_EQ(a->Write(2, {a->Local(source, 0, 8)}, bad), Code::kOk);
    Transmit();
    while (pair->Receive(1)) {
    }
    pair->Transmit(1);
    ASSERT_FALSE(b->stream->ended());
  }
};

TEST_F(TerminatingTest, AnswersThatWereDueGoFirst) {
  ReadAndFail();
  EXPECT_EQ(b->Send(8, {}), Code::kOk);  // flushed with the rest
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a->Sends()), (Statuses{WorkStatus::kSuccess, WorkStatus::kRemoteAccess}));
  EXPECT_EQ(a->data(source)[39'999], 7);
  EXPECT_EQ(StatusesOf(b->Sends()), Statuses{WorkStatus::kFlushed});
  EXPECT_EQ(b->ends_seen, 1);
  EXPECT_EQ(b->stream->end().terminate, iwarp::kTermTaggedInvalidStag);
}

TEST_F(TerminatingTest, APeerThatReadsNothingDoesNotHoldItUp) {
  ReadAndFail();
  ASSERT_NE(b->stream->timer().id, 0u);
  b->stream->OnTimer(b->stream->timer().id);
  EXPECT_TRUE(b->stream->ended());
  EXPECT_EQ(b->stream->end().reason, EndReason::kBroken);
}

TEST_F(TerminatingTest, NorDoesAnAnswerWhoseMemoryIsGone) {
  ReadAndFail();
  ASSERT_TRUE(b->memory->DeregisterRegion(b->buffers[target].key));
  // Sends what an FPDU that has begun needs, so that nobody waits for a timer.
  while (pair->Receive(0) || pair->Transmit(1)) {
  }
  EXPECT_TRUE(b->stream->ended());
  EXPECT_EQ(b->stream->end().reason, EndReason::kBroken);
}

TEST_F(TerminatingTest, AnAbruptEndOvertakesIt) {
  ReadAndFail();
  b->Receive(5, {});
  b->stream->Disconnect(DisconnectMode::kAbrupt);
  EXPECT_TRUE(b->stream->ended());
  EXPECT_EQ(StatusesOf(b->Receives()), Statuses{WorkStatus::kFlushed});
}

// ---- behind a message that waits for its receive ----

TEST_F(ConfirmedTest, AnswersAreTakenBehindAMessageThatWaits) {
  Send(1, 1000);  // b has no receive for it
  Transmit();
  std::vector<uint64_t> cookies;
  // Both sides have something to be answered after the message.
  const size_t own = b->AddBuffer(4096);
  b->Write(2, {b->Local(own, 0, 4096)}, a->Remote(source, 4096, 4096));
  b->Read(3, {b->Local(target, 8192, 4096)}, a->Remote(source, 0, 4096));
  ASSERT_TRUE(pair->Run());
  ASSERT_TRUE(b->stream->stalled());
  EXPECT_EQ(StatusesOf(b->Sends()), (Statuses{WorkStatus::kSuccess, WorkStatus::kSuccess}));
  EXPECT_EQ(std::memcmp(b->data(target) + 8192, a->data(source), 4096), 0);
  EXPECT_TRUE(a->Sends().empty()) << "the message is not in its receive";
  b->Receive(4, {b->Local(target, 0, 1000)});
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a->Sends()), Statuses{WorkStatus::kSuccess});
  EXPECT_EQ(std::memcmp(b->data(target), a->data(source), 1000), 0);
}

// The kept bytes have a limit. Beyond it the answer waits, and nothing is lost.
TEST_F(ConfirmedTest, SoMuchIsKeptAndNoMore) {
  PairOptions options = Confirmed();
  options.pipe_capacity = 32 << 20;
  options.queue = 256;
  Make(options);
  constexpr uint32_t kMessage = 60'000;
  constexpr uint64_t kMessages = Staging::kMostHeld / kMessage + 10;
  const size_t own = b->AddBuffer(64);
  b->Receive(1000, {});
  ASSERT_EQ(a->Send(1000, {}), Code::kOk);
  ASSERT_TRUE(pair->Run());
  ASSERT_EQ(b->Read(1, {b->Local(own, 0, 64)}, a->Remote(source, 0, 64)), Code::kOk);
  Transmit(1);
  for (uint64_t i = 0; i < kMessages; ++i) Send(i, kMessage);
  Transmit();  // the messages but no answer, because the request is not read yet
  while (pair->Receive(1)) {
  }
  ASSERT_TRUE(b->stream->stalled());
  EXPECT_FALSE(b->stream->reads());
  const uint64_t taken = b->stream->counters().bytes_received;
  EXPECT_GE(taken, Staging::kMostHeld);
  EXPECT_LE(taken, Staging::kMostHeld + (128 << 10));
  ASSERT_TRUE(pair->Run());
  EXPECT_TRUE(b->Sends().empty()) << "the answer is behind all that";
  for (uint64_t i = 0; i < kMessages; ++i) {
    ASSERT_EQ(b->Receive(i, {b->Local(target, 0, kMessage)}), Code::kOk);
    ASSERT_TRUE(pair->Run());
    ASSERT_EQ(std::memcmp(b->data(target), a->data(source), kMessage), 0) << i;
    std::memset(b->data(target), 0, kMessage);
  }
  EXPECT_EQ(StatusesOf(b->Sends()), Statuses{WorkStatus::kSuccess});
}

}  // namespace
}  // namespace softdat::softnet::testing
