// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/reaper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <semaphore>
#include <utility>

namespace softdat::verbs {
namespace {

TEST(ReaperTest, WorkThatTakesLongHoldsUpNobodyButTheEnd) {
  std::binary_semaphore go{0};
  std::atomic<int> done{0};
  {
    Reaper reaper;
    reaper.Run([&] {
      go.acquire();
      ++done;
    });
    // This work comes after the first, and does not wait for it.
    std::binary_semaphore ran{0};
    reaper.Run([&] { ran.release(); });
    ran.acquire();
    EXPECT_EQ(done, 0);
    go.release();
  }
  EXPECT_EQ(done, 1);
}

TEST(ReaperTest, WhatTheWorkKeepsGoesWithIt) {
  Reaper reaper;
  auto kept = std::make_shared<int>();
  const std::weak_ptr<int> seen = kept;
  std::binary_semaphore go{0};
  reaper.Run([kept = std::move(kept), &go]() mutable {
    go.acquire();
    EXPECT_EQ(kept.use_count(), 1) << "the caller, or the frame of Run, would have to end it";
  });
  EXPECT_FALSE(seen.expired());
  go.release();
  reaper.Join();
  EXPECT_TRUE(seen.expired());
}

TEST(ReaperTest, ManyOneAfterTheOther) {
  Reaper reaper;
  std::atomic<int> done{0};
  for (int i = 0; i < 200; ++i) reaper.Run([&] { ++done; });
  reaper.Join();
  EXPECT_EQ(done, 200);
  reaper.Run([&] { ++done; });
  reaper.Join();
  EXPECT_EQ(done, 201);
}

}  // namespace
}  // namespace softdat::verbs
