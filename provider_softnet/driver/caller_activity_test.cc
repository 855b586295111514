// SPDX-License-Identifier: BSD-3-Clause
#include "provider_softnet/driver/caller_activity.h"

#include <gtest/gtest.h>

namespace softdat::softnet {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// A counter of 3 GHz.
constexpr uint64_t kPerMs = 3'000'000;
constexpr uint64_t kStart = 77;

class CallerActivityTest : public testing::Test {
 protected:
  // At so many microseconds.
  void NoteAt(uint64_t us) { activity_.Note(Count(us)); }
  microseconds SilentAt(uint64_t us) {
    return std::chrono::round<microseconds>(
        activity_.SilentFor(kBegin + microseconds(us), Count(us)));
  }

  static constexpr CallerActivity::Time kBegin{std::chrono::hours(1)};
  static uint64_t Count(uint64_t us) { return kStart + us * kPerMs / 1000; }
  CallerActivity activity_{kBegin, kStart};
};

TEST_F(CallerActivityTest, TellsHowLongNobodyHasCalled) {
  NoteAt(500);
  EXPECT_EQ(SilentAt(2000), microseconds(1500));
  EXPECT_EQ(SilentAt(4000), microseconds(3500));
  NoteAt(4100);
  EXPECT_EQ(SilentAt(4100), microseconds(0));
}

// What threads that call all the time do not store is some tens of microseconds.
TEST_F(CallerActivityTest, IsOnlyALittleTooLong) {
  for (uint64_t us = 0; us <= 1000; ++us) NoteAt(us);
  EXPECT_GE(SilentAt(1000), microseconds(0));
  EXPECT_LT(SilentAt(1100), microseconds(100 + 50));
}

TEST_F(CallerActivityTest, WhoHasNeverCalledIsSilent) {
  activity_.SilentFor(kBegin + milliseconds(2), Count(2000));
  EXPECT_GE(SilentAt(4000), microseconds(4000));
}

// A virtual machine goes to a host whose counter has begun anew.
TEST_F(CallerActivityTest, ACounterThatIsSetBackMakesNobodyActiveForEver) {
  NoteAt(500'000);
  EXPECT_EQ(SilentAt(500'000), microseconds(0));
  EXPECT_EQ(activity_.SilentFor(kBegin + milliseconds(501), 1000), CallerActivity::kLongest);
  EXPECT_EQ(activity_.SilentFor(kBegin + milliseconds(502), 1000 + kPerMs),
            CallerActivity::kLongest);
  activity_.Note(1000 + kPerMs);
  EXPECT_EQ(activity_.SilentFor(kBegin + milliseconds(503), 1000 + 2 * kPerMs), milliseconds(1));
}

// Counters of two processors differ a little.
TEST_F(CallerActivityTest, ACallInTheFutureIsNow) {
  activity_.Note(Count(1000) + 1000);
  EXPECT_EQ(SilentAt(1000), microseconds(0));
}

}  // namespace
}  // namespace softdat::softnet
