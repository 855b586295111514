// SPDX-License-Identifier: BSD-3-Clause
// Scopes without cancellation, and the place inside one where a thread may be cancelled again.
#include "dat/base/cancel.h"

#include <gtest/gtest.h>
#include <pthread.h>

namespace softdat {
namespace {

// The calling thread's state. The only way to read it is to set it.
int State() {
  int now = -1;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &now);
  pthread_setcancelstate(now, nullptr);
  return now;
}

TEST(CancelTest, OffInTheScopeAndAsBeforeBehindIt) {
  ASSERT_EQ(State(), PTHREAD_CANCEL_ENABLE);
  {
    const CancelOff off;
    EXPECT_EQ(State(), PTHREAD_CANCEL_DISABLE);
    EXPECT_EQ(off.before(), PTHREAD_CANCEL_ENABLE);
  }
  EXPECT_EQ(State(), PTHREAD_CANCEL_ENABLE);
}

TEST(CancelTest, RestoredForTheSleepOnly) {
  const CancelOff off;
  {
    const CancelRestored restored(off);
    EXPECT_EQ(State(), PTHREAD_CANCEL_ENABLE);
  }
  EXPECT_EQ(State(), PTHREAD_CANCEL_DISABLE);
}

// A consumer that has switched cancellation off itself is not cancelled while it sleeps, either.
TEST(CancelTest, WhatTheCallerHadSwitchedOffStaysOff) {
  const CancelOff callers;
  const CancelOff off;
  const CancelRestored restored(off);
  EXPECT_EQ(State(), PTHREAD_CANCEL_DISABLE);
}

}  // namespace
}  // namespace softdat
