// SPDX-License-Identifier: BSD-3-Clause
// What the data path costs, in things that can be counted: buffers per system call, copies,
// allocations.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "provider_softnet/iwarp/stream_pair.h"

namespace {
std::atomic<uint64_t> allocations{0};
std::atomic<uint64_t> large_allocations{0};  // of these; blocks are
}  // namespace

// Counts every allocation of this program.
void* operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (size >= 64 * 1024) large_allocations.fetch_add(1, std::memory_order_relaxed);
  void* p = std::malloc(size == 0 ? 1 : size);
  if (p == nullptr) std::abort();
  return p;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return operator new(size); }
// Where these are not here, a sanitizer has its own.
void* operator new[](size_t size) { return operator new(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return operator new(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace softdat::softnet::testing {
namespace {

PairOptions Whole(size_t mulpdu) {
  PairOptions o;
  o.whole_steps = true;
  o.mulpdu = mulpdu;
  o.queue = 128;
  return o;
}

TEST(StreamCost, SmallMessagesLeaveAsOneBuffer) {
  StreamPair pair(Whole(1442));
  Side& a = pair.a();
  const size_t source = a.AddBuffer(64);
  ASSERT_TRUE(pair.Run());  // the ready-to-receive message
  for (uint64_t i = 0; i < 64; ++i) ASSERT_EQ(a.Send(i, {a.Local(source, 0, 64)}), Code::kOk);
  iovec iov[32];
  const Stream::Batch batch = a.stream->TransmitVector(iov, 32, 1 << 20);
  EXPECT_EQ(batch.count, 1u);
  EXPECT_EQ(batch.bytes, 64u * (2 + 18 + 64 + 4));
  a.stream->OnTransmitted(batch.bytes);
  EXPECT_EQ(a.Sends().size(), 64u);
}

TEST(StreamCost, LargePayloadsAreNotCopied) {
  StreamPair pair(Whole(65535));
  Side &a = pair.a(), &b = pair.b();
  constexpr uint32_t kSize = 1 << 20;
  const size_t near = a.AddBuffer(kSize), far = b.AddBuffer(kSize);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(a.Write(1, {a.Local(near, 0, kSize)}, b.Remote(far, 0, kSize)), Code::kOk);
    ASSERT_EQ(a.Read(2, {a.Local(near, 0, kSize)}, b.Remote(far, 0, kSize)), Code::kOk);
    ASSERT_EQ(b.Receive(3, {b.Local(far, 0, kSize)}), Code::kOk);
    ASSERT_EQ(a.Send(3, {a.Local(near, 0, kSize)}), Code::kOk);
  }
  ASSERT_TRUE(pair.Run());
  EXPECT_EQ(a.Sends().size(), 30u);
  for (int i = 0; i < 2; ++i) {
    const StreamCounters& c = pair.sides[i]->stream->counters();
    EXPECT_LT(c.bytes_inlined, c.bytes_sent / 100);  // last segments of a few bytes
    EXPECT_LT(c.bytes_copied_in, c.bytes_received / 50);
    EXPECT_GT(c.bytes_direct_in, c.bytes_received / 100 * 98);
  }
}

// When the stream is idle, the pool has the one block back that the stream used.
TEST(StreamCost, AnIdleStreamHoldsNoBlocks) {
  StreamPair pair(Whole(65535));
  Side &a = pair.a(), &b = pair.b();
  constexpr uint32_t kSize = 100000;
  const size_t near = a.AddBuffer(kSize), far = b.AddBuffer(kSize);
  const auto first_of = [](BlockPool& pool) {
    uint8_t* const block = pool.Take(&pool);
    pool.Give(&pool, block);
    return block;
  };
  StreamBlocks* const all[] = {&a.blocks, &b.blocks};
  uint8_t* before[2][2];
  for (int i = 0; i < 2; ++i) {
    before[i][0] = first_of(all[i]->sending);
    before[i][1] = first_of(all[i]->receiving);
  }
  for (const uint32_t size : {0u, 1u, 64u, 4096u, kSize}) {
    ASSERT_EQ(a.Write(1, {a.Local(near, 0, size)}, b.Remote(far, 0, size)), Code::kOk);
    ASSERT_EQ(a.Read(2, {a.Local(near, 0, size)}, b.Remote(far, 0, size)), Code::kOk);
    ASSERT_EQ(b.Receive(3, {b.Local(far, 0, size)}), Code::kOk);
    ASSERT_EQ(a.Send(3, {a.Local(near, 0, size)}), Code::kOk);
    ASSERT_TRUE(pair.Run());
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(first_of(all[i]->sending), before[i][0]) << size;
      EXPECT_EQ(first_of(all[i]->receiving), before[i][1]) << size;
    }
  }
  EXPECT_EQ(a.Sends().size(), 15u);
  // A refused post leaves nothing behind, either.
  Segment wrong = a.Local(near, 0, 8);
  wrong.lmr_context ^= 0xffff00;
  EXPECT_NE(a.Send(4, {wrong}), Code::kOk);
  EXPECT_EQ(first_of(a.blocks.sending), before[0][0]);
}

// While polls try its connection first, a stream keeps what it has borrowed, and needs no pool.
TEST(StreamCost, AHotStreamKeepsItsBlocks) {
  StreamPair pair(Whole(65535));
  Side &a = pair.a(), &b = pair.b();
  const size_t near = a.AddBuffer(64), far = b.AddBuffer(64);
  const auto exchange = [&] {
    ASSERT_EQ(b.Receive(1, {b.Local(far, 0, 64)}), Code::kOk);
    ASSERT_EQ(a.Send(1, {a.Local(near, 0, 64)}), Code::kOk);
    ASSERT_TRUE(pair.Run());
  };
  for (const bool hot : {true, false}) {
    a.stream->KeepBlocks(hot);
    b.stream->KeepBlocks(hot);
    exchange();
    // The pools have nothing left.
    BlockPool* const pools[] = {&a.blocks.sending, &b.blocks.receiving};
    std::vector<uint8_t*> taken[2];
    for (int i = 0; i < 2; ++i) {
      taken[i].reserve(64);
      for (const uint64_t before = large_allocations; large_allocations == before;) {
        ASSERT_LT(taken[i].size(), taken[i].capacity());
        taken[i].push_back(pools[i]->Take(pools[i]));
      }
    }
    const uint64_t before = large_allocations;
    exchange();
    EXPECT_EQ(large_allocations - before, hot ? 0u : 2u);
    for (int i = 0; i < 2; ++i) {
      for (uint8_t* const block : taken[i]) pools[i]->Give(pools[i], block);
    }
  }
}

TEST(StreamCost, TheEndOfAWriteIsStoredByUs) {
  StreamPair pair(Whole(65535));
  Side &a = pair.a(), &b = pair.b();
  const size_t near = a.AddBuffer(60000), far = b.AddBuffer(60000);
  std::memset(a.data(near), 1, 60000);
  a.Write(1, {a.Local(near, 0, 60000)}, b.Remote(far, 0, 60000));
  while (pair.Transmit(0)) {
  }
  const uint8_t* last = b.data(far) + 59999;
  bool direct = false;
  while (b.data(far)[59999] == Side::kGuardByte) {
    iovec iov[8];
    const size_t count = b.stream->ReceiveVector(iov, 8);
    ASSERT_GT(count, 0u);
    for (size_t i = 0; i < count; ++i) {
      const auto* base = static_cast<const uint8_t*>(iov[i].iov_base);
      direct |= base >= b.data(far) && base < last;
      EXPECT_FALSE(base <= last && last < base + iov[i].iov_len);
    }
    b.stream->OnReceived(0);
    ASSERT_TRUE(pair.Receive(1));
  }
  EXPECT_TRUE(direct);
}

TEST(StreamCost, TheDataPathAllocatesNothing) {
  for (const bool crc : {false, true}) {
    PairOptions o = Whole(16384);
    o.crc = crc;
    StreamPair pair(o);
    Side &a = pair.a(), &b = pair.b();
    const size_t near = a.AddBuffer(100000), far = b.AddBuffer(100000);
    const Segment local = a.Local(near, 0, 50000), small = a.Local(near, 0, 100),
                  sink = b.Local(far, 0, 50000);
    std::vector<uint8_t> wire(1 << 20);
    transport::Completion done[8];
    uint64_t before = 0, sent = 0;
    for (int round = 0; round < 20; ++round) {
      if (round == 2) before = allocations.load();
      transport::SendRequest r;
      r.local = {&local, 1};
      EXPECT_EQ(b.stream->PostReceive({1, {&sink, 1}}), Code::kOk);
      EXPECT_EQ(a.stream->PostSend(r), Code::kOk);
      r.remote = b.Remote(far, 0, 50000);
      r.op = transport::Op::kRdmaWrite;
      EXPECT_EQ(a.stream->PostSend(r), Code::kOk);
      r.op = transport::Op::kRdmaRead;
      EXPECT_EQ(a.stream->PostSend(r), Code::kOk);
      r.op = transport::Op::kRdmaWrite;
      r.local = {&small, 1};
      EXPECT_EQ(a.stream->PostSend(r), Code::kOk);
      // Moves bytes both ways until nothing moves. A plain buffer is the wire.
      for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < 2; ++i) {
          Stream &from = *pair.sides[i]->stream, &to = *pair.sides[1 - i]->stream;
          iovec iov[32];
          const Stream::Batch batch = from.TransmitVector(iov, 32, 1 << 19);
          size_t have = 0;
          for (size_t k = 0; k < batch.count; ++k) {
            std::memcpy(wire.data() + have, iov[k].iov_base, iov[k].iov_len);
            have += iov[k].iov_len;
          }
          if (batch.count > 0) from.OnTransmitted(have);
          for (size_t at = 0; at < have;) {
            const size_t count = to.ReceiveVector(iov, 32);
            size_t got = 0;
            for (size_t k = 0; k < count; ++k) {
              const size_t n = std::min(iov[k].iov_len, have - at - got);
              std::memcpy(iov[k].iov_base, wire.data() + at + got, n);
              got += n;
            }
            to.OnReceived(got);
            at += got;
          }
          moved |= have > 0;
          from.TakeActions();
          to.TakeActions();
        }
      }
      sent += a.send_ring.Poll(done) + b.receive_ring.Poll(done);
    }
    EXPECT_EQ(allocations.load(), before);
    EXPECT_EQ(sent, 20u * 5);
  }
}

TEST(StreamCost, ReadsMayBeShortWhereTheSettingSaysSo) {
  PairOptions o = Whole(1442);
  o.short_reads = true;
  StreamPair pair(o);
  Side &a = pair.a(), &b = pair.b();
  const size_t near = a.AddBuffer(100), far = b.AddBuffer(1000);
  ASSERT_EQ(a.Read(1, {a.Local(near, 0, 100)}, b.Remote(far, 0, 1000)), Code::kOk);
  ASSERT_TRUE(pair.Run());
  const auto sent = a.Sends();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].length, 100u);
  EXPECT_TRUE(a.GuardsIntact());
}

}  // namespace
}  // namespace softdat::softnet::testing
