// SPDX-License-Identifier: BSD-3-Clause
// Work queues: copies of segments, order, limits, sharing.
#include "provider_softnet/queue/work_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace softdat::softnet {
namespace {

Segment Seg(uint64_t address, uint32_t length) {
  Segment s{};
  s.virtual_address = address;
  s.segment_length = length;
  s.lmr_context = 7;
  return s;
}

TEST(CopySegments, DropsEmptyOnesAndAddsUp) {
  const Segment in[] = {Seg(1, 0), Seg(2, 10), Seg(3, 0), Seg(4, 0xffffffff), Seg(5, 0)};
  Segment out[2];
  uint32_t count = 0;
  uint64_t length = 0;
  EXPECT_EQ(CopySegments(in, 2, out, &count, &length), Code::kOk);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(length, uint64_t{10} + 0xffffffffu);
  EXPECT_EQ(out[1].virtual_address, 4u);
  EXPECT_EQ(CopySegments(in, 1, out, &count, &length), Code::kInvalidArgument);
  EXPECT_EQ(CopySegments({}, 0, nullptr, &count, &length), Code::kOk);
  EXPECT_EQ(count, 0u);
}

TEST(SendQueue, RingOfExactCapacity) {
  SendQueue q(3, 2);
  for (uint64_t round = 0; round < 10; ++round) {
    for (uint64_t i = 0; i < 3; ++i) {
      ASSERT_FALSE(q.full());
      SendWork& w = q.Prepare();
      w.cookie = round * 3 + i;
      w.segment_count = 1;
      q.PrepareSegments()[0] = Seg(w.cookie, 1);
      q.Commit();
    }
    EXPECT_TRUE(q.full());
    for (uint64_t p = q.front(); p != q.back(); ++p) {
      EXPECT_EQ(q.at(p).cookie, p);
      EXPECT_EQ(q.segments(p)[0].virtual_address, p);
    }
    for (int i = 0; i < 3; ++i) q.PopFront();
    EXPECT_TRUE(q.empty());
  }
}

TEST(ReceiveQueue, PostTakeMove) {
  ReceiveQueue q(2, 2);
  const Segment two[] = {Seg(1, 5), Seg(2, 6)};
  const Segment three[] = {Seg(1, 5), Seg(2, 6), Seg(3, 7)};
  EXPECT_EQ(q.Post({1, two}), Code::kOk);
  EXPECT_EQ(q.Post({2, three}), Code::kInvalidArgument);
  EXPECT_EQ(q.Post({2, {}}), Code::kOk);
  EXPECT_EQ(q.Post({3, {}}), Code::kQueueFull);
  ReceiveQueue small(1, 2), narrow(4, 1), big(4, 2);
  EXPECT_FALSE(small.MoveFrom(q));
  EXPECT_FALSE(narrow.MoveFrom(q));
  EXPECT_EQ(q.count(), 2u);
  EXPECT_EQ(big.Post({0, {}}), Code::kOk);
  ASSERT_TRUE(big.MoveFrom(q));
  EXPECT_EQ(q.count(), 0u);
  EXPECT_EQ(big.count(), 3u);
  big.PopFront();
  ASSERT_NE(big.Front(), nullptr);
  EXPECT_EQ(big.Front()->cookie, 1u);
  EXPECT_EQ(big.Front()->length, 11u);
  EXPECT_EQ(big.Front()->segments[1].virtual_address, 2u);
  big.PopFront();
  big.PopFront();
  EXPECT_EQ(big.Front(), nullptr);
}

TEST(ReceiveQueue, OfNoCapacity) {
  ReceiveQueue q(0, 0);
  EXPECT_EQ(q.Post({1, {}}), Code::kQueueFull);
  EXPECT_EQ(q.Front(), nullptr);
}

TEST(SharedReceiveQueue, TakenBuffersCountUntilReleased) {
  SharedReceiveQueue q(2, 1, 9);
  bool limit = false;
  EXPECT_EQ(q.Take(&limit), nullptr);
  EXPECT_EQ(q.Post({1, {}}), Code::kOk);
  EXPECT_EQ(q.Post({2, {}}), Code::kOk);
  EXPECT_EQ(q.Post({3, {}}), Code::kQueueFull);
  ReceiveWork* one = q.Take(&limit);
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->cookie, 1u);
  EXPECT_EQ(q.Available(), 1u);
  EXPECT_EQ(q.Post({3, {}}), Code::kQueueFull);
  q.Release(one);
  EXPECT_EQ(q.Post({3, {}}), Code::kOk);
  EXPECT_EQ(q.Take(&limit)->cookie, 2u);
}

TEST(SharedReceiveQueue, LimitIsOneShot) {
  SharedReceiveQueue q(8, 1, 9);
  for (uint64_t i = 0; i < 4; ++i) q.Post({i, {}});
  EXPECT_FALSE(q.SetLimit(3));
  bool limit = false;
  q.Take(&limit);
  EXPECT_FALSE(limit) << "three left is not below three";
  q.Take(&limit);
  EXPECT_TRUE(limit);
  q.Take(&limit);
  EXPECT_FALSE(limit);
  EXPECT_TRUE(q.SetLimit(2)) << "below already";
  EXPECT_FALSE(q.SetLimit(0));
  q.Take(&limit);
  EXPECT_FALSE(limit);
}

TEST(SharedReceiveQueue, ResizeWhileBuffersAreOut) {
  SharedReceiveQueue q(300, 2, 9);
  bool limit = false;
  const Segment s[] = {Seg(1, 5)};
  for (uint64_t i = 0; i < 300; ++i) ASSERT_EQ(q.Post({i, s}), Code::kOk);
  std::vector<ReceiveWork*> out;
  for (int i = 0; i < 100; ++i) out.push_back(q.Take(&limit));
  EXPECT_EQ(q.Resize(299).code(), Code::kInvalidState);
  ASSERT_TRUE(q.Resize(1000).ok());
  for (uint64_t i = 300; i < 1000; ++i) ASSERT_EQ(q.Post({i, s}), Code::kOk);
  EXPECT_EQ(q.Post({0, s}), Code::kQueueFull);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(out[i]->cookie, i);
    EXPECT_EQ(out[i]->length, 5u);
    q.Release(out[i]);
  }
  for (uint64_t i = 100; i < 1000; ++i) {
    ReceiveWork* w = q.Take(&limit);
    ASSERT_EQ(w->cookie, i);
    q.Release(w);
  }
  ASSERT_TRUE(q.Resize(1).ok());
  EXPECT_EQ(q.Post({1, s}), Code::kOk);
  EXPECT_EQ(q.Post({2, s}), Code::kQueueFull);
}

TEST(SharedReceiveQueue, ManyThreads) {
  SharedReceiveQueue q(64, 1, 9);
  std::vector<std::thread> threads;
  std::atomic<int> taken{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        while (q.Post({static_cast<uint64_t>(i), {}}) != Code::kOk) std::this_thread::yield();
        bool limit = false;
        if (ReceiveWork* w = q.Take(&limit)) {
          taken.fetch_add(1);
          q.Release(w);
        }
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(static_cast<uint32_t>(15000 - taken), q.Available());
}

}  // namespace
}  // namespace softdat::softnet
