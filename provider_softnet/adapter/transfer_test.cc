// SPDX-License-Identifier: BSD-3-Clause
// Transfers that do not fit into a socket buffer, into the time that the other end has, or into the
// wait for a message.
#include <gtest/gtest.h>
#include <string.h>

#include <thread>

#include "provider_softnet/adapter/bench_node.h"

namespace softdat::softnet {
namespace {

using Wait = BenchNode::Wait;

constexpr size_t kMemory = 48 << 20;

void Fill(uint8_t* p, size_t size, uint8_t seed) {
  for (size_t i = 0; i < size; ++i) p[i] = static_cast<uint8_t>(i * 31 + i / 4096 + seed);
}

bool IsFilled(const uint8_t* p, size_t size, uint8_t seed) {
  for (size_t i = 0; i < size; ++i) {
    if (p[i] != static_cast<uint8_t>(i * 31 + i / 4096 + seed)) return false;
  }
  return true;
}

class TransferTest : public testing::TestWithParam<CrcPolicy> {
 protected:
  void SetUp() override {
    const uint64_t qual = b_.Listen();
    ASSERT_TRUE(a_.Connect(qual, Loopback()));
    ASSERT_TRUE(a_.Until(Wait::kPoll, [&] {
      b_.adapter().Progress(nullptr, transport::Clock::now());
      return a_.established() && b_.established();
    }));
  }
  static TcpOptions Options() {
    TcpOptions o;
    o.crc = GetParam();
    return o;
  }
  uint64_t AddressOf(BenchNode& n, size_t offset) {
    return reinterpret_cast<uintptr_t>(n.memory()) + offset;
  }

  BenchNode a_{Options(), kMemory, 64};
  BenchNode b_{Options(), kMemory, 64};
};

TEST_P(TransferTest, ABigWriteArrivesWholeWhileTheTargetMakesNoCall) {
  constexpr uint32_t kSize = 32 << 20;
  Fill(a_.memory(), kSize, 1);
  ASSERT_EQ(a_.PostWrite(0, kSize, AddressOf(b_, 64), b_.key(), 0), Code::kOk);
  ASSERT_EQ(b_.PostReceive(kSize + 4096, 64), Code::kOk);
  ASSERT_EQ(a_.PostSend(0, 64, 0), Code::kOk);
  while (a_.sends < 2) ASSERT_TRUE(a_.ReapOne(Wait::kSleep)) << a_.why();
  // So far the helper alone has moved the data. The message behind the write tells that all of it
  // is placed.
  while (b_.receives < 1) ASSERT_TRUE(b_.ReapOne(Wait::kSleep)) << b_.why();
  EXPECT_TRUE(IsFilled(b_.memory() + 64, kSize, 1));
  EXPECT_EQ(b_.memory()[63], 0);
  EXPECT_EQ(b_.memory()[64 + kSize], 0);
}

TEST_P(TransferTest, BothDirectionsAtOnce) {
  constexpr uint32_t kSize = 8 << 20;
  constexpr int kCount = 4;
  Fill(a_.memory(), kSize, 2);
  Fill(b_.memory(), kSize, 3);
  const auto run = [&](BenchNode* mine, BenchNode* other) {
    for (int i = 0; i < kCount; ++i) {
      if (mine->PostWrite(0, kSize, AddressOf(*other, 16 << 20), other->key(), 0) != Code::kOk)
        return;
    }
    while (mine->sends < kCount && mine->ReapOne(Wait::kPoll)) {
    }
  };
  ASSERT_EQ(a_.PostReceive(kMemory - 64, 64), Code::kOk);
  ASSERT_EQ(b_.PostReceive(kMemory - 64, 64), Code::kOk);
  std::thread other([&] { run(&b_, &a_); });
  run(&a_, &b_);
  other.join();
  ASSERT_EQ(a_.sends, static_cast<uint64_t>(kCount)) << a_.why();
  ASSERT_EQ(b_.sends, static_cast<uint64_t>(kCount)) << b_.why();
  ASSERT_EQ(a_.PostSend(0, 64, 0), Code::kOk);
  ASSERT_EQ(b_.PostSend(0, 64, 0), Code::kOk);
  while (a_.receives < 1) ASSERT_TRUE(a_.ReapOne(Wait::kSleep));
  while (b_.receives < 1) ASSERT_TRUE(b_.ReapOne(Wait::kSleep));
  EXPECT_TRUE(IsFilled(b_.memory() + (16 << 20), kSize, 2));
  EXPECT_TRUE(IsFilled(a_.memory() + (16 << 20), kSize, 3));
}

TEST_P(TransferTest, MessagesWaitForTheirReceives) {
  constexpr int kCount = 20;
  constexpr uint32_t kSize = 200000;
  for (int i = 0; i < kCount; ++i) Fill(a_.memory() + i * kSize, kSize, static_cast<uint8_t>(i));
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(a_.PostSend(i * kSize, kSize, 0), Code::kOk);
  // The socket fills up. Nothing is lost, nothing breaks, and nothing completes.
  for (int i = 0; i < 1000; ++i) {
    a_.adapter().Progress(nullptr, transport::Clock::now());
    b_.adapter().Progress(nullptr, transport::Clock::now());
  }
  EXPECT_FALSE(a_.Reap());
  for (int i = 0; i < kCount; ++i) {
    ASSERT_EQ(b_.PostReceive((20 << 20) + i * kSize, kSize), Code::kOk);
    while (b_.receives <= static_cast<uint64_t>(i))
      ASSERT_TRUE(b_.ReapOne(Wait::kSleep)) << b_.why();
    a_.adapter().Progress(nullptr, transport::Clock::now());
    EXPECT_TRUE(IsFilled(b_.memory() + (20 << 20) + i * kSize, kSize, static_cast<uint8_t>(i)));
  }
  while (a_.sends < kCount) ASSERT_TRUE(a_.ReapOne(Wait::kSleep)) << a_.why();
}

TEST_P(TransferTest, AGracefulDisconnectDeliversWhatWasPosted) {
  constexpr uint32_t kSize = 16 << 20;
  Fill(a_.memory(), kSize, 9);
  ASSERT_EQ(b_.PostReceive(kMemory - kSize, kSize), Code::kOk);
  ASSERT_EQ(a_.PostSend(0, kSize, 0), Code::kOk);
  a_.qp().Disconnect(transport::DisconnectMode::kGraceful);
  while (b_.receives < 1) ASSERT_TRUE(b_.ReapOne(Wait::kSleep)) << b_.why();
  EXPECT_TRUE(IsFilled(b_.memory() + kMemory - kSize, kSize, 9));
  ASSERT_TRUE(a_.Until(Wait::kSleep, [&] { return a_.over(); }));
  ASSERT_TRUE(b_.Until(Wait::kSleep, [&] { return b_.over(); }));
  EXPECT_EQ(a_.end_reason(), transport::EndReason::kDisconnected) << a_.why();
  EXPECT_EQ(b_.end_reason(), transport::EndReason::kDisconnected) << b_.why();
}

INSTANTIATE_TEST_SUITE_P(Crc, TransferTest, testing::Values(CrcPolicy::kAuto, CrcPolicy::kOn),
                         [](const auto& p) { return p.param == CrcPolicy::kOn ? "On" : "Off"; });

}  // namespace
}  // namespace softdat::softnet
