// SPDX-License-Identifier: BSD-3-Clause
// The ring between two ends that share its memory, one of which may be hostile.
#include "provider_softnet/shm/byte_ring.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <semaphore>
#include <thread>
#include <vector>

namespace softdat::softnet {
namespace {

struct Free {
  void operator()(uint8_t* memory) const { std::free(memory); }
};

class ByteRingTest : public ::testing::Test {
 protected:
  ssize_t Write(const std::vector<uint8_t>& bytes) {
    const iovec iov{const_cast<uint8_t*>(bytes.data()), bytes.size()};
    return writer_.Write(&iov, 1, &bell_);
  }
  ssize_t Read(std::vector<uint8_t>* bytes) {
    const iovec iov{bytes->data(), bytes->size()};
    return reader_.Read(&iov, 1, &bell_);
  }
  RingHeader& header() { return *reinterpret_cast<RingHeader*>(memory_.get()); }

  std::unique_ptr<uint8_t, Free> memory_{[] {
    auto* memory = static_cast<uint8_t*>(std::aligned_alloc(4096, kRingSize));
    std::fill_n(memory, kRingSize, uint8_t{0});
    return memory;
  }()};
  RingWriter writer_{memory_.get()};
  RingReader reader_{memory_.get()};
  bool bell_ = false;
};

TEST_F(ByteRingTest, CarriesBytesAroundItsEnd) {
  std::vector<uint8_t> sent(kRingData * 2 / 3), got(sent.size());
  for (int round = 0; round < 5; ++round) {
    std::iota(sent.begin(), sent.end(), static_cast<uint8_t>(round));
    ASSERT_EQ(Write(sent), static_cast<ssize_t>(sent.size()));
    ASSERT_EQ(Read(&got), static_cast<ssize_t>(got.size()));
    ASSERT_EQ(got, sent);
  }
  EXPECT_FALSE(reader_.HasBytes());
}

// What is lent lies in one piece. It stays until it is said to be read, and no longer.
TEST_F(ByteRingTest, LendsWhatCanBeRead) {
  EXPECT_TRUE(reader_.Lend().empty());
  std::vector<uint8_t> sent(kRingData * 2 / 3), got;
  for (int round = 0; round < 5; ++round) {
    std::iota(sent.begin(), sent.end(), static_cast<uint8_t>(round));
    ASSERT_EQ(Write(sent), static_cast<ssize_t>(sent.size()));
    got.clear();
    while (!reader_.Lend().empty()) {
      const ByteSpan lent = reader_.Lend();
      const size_t used = (lent.size() + 1) / 2;
      got.insert(got.end(), lent.begin(), lent.begin() + static_cast<ptrdiff_t>(used));
      reader_.Skip(used);
      EXPECT_EQ(reader_.KnowsOfBytes(), got.size() < sent.size());
    }
    ASSERT_EQ(got, sent);
    EXPECT_FALSE(reader_.HasBytes());
  }
}

// What the writer does for readers on its own and on other processors. Nobody has to believe the
// header.
TEST_F(ByteRingTest, WhereverTheReaderRuns) {
  std::vector<uint8_t> sent(kRingData * 3 / 4 + 5), got(sent.size());
  for (uint32_t round = 0; round < 20; ++round) {
    std::iota(sent.begin(), sent.end(), static_cast<uint8_t>(round));
    const uint32_t here = static_cast<uint32_t>(sched_getcpu()) + 1;
    header().reader_runs_on = round % 2 == 0 ? here : here ^ round;
    const size_t head = 1 + round * 7;
    const iovec parts[] = {{sent.data(), head}, {sent.data() + head, sent.size() - head}};
    ASSERT_EQ(writer_.Write(parts, 2, &bell_), static_cast<ssize_t>(sent.size()));
    ASSERT_EQ(Read(&got), static_cast<ssize_t>(got.size()));
    ASSERT_EQ(got, sent) << round;
  }
}

TEST_F(ByteRingTest, AFullRingTakesWhatFits) {
  const std::vector<uint8_t> much(kRingData + 1);
  EXPECT_EQ(Write(much), static_cast<ssize_t>(kRingData));
  EXPECT_FALSE(writer_.HasRoom());
  EXPECT_EQ(Write(much), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(ByteRingTest, BellsAreAskedForOnce) {
  ASSERT_EQ(Write({1}), 1);
  EXPECT_FALSE(bell_);
  std::vector<uint8_t> one(1);
  ASSERT_EQ(Read(&one), 1);
  reader_.Listen(true);
  ASSERT_EQ(Write({1}), 1);
  EXPECT_TRUE(bell_);
  ASSERT_EQ(Write({1}), 1);
  EXPECT_FALSE(bell_);
}

// Whoever empties a ring that its writer waits for rings, however small his steps are.
TEST_F(ByteRingTest, AWriterThatWaitsIsTold) {
  for (const size_t step : {size_t{1000}, kRingStep - 1, kRingStep, kRingData}) {
    const std::vector<uint8_t> much(kRingData);
    while (Write(much) > 0) {
    }
    writer_.Listen(true);
    ASSERT_FALSE(writer_.HasRoom());
    int bells = 0;
    std::vector<uint8_t> some(step);
    while (Read(&some) > 0) bells += bell_ ? 1 : 0;
    EXPECT_EQ(bells, 1) << step;
    EXPECT_TRUE(writer_.HasRoom());

    while (Write(much) > 0) {
    }
    writer_.Listen(true);
    for (ByteSpan lent = reader_.Lend(); !lent.empty(); lent = reader_.Lend()) {
      bells += reader_.Skip(std::min(step, lent.size())) ? 1 : 0;
    }
    EXPECT_EQ(bells, 2) << step;
  }
}

TEST_F(ByteRingTest, AReaderThatForgetsKeepsNobodyWaiting) {
  const std::vector<uint8_t> much(kRingData + 1);
  EXPECT_EQ(Write(much), static_cast<ssize_t>(kRingData));
  writer_.Listen(true);
  EXPECT_TRUE(reader_.Forget());
  for (int i = 0; i < 3; ++i) EXPECT_GT(Write(much), 0);
  EXPECT_TRUE(writer_.HasRoom());
}

TEST_F(ByteRingTest, TheEndComesBehindTheBytes) {
  ASSERT_EQ(Write({7}), 1);
  EXPECT_FALSE(reader_.WriterIsOver());
  reader_.Listen(true);
  EXPECT_TRUE(writer_.Finish());
  EXPECT_TRUE(reader_.WriterIsOver());
  EXPECT_TRUE(reader_.HasBytes());
}

TEST_F(ByteRingTest, PositionsThatCannotBeAreRefused) {
  std::vector<uint8_t> some(64);
  for (const uint64_t lie : {uint64_t{kRingData} + 1, UINT64_MAX, uint64_t{1} << 63}) {
    header().written = lie;
    EXPECT_TRUE(reader_.HasBytes());
    EXPECT_TRUE(reader_.Lend().empty());
    EXPECT_EQ(Read(&some), -1);
    EXPECT_EQ(errno, EPROTO);
  }
  header().written = 0;
  const std::vector<uint8_t> much(kRingData);
  ASSERT_EQ(Write(much), static_cast<ssize_t>(kRingData));
  for (const uint64_t lie : {uint64_t{kRingData} + 1, UINT64_MAX}) {
    header().read = lie;
    EXPECT_TRUE(writer_.HasRoom());
    EXPECT_EQ(Write(much), -1);
    EXPECT_EQ(errno, EPROTO);
  }
}

// A header that changes all the time never leads an end outside its memory (AddressSanitizer
// looks).
TEST_F(ByteRingTest, AHostileHeader) {
  std::mt19937_64 random(1);
  std::vector<uint8_t> some(kRingData);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t lie = random() >> (random() % 64);
    (random() % 2 == 0 ? header().written : header().read) = lie;
    some.resize(1 + random() % 3000);
    if (random() % 2 == 0) {
      EXPECT_LE(Write(some), static_cast<ssize_t>(some.size()));
    } else if (random() % 2 == 0) {
      const ByteSpan lent = reader_.Lend();
      uint8_t all = 0;
      for (const uint8_t byte : lent) all |= byte;
      EXPECT_EQ(all, 0);
      reader_.Skip(lent.size());
    } else {
      EXPECT_LE(Read(&some), static_cast<ssize_t>(some.size()));
    }
  }
}

TEST_F(ByteRingTest, TwoThreads) {
  constexpr size_t kTotal = 8 << 20;
  std::thread writer([this] {
    std::mt19937 random(2);
    std::vector<uint8_t> bytes;
    bool bell;
    for (size_t sent = 0; sent < kTotal;) {
      bytes.resize(std::min<size_t>(1 + random() % 100000, kTotal - sent));
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>((sent + i) * 31);
      const iovec iov{bytes.data(), bytes.size()};
      const ssize_t n = writer_.Write(&iov, 1, &bell);
      if (n > 0) sent += static_cast<size_t>(n);
      if (n < 0) std::this_thread::yield();
    }
  });
  std::vector<uint8_t> bytes(70001);
  size_t wrong = 0;
  for (size_t got = 0; got < kTotal;) {
    const ssize_t n = Read(&bytes);
    if (n < 0) break;
    if (n == 0) std::this_thread::yield();
    for (ssize_t i = 0; i < n; ++i) {
      wrong += bytes[static_cast<size_t>(i)] !=
               static_cast<uint8_t>((got + static_cast<size_t>(i)) * 31);
    }
    got += static_cast<size_t>(n);
  }
  writer.join();
  EXPECT_EQ(wrong, 0u);
}

// The reader sleeps when it finds nothing, and only a bell ends its sleep. No other message comes
// until it has taken this one.
TEST_F(ByteRingTest, NobodySleepsPastABell) {
  constexpr uint64_t kMessages = 40000;
  constexpr auto kPatience = std::chrono::seconds(10);
  std::counting_semaphore<> bell(0);
  std::atomic<uint64_t> taken{0};
  std::atomic<bool> over{false};
  std::thread writer([&] {
    std::minstd_rand random(3);
    uint32_t looks = 0;
    for (uint64_t sent = 0; sent < kMessages && !over.load();) {
      if (taken.load() < sent) {
        if (++looks % 4096 == 0) std::this_thread::yield();
        continue;
      }
      // The reader goes to sleep about now.
      for (auto spins = random() % 256; spins > 0; --spins) asm volatile("" : : : "memory");
      const iovec iov{&sent, sizeof sent};
      bool ring_bell = false;
      ASSERT_EQ(writer_.Write(&iov, 1, &ring_bell), static_cast<ssize_t>(sizeof sent));
      ++sent;
      if (ring_bell) bell.release();
    }
  });
  bool woken = true;
  for (uint64_t next = 0; next < kMessages && woken;) {
    uint64_t message;
    const iovec iov{&message, sizeof message};
    bool room_bell;
    if (reader_.Read(&iov, 1, &room_bell) > 0) {
      EXPECT_EQ(message, next);
      taken.store(++next);
      continue;
    }
    reader_.Listen(true);
    woken = reader_.HasBytes() || bell.try_acquire_for(kPatience);
    EXPECT_TRUE(woken) << "message " << next;
  }
  over.store(true);
  writer.join();
}

}  // namespace
}  // namespace softdat::softnet
