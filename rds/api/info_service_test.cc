// SPDX-License-Identifier: BSD-3-Clause
#include "rds/api/info_service.h"

#include <gtest/gtest.h>

namespace softdat::rds {
namespace {

TEST(InfoServiceTest, TheInstanceInALineOfTheKernelsTable) {
  const std::string before = "0000000000000000: 00000002 00000000 00010000 0001 01 51234 ";
  EXPECT_EQ(AnsweringInstance(before + "@softdat-rds/info/4294967295"), 4294967295u);
  EXPECT_EQ(AnsweringInstance(before + "@softdat-rds/info/7"), 7u);
}

// Anybody can bind any name.
TEST(InfoServiceTest, OtherLinesNameNone) {
  for (const char* const name :
       {"", "/run/socket", "@softdat-rds/info/", "@softdat-rds/info/x", "@softdat-rds/info/7x",
        "@softdat-rds/info/-7", "@softdat-rds/info/4294967296", "@softdat-rds/127.0.0.1/7",
        "softdat-rds/info/7"}) {
    EXPECT_EQ(AnsweringInstance(name), kKernelInstance) << name;
  }
}

}  // namespace
}  // namespace softdat::rds
