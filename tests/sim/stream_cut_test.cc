// SPDX-License-Identifier: BSD-3-Clause
// A fixed stream with every kind of frame: every split of it, and an abrupt end at each of its
// bytes, in both directions.
#include <gtest/gtest.h>

#include <cstring>

#include "provider_softnet/iwarp/stream_pair.h"

namespace softdat::sim {
namespace {

using softnet::Rtr;
using softnet::Segment;
using softnet::testing::PairOptions;
using softnet::testing::Pattern;
using softnet::testing::Side;
using softnet::testing::StreamPair;
using transport::WorkStatus;

// A fixed program in which A sends every kind of frame, of up to 256 bytes each.
struct Fixture {
  explicit Fixture(bool crc)
      : pair([crc] {
          PairOptions o;
          o.crc = crc;
          o.whole_steps = true;
          o.rtr = Rtr::kWrite;
          o.mulpdu = 256;
          return o;
        }()) {
    near = pair.a().AddBuffer(4096);
    far = pair.b().AddBuffer(4096);
    for (int i = 0; i < 4096; ++i) pair.a().data(near)[i] = Pattern(0, static_cast<uint64_t>(i));
    for (uint64_t i = 0; i < 4; ++i) pair.b().Receive(i, {pair.b().Local(far, 1024 * i, 1024)});
    pair.pipes[0].keep_log = true;
  }
  void PostAll() {
    Side &a = pair.a(), &b = pair.b();
    a.Send(1, {a.Local(near, 0, 11)});
    a.Write(2, {a.Local(near, 100, 300)}, b.Remote(far, 3072, 300));
    a.Read(3, {a.Local(near, 2000, 60)}, b.Remote(far, 0, 60));
    transport::SendRequest r;
    r.op = transport::Op::kRdmaWriteImmediate;
    const Segment part = a.Local(near, 500, 20);
    r.local = {&part, 1};
    r.remote = b.Remote(far, 3500, 20);
    r.key = 99;
    a.stream->PostSend(r);
    r.op = transport::Op::kFetchAdd;
    const Segment result = a.Local(near, 3000, 8);
    r.local = {&result, 1};
    r.remote = b.Remote(far, 3600, 8);
    a.stream->PostSend(r);
    a.Send(4, {a.Local(near, 0, 600)});
  }
  // Whether B holds everything that the whole stream brings.
  bool Complete() {
    Side& b = pair.b();
    const auto got = b.Receives();
    return got.size() == 3 && got[0].length == 11 && got[1].key == 99 && got[2].length == 600 &&
           std::memcmp(b.data(far) + 3072, pair.a().data(near) + 100, 300) == 0 &&
           std::memcmp(b.data(far) + 3500, pair.a().data(near) + 500, 20) == 0 &&
           std::memcmp(b.data(far) + 2048, pair.a().data(near), 600) == 0 && b.GuardsIntact();
  }
  StreamPair pair;
  size_t near = 0, far = 0;
};

// A's bytes of the fixed program. Keys and addresses differ from run to run, so each run makes its
// own.
std::vector<uint8_t> Log(Fixture& f) {
  f.PostAll();
  while (f.pair.Transmit(0)) {
  }
  std::vector<uint8_t> log;
  log.swap(f.pair.pipes[0].bytes);
  f.pair.pipes[0].Clear();
  return log;
}

void Deliver(Fixture& f, const std::vector<uint8_t>& log, size_t from, size_t to) {
  f.pair.Inject(
      1, {log.begin() + static_cast<ptrdiff_t>(from), log.begin() + static_cast<ptrdiff_t>(to)});
  while (f.pair.Receive(1)) {
  }
}

TEST(StreamCut, EverySplitOfAFixedStream) {
  for (const bool crc : {false, true}) {
    size_t length = 0;
    {
      Fixture f(crc);
      length = Log(f).size();
    }
    ASSERT_GT(length, 1200u);
    for (size_t split = 0; split <= length; ++split) {
      Fixture f(crc);
      const auto log = Log(f);
      ASSERT_EQ(log.size(), length);
      Deliver(f, log, 0, split);
      Deliver(f, log, split, length);
      ASSERT_TRUE(f.Complete()) << "crc " << crc << " split at " << split;
    }
    Fixture f(crc);
    const auto log = Log(f);
    for (size_t at = 0; at < length; ++at) Deliver(f, log, at, at + 1);
    EXPECT_TRUE(f.Complete()) << "byte by byte";
  }
}

TEST(StreamCut, TheReceiverAtEachByte) {
  for (const bool crc : {false, true}) {
    size_t length = 0;
    {
      Fixture f(crc);
      length = Log(f).size();
    }
    for (const bool reset : {false, true}) {
      for (size_t cut = 0; cut <= length; ++cut) {
        Fixture f(crc);
        const auto log = Log(f);
        Deliver(f, log, 0, cut);
        Side& b = f.pair.b();
        ASSERT_FALSE(b.stream->ended());
        if (reset) {
          b.stream->OnPeerReset("reset");
        } else {
          b.stream->OnPeerFin();
        }
        ASSERT_TRUE(b.stream->ended());
        const auto got = b.Receives();
        ASSERT_EQ(got.size(), 4u) << "each receive completes once";
        bool failed = false;
        for (size_t i = 0; i < 4; ++i) {
          ASSERT_EQ(got[i].cookie, i);
          failed |= got[i].status != WorkStatus::kSuccess;
          ASSERT_EQ(failed, got[i].status == WorkStatus::kFlushed);
        }
        ASSERT_TRUE(b.GuardsIntact());
        ASSERT_TRUE(b.memory->DeregisterRegion(b.buffers[f.far].key));
      }
    }
  }
}

// The connection breaks after `cut` bytes of side `from`. Both sides run on until they have seen
// the break.
void RunWithCut(bool crc, int from, size_t cut) {
  Fixture f(crc);
  StreamPair& pair = f.pair;
  pair.pipes[from].cut = cut;
  f.PostAll();
  ASSERT_TRUE(pair.Run());
  for (auto& side : pair.sides) side->stream->OnPeerReset("gone");
  ASSERT_TRUE(pair.Run());
  for (auto& side : pair.sides) {
    ASSERT_TRUE(side->stream->ended());
    ASSERT_EQ(side->ends_seen, 1);
    ASSERT_TRUE(side->send_queue.empty() && side->receive_queue.empty());
    ASSERT_TRUE(side->GuardsIntact());
  }
  // There is one completion per post, in order, and no success after a failure.
  const auto sent = pair.a().Sends();
  ASSERT_EQ(sent.size(), 6u);
  const uint64_t cookies[] = {1, 2, 3, 0, 0, 4};
  bool failed = false;
  for (size_t i = 0; i < 6; ++i) {
    ASSERT_EQ(sent[i].cookie, cookies[i]);
    failed |= sent[i].status != WorkStatus::kSuccess;
    ASSERT_EQ(failed, sent[i].status != WorkStatus::kSuccess);
  }
  // Whatever came after a received message, the message is whole.
  const auto got = pair.b().Receives();
  ASSERT_EQ(got.size(), 4u);
  if (got[0].status == WorkStatus::kSuccess) {
    ASSERT_EQ(std::memcmp(pair.b().data(f.far), pair.a().data(f.near), 11), 0);
  }
  if (got[1].status == WorkStatus::kSuccess) {
    ASSERT_EQ(std::memcmp(pair.b().data(f.far) + 3072, pair.a().data(f.near) + 100, 300), 0);
  }
  for (auto& side : pair.sides) {
    for (const auto& b : side->buffers) ASSERT_TRUE(side->memory->DeregisterRegion(b.key));
  }
}

TEST(StreamCut, BothSidesAtEachByteOfEitherDirection) {
  for (const bool crc : {false, true}) {
    for (const int from : {0, 1}) {
      size_t length = 0;
      {
        Fixture f(crc);
        f.PostAll();
        ASSERT_TRUE(f.pair.Run());
        length = f.pair.pipes[from].carried;
      }
      ASSERT_GT(length, from == 0 ? 1200u : 80u);
      for (size_t cut = 0; cut < length; ++cut) {
        RunWithCut(crc, from, cut);
        ASSERT_FALSE(HasFatalFailure())
            << "crc " << crc << ", from side " << from << " after " << cut;
      }
    }
  }
}

}  // namespace
}  // namespace softdat::sim
