// SPDX-License-Identifier: BSD-3-Clause
// Tests of pinning this process.
#include "tools/common/cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

TEST(Cpu, PinnedProcessMayUseThatCpuOnly) {
  const auto cpus = AllowedCpus();
  ASSERT_FALSE(cpus.empty());
  ASSERT_TRUE(PinProcess(cpus.back()));
  EXPECT_THAT(AllowedCpus(), testing::ElementsAre(cpus.back()));
}

TEST(Cpu, NoSuchCpu) {
  EXPECT_FALSE(PinProcess(-1));
  EXPECT_FALSE(PinProcess(1 << 20));
}

}  // namespace
}  // namespace softdat::tools
