// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/completion_ring.h"

#include <gtest/gtest.h>

#include <array>

namespace softdat::verbs {
namespace {

TEST(CompletionRingTest, KeepsTheOrderWhileItGrowsAndWraps) {
  CompletionRing ring(4);
  uint64_t in = 0, out = 0;
  std::array<transport::Completion, 7> batch;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < round % 11; ++i) ring.Push({.cookie = in++});
    const size_t n = ring.Pop({batch.data(), static_cast<size_t>(round % 8)});
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(batch[i].cookie, out++);
    EXPECT_EQ(ring.size(), in - out);
    EXPECT_EQ(ring.empty(), in == out);
  }
  while (ring.Pop(batch) > 0) {
  }
  EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace softdat::verbs
