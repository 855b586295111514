// SPDX-License-Identifier: BSD-3-Clause
// A ring of requests that grows.
#include "provider_softnet/iwarp/request_ring.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace softdat::softnet {
namespace {

struct Numbered {
  uint64_t number;
};

// Adds and takes requests, in turns of these sizes, and checks that each comes out as it went in.
class Queue {
 public:
  Queue(uint32_t most, uint32_t first_position)
      : ring_(most), front_(first_position), back_(first_position) {}

  bool Add() {
    if (!ring_.Have(front_, back_)) return false;
    ring_[back_++].number = added_++;
    return true;
  }
  void Take() { EXPECT_EQ(ring_[front_++].number, taken_++); }
  uint32_t count() const { return back_ - front_; }

 private:
  RequestRing<Numbered> ring_;
  uint32_t front_, back_;
  uint64_t added_ = 0, taken_ = 0;
};

TEST(RequestRingTest, KeepsTheOrderWhileItGrows) {
  // The positions of 32 bits begin anew in the midst of the second one.
  for (const uint32_t first : {0u, ~0u - 20, 5u}) {
    Queue queue(129, first);
    for (uint32_t deep = 1; deep <= 129; deep += 4) {
      while (queue.count() < deep) ASSERT_TRUE(queue.Add());
      for (int i = 0; i < 3; ++i) {  // not always from the same place
        queue.Take();
        ASSERT_TRUE(queue.Add());
      }
    }
    while (queue.count() > 0) queue.Take();
  }
}

TEST(RequestRingTest, HoldsAsManyAsWereAgreed) {
  for (const uint32_t most : {1u, 2u, 7u, 8u, 9u, 16u, 129u}) {
    Queue queue(most, 3);
    for (uint32_t i = 0; i < most; ++i) EXPECT_TRUE(queue.Add()) << i << " of " << most;
    while (queue.count() > 0) queue.Take();
  }
}

TEST(RequestRingTest, HasNoPlaceBeyondItsLimit) {
  Queue queue(8, 0);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(queue.Add());
  EXPECT_FALSE(queue.Add());
}

}  // namespace
}  // namespace softdat::softnet
