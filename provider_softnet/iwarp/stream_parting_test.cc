// SPDX-License-Identifier: BSD-3-Clause
// The parting word: an end that leaves before the peer has asked confirms what it has carried out
// (parting_word.h).
#include <gtest/gtest.h>

#include "provider_softnet/iwarp/parting_word.h"
#include "provider_softnet/iwarp/stream_pair.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::softnet::testing {
namespace {

using transport::Completion;
using transport::DisconnectMode;
using transport::EndReason;
using transport::WorkStatus;
using Bytes = std::vector<uint8_t>;
using Statuses = std::vector<WorkStatus>;

constexpr WorkStatus kOk = WorkStatus::kSuccess;
constexpr WorkStatus kFlushed = WorkStatus::kFlushed;

PairOptions Confirmed(bool crc = false) {
  PairOptions o;
  o.rtr = Rtr::kWrite;
  o.whole_steps = true;
  o.confirm = true;
  o.crc = crc;
  return o;
}

Bytes PartingWord(const TransferCounts& counts) {
  Bytes fpdu(iwarp::kTaggedFpduHeaderSize);
  iwarp::EncodeTaggedFpduHeader(fpdu.data(), iwarp::Opcode::kWrite, /*last=*/true, kPartingStag,
                                PartingOffset(counts), 0);
  fpdu.resize(iwarp::FpduSize(iwarp::kTaggedHeaderSize));
  return fpdu;
}

struct PartingTest : ::testing::Test {
  void SetUp() override { Make(Confirmed()); }
  void Make(const PairOptions& options) {
    pair = std::make_unique<StreamPair>(options);
    pair->pipes[1].keep_log = true;
    a = &pair->a();
    b = &pair->b();
    source = a->AddBuffer(kBytes);
    target = b->AddBuffer(kBytes);
    ASSERT_TRUE(pair->Run());  // the ready-to-receive message
    pair->pipes[1].log.clear();
  }
  void Write(uint64_t cookie, uint32_t size = 8) {
    ASSERT_EQ(a->Write(cookie, {a->Local(source, 0, size)}, b->Remote(target, 0, size)), Code::kOk);
  }
  void Send(uint64_t cookie, uint32_t size = 8) {
    ASSERT_EQ(a->Send(cookie, {a->Local(source, 0, size)}), Code::kOk);
  }
  void Receives(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(b->Receive(i, {b->Local(target, 0, 64)}), Code::kOk);
    }
  }
  // What `a` has posted arrives, and `b` answers nothing.
  void Arrive() {
    while (pair->Transmit(0) || pair->Receive(1)) {
    }
  }
  // Uses up the questions that may be under way, so that what follows comes without one.
  void AskAll() {
    for (uint64_t i = 0; i < kMostConfirmations; ++i) {
      Write(100 + i);
      Arrive();
    }
  }
  // The statuses of what came after AskAll().
  Statuses StatusesBehind() {
    Statuses s;
    for (const Completion& c : a->Sends()) {
      if (c.cookie < 100) {
        s.push_back(c.status);
      } else {
        EXPECT_EQ(c.status, kOk);
      }
    }
    return s;
  }
  size_t PartingWords() const {
    size_t count = 0;
    const Bytes& log = pair->pipes[1].log;
    for (size_t at = 0; at < log.size();) {
      const size_t ulpdu = LoadBe16(&log[at]);
      iwarp::DdpHeader h;
      EXPECT_EQ(iwarp::ParseDdpHeader({&log[at + iwarp::kFpduLengthSize], ulpdu}, &h),
                iwarp::DdpParse::kOk);
      count += IsPartingWord(h, ulpdu - h.size);
      at += iwarp::FpduSize(ulpdu);
    }
    return count;
  }

  static constexpr size_t kBytes = 64 << 10;
  std::unique_ptr<StreamPair> pair;
  Side *a = nullptr, *b = nullptr;
  size_t source = 0, target = 0;
};

TEST_F(PartingTest, EachWayOfLeavingConfirmsWhatIsCarriedOut) {
  for (const bool crc : {false, true}) {
    for (const DisconnectMode mode : {DisconnectMode::kGraceful, DisconnectMode::kAbrupt}) {
      Make(Confirmed(crc));
      Receives(2);
      AskAll();
      Write(1);
      Send(2);
      Write(3, 5000);
      Send(4);
      Arrive();
      b->stream->Disconnect(mode);
      ASSERT_TRUE(pair->Run());
      EXPECT_EQ(StatusesBehind(), (Statuses{kOk, kOk, kOk, kOk}));
      EXPECT_EQ(a->stream->end().reason, EndReason::kDisconnected);
      EXPECT_EQ(PartingWords(), 1u);
    }
  }
}

TEST_F(PartingTest, AtProcessExit) {
  Receives(1);
  AskAll();
  Write(1);
  Send(2);
  Arrive();
  b->stream->SayPartingWord();
  while (pair->Transmit(1)) {
  }
  pair->sides[1]->stream->OnPeerGone();  // nothing more of it
  while (pair->Receive(0)) {
  }
  EXPECT_EQ(StatusesBehind(), (Statuses{kOk, kOk}));
  EXPECT_EQ(PartingWords(), 1u);
}

TEST_F(PartingTest, NothingIsConfirmedThatIsNotCarriedOut) {
  Receives(1);
  AskAll();
  Write(1);
  Send(2);
  Send(3);  // finds no receive
  Write(4);
  Arrive();
  b->stream->Disconnect(DisconnectMode::kAbrupt);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesBehind(), (Statuses{kOk, kOk, kFlushed, kFlushed}));
}

// What is not answered is not over, and so is nothing behind it.
TEST_F(PartingTest, NothingBehindAReadThatIsNotAnswered) {
  AskAll();
  Write(1);
  ASSERT_EQ(a->Read(2, {a->Local(source, 0, 5000)}, b->Remote(target, 0, 5000)), Code::kOk);
  Write(3);
  Arrive();
  b->stream->Disconnect(DisconnectMode::kAbrupt);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesBehind(), (Statuses{kOk, kFlushed, kFlushed}));
}

TEST_F(PartingTest, IsHeardBehindAMessageThatWaitsForItsReceive) {
  Receives(1);
  AskAll();
  Send(1);
  ASSERT_EQ(b->Send(50, {b->Local(target, 0, 8)}), Code::kOk);  // `a` has no receive for it
  Arrive();
  while (pair->Transmit(1)) {
  }
  b->stream->Disconnect(DisconnectMode::kAbrupt);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesBehind(), (Statuses{kOk}));
}

// Small and long ones, because small messages have a way of their own.
TEST_F(PartingTest, CompletesAsManyAsItSays) {
  constexpr uint32_t kReadyToReceive = 1;  // the write that began the connection
  for (const uint32_t size : {8u, 5000u}) {
    Make(Confirmed());
    for (uint64_t i = 0; i < 3; ++i) Write(i, size);
    ASSERT_TRUE(pair->Transmit(0));
    pair->Inject(0, PartingWord({0, kReadyToReceive + 2}));
    ASSERT_TRUE(pair->Receive(0));
    EXPECT_EQ(StatusesBehind(), (Statuses{kOk, kOk})) << size;
    Make(Confirmed());
    for (uint64_t i = 0; i < 3; ++i) Send(i, size);
    ASSERT_TRUE(pair->Transmit(0));
    pair->Inject(0, PartingWord({2, kReadyToReceive}));
    ASSERT_TRUE(pair->Receive(0));
    EXPECT_EQ(StatusesBehind(), (Statuses{kOk, kOk})) << size;
  }
}

// A peer's word is not trusted beyond what has left.
TEST_F(PartingTest, AWordOfMoreThanWasSentCompletesNothingMore) {
  PairOptions options = Confirmed();
  options.pipe_capacity = 100;
  Make(options);
  Write(1);
  Write(2, 40'000);  // the pipe takes a part of it
  ASSERT_TRUE(pair->Transmit(0));
  pair->Inject(0, PartingWord({1000, 1000}));
  pair->Inject(0, PartingWord({1000, 1000}));
  while (pair->Receive(0)) {
  }
  EXPECT_EQ(StatusesBehind(), (Statuses{kOk}));
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesBehind(), (Statuses{kOk}));
  EXPECT_FALSE(a->stream->ended());
}

// A consumer's write of nothing goes to any key. It is no parting word.
TEST_F(PartingTest, AWriteOfNothingToThatKeyIsNone) {
  ASSERT_EQ(b->Receive(0, {b->Local(target, 0, 64)}), Code::kOk);
  Write(1);
  Send(2);
  ASSERT_TRUE(pair->Transmit(0));
  DAT_RMR_TRIPLET anywhere{};
  anywhere.rmr_context = kPartingStag;
  anywhere.virtual_address = PartingOffset({1000, 1000});
  ASSERT_EQ(b->Write(9, {}, anywhere), Code::kOk);
  while (pair->Transmit(1) || pair->Receive(0)) {
  }
  EXPECT_TRUE(a->Sends().empty());
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(b->Sends().size(), 1u);
}

// The usual end: the peer has asked, or nothing came. Nobody needs a word more.
TEST_F(PartingTest, IsNotSaidWithoutNeed) {
  for (const bool traffic : {false, true}) {
    Make(Confirmed());
    if (traffic) Write(1);
    ASSERT_TRUE(pair->Run());
    b->stream->Disconnect(DisconnectMode::kGraceful);
    ASSERT_TRUE(pair->Run());
    EXPECT_TRUE(b->stream->ended());
    EXPECT_EQ(PartingWords(), 0u) << traffic;
  }
}

TEST_F(PartingTest, IsNotSaidToAPeerThatDoesNotAsk) {
  PairOptions options = Confirmed();
  options.empty_reads = false;
  Make(options);
  Write(1);
  Arrive();
  b->stream->Disconnect(DisconnectMode::kGraceful);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(PartingWords(), 0u);
}

}  // namespace
}  // namespace softdat::softnet::testing
