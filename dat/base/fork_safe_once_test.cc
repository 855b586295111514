// SPDX-License-Identifier: BSD-3-Clause
#include "dat/base/fork_safe_once.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace softdat {
namespace {

TEST(ForkSafeOnce, RunsOnceForAllThreads) {
  static ForkSafeOnce once;
  static int runs = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      once.Call([] { ++runs; });
      EXPECT_EQ(runs, 1);
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(ForkSafeOnce, MayBeNested) {
  static ForkSafeOnce outer;
  static ForkSafeOnce inner;
  int runs = 0;
  outer.Call([&runs] { inner.Call([&runs] { ++runs; }); });
  inner.Call([&runs] { ++runs; });
  EXPECT_EQ(runs, 1);
}

// The fork waits for the initialisation that is under way, so the child finds it done.
TEST(ForkSafeOnce, ForkFindsItDone) {
  static ForkSafeOnce once;
  static std::atomic<bool> begun{false};
  static std::atomic<bool> about_to_fork{false};
  static int value = 0;
  std::thread other([] {
    once.Call([] {
      begun = true;
      while (!about_to_fork) std::this_thread::yield();
      value = 42;
    });
  });
  while (!begun) std::this_thread::yield();
  about_to_fork = true;
  const pid_t child = fork();
  if (child == 0) {
    once.Call([] { value = 1; });
    _exit(value);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
  other.join();
}

}  // namespace
}  // namespace softdat
