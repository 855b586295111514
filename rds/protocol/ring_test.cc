// SPDX-License-Identifier: BSD-3-Clause
#include "rds/protocol/ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <utility>

namespace softdat::rds {
namespace {

TEST(RingTest, IsAQueue) {
  Ring<std::unique_ptr<int>> ring;
  EXPECT_TRUE(ring.empty());
  for (int i = 0; i < 100; ++i) ring.push_back(std::make_unique<int>(i));
  EXPECT_EQ(ring.size(), 100u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(*ring.front(), i);
    ring.pop_front();
  }
  EXPECT_TRUE(ring.empty());
}

TEST(RingTest, DoesWhatADequeDoes) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  Ring<std::unique_ptr<int>> ring;
  std::deque<int> deque;
  for (int step = 0; step < 20000; ++step) {
    // It fills up and empties again, beyond what stays when it is empty.
    const bool filling = step / 1000 % 2 == 0;
    const auto kind = random() % 10;
    if (deque.empty() || (filling ? kind < 8 : kind < 2)) {
      ring.push_back(std::make_unique<int>(step));
      deque.push_back(step);
    } else if (kind == 9) {
      const size_t at = random() % deque.size();
      ring.Erase(at);
      deque.erase(deque.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      ring.pop_front();
      deque.pop_front();
    }
    ASSERT_EQ(ring.size(), deque.size());
    if (deque.empty()) continue;
    ASSERT_EQ(*ring.front(), deque.front());
    const size_t at = random() % deque.size();
    ASSERT_EQ(*ring[at], deque[at]);
  }
}

struct CountsMoves {
  CountsMoves() = default;
  CountsMoves(CountsMoves&&) noexcept { ++moves; }
  CountsMoves& operator=(CountsMoves&&) noexcept {
    ++moves;
    return *this;
  }
  static inline int moves = 0;
};

// Operations without a message complete in order, each the first of its queue.
TEST(RingTest, LosesOneAtAnEndWithoutMovingTheRest) {
  Ring<CountsMoves> ring;
  for (int i = 0; i < 100; ++i) ring.push_back({});
  CountsMoves::moves = 0;
  ring.Erase(0);
  ring.Erase(ring.size() - 1);
  EXPECT_EQ(CountsMoves::moves, 0);
  ring.Erase(2);
  EXPECT_EQ(CountsMoves::moves, 2);
}

TEST(RingTest, PassesAllThatItHas) {
  Ring<std::unique_ptr<int>> from, to;
  for (int i = 0; i < 10; ++i) from.push_back(std::make_unique<int>(i));
  from.pop_front();
  to = std::move(from);
  ASSERT_EQ(to.size(), 9u);
  EXPECT_EQ(*to.front(), 1);
  to.clear();
  EXPECT_TRUE(to.empty());
}

}  // namespace
}  // namespace softdat::rds
