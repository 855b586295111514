// SPDX-License-Identifier: BSD-3-Clause
// Which requests a failure concerns, with confirmed completions. Requests that it proves to be
// carried out must succeed, and no others.
#include <gtest/gtest.h>

#include <cstring>

#include "provider_softnet/iwarp/stream_pair.h"

namespace softdat::softnet::testing {
namespace {

using transport::Completion;
using transport::DisconnectMode;
using transport::EndReason;
using transport::Op;
using transport::WorkStatus;
using Statuses = std::vector<WorkStatus>;

Statuses StatusesOf(const std::vector<Completion>& all) {
  Statuses s;
  for (const Completion& c : all) s.push_back(c.status);
  return s;
}

struct BlameTest : ::testing::Test {
  void SetUp() override { Make(PairOptions()); }
  void Make(PairOptions options) {
    options.rtr = Rtr::kNone;
    options.whole_steps = true;
    options.confirm = true;
    pair = std::make_unique<StreamPair>(options);
    a = &pair->a();
    b = &pair->b();
    source = a->AddBuffer(kBytes);
    target = b->AddBuffer(kBytes);
    lost = a->AddBuffer(kBytes);
    b_lost = b->AddBuffer(kBytes);
    for (size_t i = 0; i < kBytes; ++i) a->data(source)[i] = Pattern(1, i);
  }
  void Write(uint64_t cookie, uint32_t size = 64) {
    ASSERT_EQ(a->Write(cookie, {a->Local(source, 0, size)}, b->Remote(target, 0, size)), Code::kOk);
  }
  // Binds a window of a's to all of its source. Returns the key of the window.
  uint32_t Bind(uint32_t window, uint64_t cookie) {
    FakeRegion region(a->buffers[source].key);
    const Segment part = a->Local(source, 0, kBytes);
    transport::SendRequest r;
    r.op = Op::kBind;
    r.cookie = cookie;
    r.key = a->memory->NextWindowKey(window);
    r.bind.region = &region;
    r.bind.privileges = kPrivRemoteRead;
    r.local = {&part, 1};
    EXPECT_EQ(a->stream->PostSend(r), Code::kOk);
    return r.key;
  }
  void Free(Side* side, size_t buffer) {
    ASSERT_TRUE(side->memory->DeregisterRegion(side->buffers[buffer].key));
  }
  void Transmit(int i = 0) {
    while (pair->Transmit(i)) {
    }
  }
  void Receive(int i) {
    while (pair->Receive(i)) {
    }
  }

  static constexpr size_t kBytes = 16 << 10;
  std::unique_ptr<StreamPair> pair;
  Side *a = nullptr, *b = nullptr;
  size_t source = 0, target = 0, lost = 0, b_lost = 0;
};

// A problem of the peer itself says nothing about what it has carried out.
TEST_F(BlameTest, ATerminateThatNamesNothingConfirmsNothing) {
  Write(0);
  ASSERT_TRUE(pair->Run());
  ASSERT_EQ(StatusesOf(a->Sends()), Statuses{WorkStatus::kSuccess});
  Write(1);
  ASSERT_EQ(a->Read(2, {a->Local(source, 0, 8)}, b->Remote(target, 0, 8)), Code::kOk);
  Write(3);
  Transmit(0);  // b reads nothing of it
  ASSERT_EQ(b->Write(1, {b->Local(b_lost, 0, 4096)}, a->Remote(source, 8192, 4096)), Code::kOk);
  Free(b, b_lost);
  Transmit(1);
  ASSERT_TRUE(b->stream->ended());
  Receive(0);
  EXPECT_EQ(StatusesOf(a->Sends()),
            (Statuses{WorkStatus::kRemoteResponder, WorkStatus::kFlushed, WorkStatus::kFlushed}));
  EXPECT_EQ(b->data(target)[0], Pattern(1, 0)) << "of the first write";
}

// The Terminate names a segment of an answer. That is no request of the consumer's, although one
// goes to the same place.
TEST_F(BlameTest, ARefusedAnswerIsNoRequest) {
  Write(0);
  ASSERT_TRUE(pair->Run());
  ASSERT_EQ(a->Sends().size(), 1u);
  ASSERT_EQ(b->Read(7, {b->Local(b_lost, 0, 4096)}, a->Remote(source, 0, 4096)), Code::kOk);
  Transmit(1);
  Receive(0);
  Write(1);
  ASSERT_EQ(a->Write(2, {a->Local(source, 0, 4096)}, b->Remote(b_lost, 0, 4096)), Code::kOk);
  Transmit(0);  // comes after the answer
  Free(b, b_lost);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(b->Sends()), Statuses{WorkStatus::kLocalProtection});
  EXPECT_EQ(StatusesOf(a->Sends()), (Statuses{WorkStatus::kFlushed, WorkStatus::kFlushed}));
}

// An answer that cannot be stored proves what came before its request.
TEST_F(BlameTest, AnAnswerWithoutAPlaceConfirmsWhatStandsInFront) {
  for (const bool atomic : {false, true}) {
    Make(PairOptions());
    Write(1);
    Write(2, 4096);
    if (atomic) {
      transport::SendRequest r;
      r.op = Op::kFetchAdd;
      r.cookie = 3;
      const Segment result = a->Local(lost, 0, 8);
      r.local = {&result, 1};
      r.remote = b->Remote(target, 8192, 8);
      ASSERT_EQ(a->stream->PostSend(r), Code::kOk);
    } else {
      ASSERT_EQ(a->Read(3, {a->Local(lost, 0, 8)}, b->Remote(target, 8192, 8)), Code::kOk);
    }
    Write(4);
    Transmit(0);
    Free(a, lost);
    ASSERT_TRUE(pair->Run());
    EXPECT_EQ(StatusesOf(a->Sends()),
              (Statuses{WorkStatus::kSuccess, WorkStatus::kSuccess, WorkStatus::kLocalProtection,
                        WorkStatus::kFlushed}))
        << atomic;
  }
}

// An answer was taken that came after the message that waits. The Terminate still names the
// message.
TEST_F(BlameTest, AMessageThatFindsNoReceiveIsNamedBehindAnAnswerToo) {
  PairOptions options;
  options.rnr_timeout_us = 1000;
  Make(options);
  Write(1);
  ASSERT_EQ(a->Send(2, {a->Local(source, 0, 1000)}), Code::kOk);
  Transmit(0);
  Receive(1);
  ASSERT_TRUE(b->stream->stalled());
  ASSERT_EQ(b->Read(7, {b->Local(b_lost, 0, 64)}, a->Remote(source, 0, 64)), Code::kOk);
  ASSERT_TRUE(pair->Run());
  ASSERT_EQ(StatusesOf(b->Sends()), Statuses{WorkStatus::kSuccess});
  b->stream->OnTimer(b->stream->timer().id);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a->Sends()),
            (Statuses{WorkStatus::kSuccess, WorkStatus::kReceiverNotReady}));
}

// The messages before the one whose receive is gone were taken.
TEST_F(BlameTest, AReceiveWithoutMemoryIsNamed) {
  ASSERT_EQ(b->Receive(1, {b->Local(target, 0, 64)}), Code::kOk);
  ASSERT_EQ(b->Receive(2, {b->Local(b_lost, 0, 64)}), Code::kOk);
  for (uint64_t i = 1; i <= 3; ++i) ASSERT_EQ(a->Send(i, {a->Local(source, 0, 64)}), Code::kOk);
  Free(b, b_lost);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(b->Receives()),
            (Statuses{WorkStatus::kSuccess, WorkStatus::kLocalProtection}));
  EXPECT_EQ(StatusesOf(a->Sends()),
            (Statuses{WorkStatus::kSuccess, WorkStatus::kRemoteResponder, WorkStatus::kFlushed}));
}

// The Terminate comes between the data and the immediate data.
TEST_F(BlameTest, AWriteIsNamedBeforeItsImmediateDataHaveLeft) {
  Write(0);
  ASSERT_TRUE(pair->Run());
  ASSERT_EQ(a->Sends().size(), 1u);
  transport::SendRequest r;
  r.op = Op::kRdmaWriteImmediate;
  r.cookie = 1;
  const Segment data = a->Local(source, 0, 64);
  r.local = {&data, 1};
  r.remote = b->Remote(target, kBytes - 8, 64);
  ASSERT_EQ(a->stream->PostSend(r), Code::kOk);
  iovec iov[4];
  const Stream::Batch batch = a->stream->TransmitVector(iov, 4, 1);
  ASSERT_EQ(batch.count, 1u);
  const auto* bytes = static_cast<const uint8_t*>(iov[0].iov_base);
  pair->Inject(1, {bytes, bytes + batch.bytes});
  a->stream->OnTransmitted(batch.bytes);
  Receive(1);
  Transmit(1);
  Receive(0);
  EXPECT_EQ(StatusesOf(a->Sends()), Statuses{WorkStatus::kRemoteAccess});
}

// A bind is carried out in its turn and needs no answer. A bind before the refused request has
// succeeded, whether the peer refuses that request or this end itself does. A bind after it has
// not.
TEST_F(BlameTest, ABindInFrontOfARefusedRequestSucceeds) {
  enum class Refused : uint8_t { kWrite, kRead, kAtomic, kLongSend, kOwnMemory };
  for (const Refused refused : {Refused::kWrite, Refused::kRead, Refused::kAtomic,
                                Refused::kLongSend, Refused::kOwnMemory}) {
    SCOPED_TRACE(static_cast<int>(refused));
    Make(PairOptions());
    ASSERT_EQ(b->Receive(1, {b->Local(target, 0, 16)}), Code::kOk);
    const uint32_t front = a->memory->CreateWindow(a->pd, false);
    const uint32_t behind = a->memory->CreateWindow(a->pd, false);
    Write(1);
    const uint32_t key = Bind(front, 2);
    transport::SendRequest r;
    r.cookie = 3;
    const bool own = refused == Refused::kOwnMemory;
    const Segment local = a->Local(own ? lost : source, 0, 64);
    r.local = {&local, 1};
    r.remote = b->Remote(own ? target : b_lost, 0, 64);
    r.op = refused == Refused::kRead       ? Op::kRdmaRead
           : refused == Refused::kAtomic   ? Op::kFetchAdd
           : refused == Refused::kLongSend ? Op::kSend
                                           : Op::kRdmaWrite;
    ASSERT_EQ(a->stream->PostSend(r), Code::kOk);
    Bind(behind, 4);
    Write(5);
    Free(b, b_lost);
    if (own) Free(a, lost);
    ASSERT_TRUE(pair->Run());
    const auto statuses = StatusesOf(a->Sends());
    ASSERT_EQ(statuses.size(), 5u);
    EXPECT_EQ(statuses[0], WorkStatus::kSuccess);
    EXPECT_EQ(statuses[1], WorkStatus::kSuccess);
    EXPECT_EQ(statuses[2], own                             ? WorkStatus::kLocalProtection
                           : refused == Refused::kLongSend ? WorkStatus::kRemoteResponder
                                                           : WorkStatus::kRemoteAccess);
    EXPECT_EQ(statuses[3], WorkStatus::kFlushed);
    EXPECT_EQ(statuses[4], WorkStatus::kFlushed);
    EXPECT_TRUE(a->memory->IsLive(key));
  }
}

// The rest of an FPDU is gone, so nothing after it can be understood. An answer would be none.
TEST_F(BlameTest, NoAnswerFollowsHalfAnFpdu) {
  PairOptions options;
  options.pipe_capacity = 1000;
  options.mulpdu = 8000;
  Make(options);
  Write(0);
  ASSERT_TRUE(pair->Run());
  ASSERT_EQ(a->Write(1, {a->Local(lost, 0, 4096)}, b->Remote(target, 0, 4096)), Code::kOk);
  ASSERT_TRUE(pair->Transmit(0));
  ASSERT_EQ(b->Write(7, {b->Local(b_lost, 0, 8)}, a->Remote(source, 8192, 8)), Code::kOk);
  Transmit(1);
  Receive(0);
  ASSERT_TRUE(a->stream->owes());
  Free(a, lost);
  a->stream->Disconnect(DisconnectMode::kAbrupt);
  EXPECT_TRUE(a->stream->ended());
  EXPECT_FALSE(a->stream->wants_transmit());
  ASSERT_TRUE(pair->Run());
  EXPECT_TRUE(a->saw(kActAbort));
}

}  // namespace
}  // namespace softdat::softnet::testing
