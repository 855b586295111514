// SPDX-License-Identifier: BSD-3-Clause
// Windows, invalidation, immediate data and atomics through a pair of streams (semantics 7.3, RFC
// 7306).
#include <gtest/gtest.h>

#include <cstring>

#include "provider_softnet/iwarp/stream_pair.h"

namespace softdat::softnet::testing {
namespace {

using transport::Completion;
using transport::EndReason;
using transport::Op;
using transport::SendRequest;
using transport::WorkStatus;

constexpr uint32_t kRemoteRw = kPrivRemoteRead | kPrivRemoteWrite;

// Posts a bind of `window` and returns the context it announces.
uint32_t PostBind(Side& side, uint32_t window, size_t buffer, uint64_t offset, uint32_t length,
                  uint32_t privileges, Code* code = nullptr, uint64_t cookie = 50,
                  uint8_t flags = 0) {
  FakeRegion region(side.buffers[buffer].key);
  const Segment part = side.Local(buffer, offset, length);
  SendRequest r;
  r.op = Op::kBind;
  r.cookie = cookie;
  r.flags = flags;
  r.key = side.memory->NextWindowKey(window);
  r.bind = {};
  r.bind.region = &region;
  r.bind.privileges = privileges;
  if (length > 0) r.local = {&part, 1};
  const Code result = side.stream->PostSend(r);
  if (code != nullptr) *code = result;
  return r.key;
}

class StreamWindowTest : public ::testing::TestWithParam<bool> {
 protected:
  StreamWindowTest()
      : pair([] {
          PairOptions o;
          o.crc = GetParam();
          return o;
        }()) {
    for (int i = 0; i < 2; ++i) pair.sides[i]->AddBuffer(4096);
    std::memset(b.data(0), 7, 4096);
  }
  DAT_RMR_TRIPLET At(Side& side, uint32_t key, uint64_t offset, uint32_t length) {
    DAT_RMR_TRIPLET t = side.Remote(0, offset, length);
    t.rmr_context = key;
    return t;
  }
  StreamPair pair;
  Side &a = pair.a(), &b = pair.b();
};

TEST_P(StreamWindowTest, BindTakesEffectBeforeALaterSendLeaves) {
  // A announces the window in a message posted right after the bind, and B uses it at once.
  const uint32_t window = a.memory->CreateWindow(a.pd, false);
  b.Receive(1, {b.Local(0, 0, 4)});
  const uint32_t key = PostBind(a, window, 0, 100, 50, kRemoteRw);
  std::memcpy(a.data(0), &key, 4);
  a.Send(2, {a.Local(0, 0, 4)});
  ASSERT_TRUE(pair.Run());
  const auto sent = a.Sends();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].op, Op::kBind);
  EXPECT_EQ(sent[0].status, WorkStatus::kSuccess);
  uint32_t told = 0;
  std::memcpy(&told, b.data(0), 4);
  ASSERT_EQ(told, key);
  b.Write(3, {b.Local(0, 1000, 50)}, At(a, told, 100, 50));
  b.Read(4, {b.Local(0, 2000, 50)}, At(a, told, 100, 50));
  ASSERT_TRUE(pair.Run());
  EXPECT_EQ(a.data(0)[100], 7);
  EXPECT_EQ(b.Sends().size(), 2u);
  // An access outside the window but inside the region is refused.
  b.Read(5, {b.Local(0, 2000, 51)}, At(a, told, 100, 51));
  ASSERT_TRUE(pair.Run());
  const auto refused = b.Sends();
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].status, WorkStatus::kRemoteAccess);
  EXPECT_EQ(a.stream->end().terminate, iwarp::kTermRemoteBounds);
}

// The fence holds the bind back. The bind holds back everything that is posted after it, of any
// kind (manual page of dat_rmr_bind).
TEST_P(StreamWindowTest, AFencedBindWaitsForReadsAndTheRestForTheBind) {
  const auto transmit = [&] {
    while (pair.Transmit(0)) {
    }
    return pair.pipes[0].carried;
  };
  std::memset(a.data(0), 1, 4096);
  ASSERT_TRUE(pair.Run());
  a.Read(1, {a.Local(0, 0, 100)}, b.Remote(0, 0, 100));
  const uint64_t asked = transmit();
  const uint32_t window = a.memory->CreateWindow(a.pd, false);
  const uint32_t other = a.memory->CreateWindow(a.pd, false);
  const uint32_t key = PostBind(a, window, 0, 1000, 50, kRemoteRw, nullptr, 2, transport::kFence);
  a.Write(3, {a.Local(0, 2000, 60)}, b.Remote(0, 3000, 60));
  a.Read(4, {a.Local(0, 200, 100)}, b.Remote(0, 0, 100));
  const uint32_t later = PostBind(a, other, 0, 2000, 50, kRemoteRw, nullptr, 5);
  a.Send(6, {});
  b.Receive(7, {});
  EXPECT_EQ(transmit(), asked) << "the answer to the read has not come, so nothing may leave";
  EXPECT_FALSE(a.memory->IsLive(key));
  EXPECT_FALSE(a.memory->IsLive(later));
  EXPECT_TRUE(a.Sends().empty());
  ASSERT_TRUE(pair.Run());
  EXPECT_TRUE(a.memory->IsLive(key));
  EXPECT_TRUE(a.memory->IsLive(later));
  const auto sent = a.Sends();
  ASSERT_EQ(sent.size(), 6u);
  for (size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].cookie, i + 1);
    EXPECT_EQ(sent[i].status, WorkStatus::kSuccess) << i;
  }
  EXPECT_EQ(b.data(0)[3059], 1);
  EXPECT_EQ(a.data(0)[299], 7);
  EXPECT_EQ(b.Receives().size(), 1u);
}

TEST_P(StreamWindowTest, RebindMakesTheOldContextStale) {
  const uint32_t window = a.memory->CreateWindow(a.pd, false);
  const uint32_t first = PostBind(a, window, 0, 0, 50, kRemoteRw);
  const uint32_t second = PostBind(a, window, 0, 100, 50, kRemoteRw);
  const uint32_t last = PostBind(a, window, 0, 200, 0, 0);
  ASSERT_TRUE(pair.Run());
  EXPECT_EQ(a.Sends().size(), 3u);
  EXPECT_NE(first, second);
  EXPECT_FALSE(a.memory->IsLive(first) || a.memory->IsLive(second) || a.memory->IsLive(last));
  b.Read(1, {b.Local(0, 0, 8)}, At(a, second, 100, 8));
  ASSERT_TRUE(pair.Run());
  EXPECT_EQ(b.Sends()[0].status, WorkStatus::kRemoteAccess);
  EXPECT_EQ(a.stream->end().terminate, iwarp::kTermRemoteInvalidStag);
}

// dat_rmr_free and dat_lmr_free are legal as soon as a later unbind is posted, whether or not the
// binds have been carried out (semantics 7.3).
TEST_P(StreamWindowTest, WhatAnUnbindOrAFreeMakesPointlessBreaksNothing) {
  const uint32_t window = a.memory->CreateWindow(a.pd, false);
  const uint32_t freed = a.memory->CreateWindow(a.pd, false);
  const size_t gone = a.AddBuffer(64);
  const uint32_t first = PostBind(a, window, gone, 0, 8, kPrivRemoteRead, nullptr, 1);
  PostBind(a, window, 0, 0, 0, 0, nullptr, 2);
  const uint32_t second = PostBind(a, freed, 0, 0, 8, kPrivRemoteRead, nullptr, 3);
  ASSERT_TRUE(a.memory->DeregisterRegion(a.buffers[gone].key));
  ASSERT_TRUE(a.memory->DestroyWindow(freed));
  ASSERT_TRUE(pair.Run());
  const auto sent = a.Sends();
  ASSERT_EQ(sent.size(), 3u);
  for (const Completion& c : sent) EXPECT_EQ(c.status, WorkStatus::kSuccess);
  EXPECT_FALSE(a.memory->IsLive(first) || a.memory->IsLive(second));
  EXPECT_FALSE(a.stream->ended());
}

TEST_P(StreamWindowTest, BadBindsAreRefusedAtThePostOrBreakTheConnection) {
  const uint32_t window = a.memory->CreateWindow(a.pd, false);
  Code code = Code::kOk;
  PostBind(a, window, 0, 4000, 97, kRemoteRw, &code);
  EXPECT_EQ(code, Code::kOutOfBounds);
  const size_t read_only = a.AddBuffer(64, kPrivLocalRead);
  PostBind(a, window, read_only, 0, 8, kPrivRemoteWrite, &code);
  EXPECT_EQ(code, Code::kPrivileges);
  const uint32_t foreign = a.memory->CreateWindow(a.memory->NewProtectionDomainId(), false);
  PostBind(a, foreign, 0, 0, 8, kRemoteRw, &code);
  EXPECT_EQ(code, Code::kProtection);
  EXPECT_EQ(a.send_queue.count(), 0u) << "a failed post leaves nothing behind";
  // The region is deregistered between post and execution.
  PostBind(a, window, read_only, 0, 8, kPrivRemoteRead, &code, 60);
  ASSERT_EQ(code, Code::kOk);
  a.Send(61, {});
  a.memory->DeregisterRegion(a.buffers[read_only].key);
  ASSERT_TRUE(pair.Run());
  const auto sent = a.Sends();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].status, WorkStatus::kBindFailed);
  EXPECT_EQ(sent[1].status, WorkStatus::kFlushed);
  EXPECT_EQ(a.stream->end().reason, EndReason::kBroken);
  EXPECT_EQ(b.stream->end().reason, EndReason::kBroken);
}

TEST_P(StreamWindowTest, SendWithInvalidate) {
  const uint32_t window = b.memory->CreateWindow(b.pd, true);
  const uint32_t key = PostBind(b, window, 0, 0, 50, kRemoteRw);
  ASSERT_TRUE(pair.Run());
  EXPECT_TRUE(b.memory->IsLive(key));
  b.Receive(1, {b.Local(0, 100, 8)});
  b.Receive(2, {b.Local(0, 100, 8)});
  SendRequest r;
  r.op = Op::kSendInvalidate;
  r.cookie = 3;
  r.key = key;
  r.flags = transport::kSolicited;
  const Segment part = a.Local(0, 0, 5);
  r.local = {&part, 1};
  ASSERT_EQ(a.stream->PostSend(r), Code::kOk);
  ASSERT_TRUE(pair.Run());
  EXPECT_FALSE(b.memory->IsLive(key));
  const auto got = b.Receives();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].op, Op::kReceiveInvalidate);
  EXPECT_EQ(got[0].key, key);
  EXPECT_EQ(got[0].length, 5u);
  EXPECT_TRUE(got[0].solicited);
  // The same again. The context is dead now, so the receive fails and the connection breaks.
  ASSERT_EQ(a.stream->PostSend(r), Code::kOk);
  ASSERT_TRUE(pair.Run());
  const auto failed = b.Receives();
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].status, WorkStatus::kLocalProtection);
  EXPECT_EQ(b.stream->end().terminate, iwarp::kTermRemoteCannotInvalidate);
}

TEST_P(StreamWindowTest, ReadIntoAWindowAndInvalidateIt) {
  const uint32_t window = a.memory->CreateWindow(a.pd, false);
  const uint32_t key = PostBind(a, window, 0, 0, 4096, kRemoteRw);
  Segment sink = a.Local(0, 8, 4000);
  sink.lmr_context = key;
  SendRequest r;
  r.op = Op::kRdmaRead;
  r.cookie = 1;
  r.local = {&sink, 1};
  r.remote = b.Remote(0, 0, 4000);
  EXPECT_EQ(a.stream->PostSend(r), Code::kProtection) << "the bind is not carried out yet";
  ASSERT_TRUE(pair.Run());
  EXPECT_EQ(a.stream->PostSend(r), Code::kPrivileges) << "a window is no local memory";
  r.sink_is_window = true;
  r.invalidate_sink = true;
  ASSERT_EQ(a.stream->PostSend(r), Code::kOk);
  ASSERT_TRUE(pair.Run());
  const auto sent = a.Sends();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[1].status, WorkStatus::kSuccess);
  EXPECT_EQ(a.data(0)[8], 7);
  EXPECT_EQ(a.data(0)[4007], 7);
  EXPECT_NE(a.data(0)[4008], 7);
  EXPECT_FALSE(a.memory->IsLive(key));
}

TEST_P(StreamWindowTest, WriteWithImmediate) {
  b.Receive(1, {});
  b.Receive(2, {b.Local(0, 3000, 8)});
  for (const uint32_t size : {0u, 3000u}) {
    SendRequest r;
    r.op = Op::kRdmaWriteImmediate;
    r.cookie = size;
    r.key = 0xabcd0000 + size;
    r.flags = size == 0 ? transport::kSolicited : 0;
    std::memset(a.data(0), 9, size);
    const Segment part = a.Local(0, 0, size);
    r.local = {&part, 1};
    r.remote = b.Remote(0, 0, size);
    ASSERT_EQ(a.stream->PostSend(r), Code::kOk);
  }
  ASSERT_TRUE(pair.Run());
  const auto sent = a.Sends();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[1].length, 3000u);
  const auto got = b.Receives();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].op, Op::kReceiveImmediate);
  EXPECT_EQ(got[0].key, 0xabcd0000u);
  EXPECT_TRUE(got[0].solicited);
  EXPECT_EQ(got[1].key, 0xabcd0000u + 3000);
  EXPECT_FALSE(got[1].solicited);
  EXPECT_EQ(b.data(0)[2999], 9);
  EXPECT_EQ(b.data(0)[3000], 7);
}

TEST_P(StreamWindowTest, AtomicsInOrderAmongReads) {
  uint64_t value = 40;
  std::memcpy(b.data(0), &value, 8);
  auto atomic = [&](Op op, uint64_t compare, uint64_t operand, uint64_t into) {
    SendRequest r;
    r.op = op;
    r.cookie = into;
    r.atomic.compare = compare;
    r.atomic.swap_or_add = operand;
    const Segment parts[] = {a.Local(0, into, 3), a.Local(0, into + 3, 5)};
    r.local = parts;
    r.remote = b.Remote(0, 0, 8);
    return a.stream->PostSend(r);
  };
  ASSERT_EQ(atomic(Op::kFetchAdd, 0, 2, 100), Code::kOk);
  ASSERT_EQ(atomic(Op::kCompareSwap, 41, 1000, 108), Code::kOk);
  ASSERT_EQ(atomic(Op::kCompareSwap, 42, 0xffffffffffffffff, 116), Code::kOk);
  ASSERT_EQ(atomic(Op::kFetchAdd, 0, 3, 124), Code::kOk);
  a.Read(5, {a.Local(0, 132, 8)}, b.Remote(0, 0, 8), transport::kFence);
  ASSERT_TRUE(pair.Run());
  const uint64_t expect[] = {40, 42, 42, 0xffffffffffffffff, 2};
  for (int i = 0; i < 5; ++i) {
    uint64_t got = 0;
    std::memcpy(&got, a.data(0) + 100 + 8 * i, 8);
    EXPECT_EQ(got, expect[i]) << i;
  }
  const auto sent = a.Sends();
  ASSERT_EQ(sent.size(), 5u);
  for (const auto& c : sent) {
    EXPECT_EQ(c.status, WorkStatus::kSuccess);
    EXPECT_EQ(c.length, 8u);
  }
}

TEST_P(StreamWindowTest, ExtensionsCanBeForbidden) {
  PairOptions o;
  o.extensions = false;
  StreamPair plain(o);
  plain.a().AddBuffer(64);
  plain.b().AddBuffer(64);
  for (const Op op : {Op::kRdmaWriteImmediate, Op::kFetchAdd, Op::kCompareSwap}) {
    SendRequest r;
    r.op = op;
    const Segment part = plain.a().Local(0, 0, 8);
    r.local = {&part, 1};
    r.remote = plain.b().Remote(0, 0, 8);
    EXPECT_EQ(plain.a().stream->PostSend(r), Code::kNotSupported);
  }
}

INSTANTIATE_TEST_SUITE_P(Crc, StreamWindowTest, ::testing::Bool());

}  // namespace
}  // namespace softdat::softnet::testing
