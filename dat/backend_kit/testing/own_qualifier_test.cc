// SPDX-License-Identifier: BSD-3-Clause
// Processes get different qualifiers, none of which a provider chooses.
#include "dat/backend_kit/testing/own_qualifier.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "dat/backend_kit/qualifier_port.h"

namespace softdat {
namespace {

bool Any(uint64_t) { return true; }

TEST(OwnQualifierTest, FiftyInARowDiffer) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 50; ++i) {
    const uint64_t own = OwnQualifier(Any);
    EXPECT_GE(own, 1024u);
    EXPECT_LT(own + 1, 32768u);
    EXPECT_TRUE(seen.insert(own).second);
    EXPECT_FALSE(seen.contains(own - 1) || seen.contains(own + 1)) << "the next one is its own";
  }
}

TEST(OwnQualifierTest, OneThatIsNotFreeIsLeftOut) {
  const uint64_t taken = OwnQualifier(Any) + 2;
  EXPECT_NE(OwnQualifier([&](uint64_t q) { return q != taken; }), taken);
  EXPECT_EQ(OwnQualifier([](uint64_t) { return false; }), 0u);
}

TEST(OwnQualifierTest, ALargeOneHasThePortOfAnOwnOne) {
  std::set<uint64_t> own;
  for (int i = 0; i < 50; ++i) own.insert(OwnQualifier(Any));
  const uint64_t large = OwnLargeQualifier(Any);
  EXPECT_GT(large, 65535u);
  EXPECT_TRUE(own.contains(PortOfQualifier(large)));
  EXPECT_EQ(PortOfQualifier(large + 31744), PortOfQualifier(large));
}

TEST(OwnQualifierTest, AChildGetsOthers) {
  std::set<uint64_t> own;
  for (int i = 0; i < 50; ++i) own.insert(OwnQualifier(Any));
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 50; ++i) {
      const uint64_t other = OwnQualifier(Any);
      if (other == 0 || own.contains(other)) _exit(1);
    }
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace softdat
