// SPDX-License-Identifier: BSD-3-Clause
#include "dat/registry/nearest_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kNames = {"softnet-eth0", "softnet-lo", "verbs-rxe0", "softnet-lo",
                                         "toy-0"};

TEST(NearestNames, TheNearestComesFirstAndOnce) {
  EXPECT_THAT(NearestNames(kNames, "softnet-l0"), ElementsAre("softnet-lo", "softnet-eth0"));
  EXPECT_THAT(NearestNames(kNames, "sofnet-eth0"), ElementsAre("softnet-eth0"));
  EXPECT_THAT(NearestNames(kNames, "SOFTNET-LO"), ElementsAre("softnet-lo", "softnet-eth0"));
  EXPECT_THAT(NearestNames(kNames, "verbs-rex0"), ElementsAre("verbs-rxe0"));
}

TEST(NearestNames, WhatIsFarIsNotMeant) {
  EXPECT_THAT(NearestNames(kNames, "OpenIB-cma"), IsEmpty());
  EXPECT_THAT(NearestNames(kNames, ""), IsEmpty());
  EXPECT_THAT(NearestNames({}, "softnet-lo"), IsEmpty());
}

TEST(NearestNames, AtMostThree) {
  EXPECT_EQ(NearestNames({"ia-1", "ia-2", "ia-3", "ia-4"}, "ia-5").size(), 3u);
}

}  // namespace
}  // namespace softdat::registry
