// SPDX-License-Identifier: BSD-3-Clause
// Tests of reading the footprint of a process.
#include "tools/bench/footprint.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

namespace softdat::tools {
namespace {

TEST(Footprint, MemoryThatWasTouchedAndDescriptorsCount) {
  Footprint before;
  ASSERT_TRUE(ReadFootprint(getpid(), &before).ok());
  EXPECT_GT(before.memory_kib, 0);
  EXPECT_GE(before.descriptors, 3);
  constexpr size_t kMebibytes = 32;
  std::vector<char> memory(kMebibytes << 20, 'x');
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  Footprint after;
  ASSERT_TRUE(ReadFootprint(getpid(), &after).ok());
  EXPECT_EQ(after.descriptors, before.descriptors + 2);
  EXPECT_GT(after.memory_kib, before.memory_kib + 30 * 1024);
  for (const int end : ends) close(end);
  EXPECT_EQ(memory.back(), 'x');
}

TEST(Footprint, WhoIsNotThereIsAFailure) {
  Footprint footprint;
  EXPECT_FALSE(ReadFootprint(-1, &footprint).ok());
}

}  // namespace
}  // namespace softdat::tools
