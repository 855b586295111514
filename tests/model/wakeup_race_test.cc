// SPDX-License-Identifier: BSD-3-Clause
// No wake-up is lost: events arrive at every moment of arming, waiting and leaving (semantics 5.3,
// 6).
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "dat2/udat.h"

namespace softdat::model {
namespace {

// Longer than any scheduling delay, so a wait that reaches it has lost a wake-up.
constexpr DAT_TIMEOUT kLostUs = 20'000'000;
constexpr uint64_t kEvents = 250'000;

class WakeupRaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "toy-0";
    ASSERT_EQ(dat_ia_open(name, 8, &async_, &ia_), DAT_SUCCESS);
    ASSERT_EQ(dat_cno_create(ia_, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno_), DAT_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(dat_cno_free(cno_), DAT_SUCCESS);
    EXPECT_EQ(dat_ia_close(ia_, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
  }
  DAT_EVD_HANDLE NewEvd(DAT_CNO_HANDLE cno) {
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    EXPECT_EQ(dat_evd_create(ia_, 4, cno, DAT_EVD_SOFTWARE_FLAG, &evd), DAT_SUCCESS);
    return evd;
  }
  // Posts `count` events numbered from 1. Tries again while the queue is full.
  static void Produce(DAT_EVD_HANDLE evd, uint64_t count) {
    DAT_EVENT event{};
    event.event_number = DAT_SOFTWARE_EVENT;
    for (uint64_t i = 1; i <= count; ++i) {
      event.event_data.software_event_data.pointer = reinterpret_cast<void*>(i);
      while (DAT_GET_TYPE(dat_evd_post_se(evd, &event)) == DAT_QUEUE_FULL)
        std::this_thread::yield();
    }
  }

  DAT_IA_HANDLE ia_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_ = DAT_HANDLE_NULL;
  DAT_CNO_HANDLE cno_ = DAT_HANDLE_NULL;
};

// covers: semantics 5.3
TEST_F(WakeupRaceTest, WaitOnAnEvd) {
  DAT_EVD_HANDLE evd = NewEvd(DAT_HANDLE_NULL);
  std::thread producer([evd] { Produce(evd, kEvents); });
  for (uint64_t i = 1; i <= kEvents; ++i) {
    DAT_EVENT event{};
    DAT_COUNT nmore = 0;
    const DAT_RETURN ret = dat_evd_wait(evd, kLostUs, 1, &event, &nmore);
    EXPECT_EQ(ret, DAT_SUCCESS) << "at event " << i;
    EXPECT_EQ(event.event_data.software_event_data.pointer, reinterpret_cast<void*>(i));
    if (ret != DAT_SUCCESS) break;
  }
  producer.join();
  EXPECT_EQ(dat_evd_free(evd), DAT_SUCCESS);
}

// covers: semantics 5.3
TEST_F(WakeupRaceTest, WaitForAThreshold) {
  DAT_EVD_HANDLE evd = NewEvd(DAT_HANDLE_NULL);
  std::thread producer([evd] { Produce(evd, kEvents); });
  uint64_t seen = 0;
  while (seen < kEvents) {
    DAT_EVENT event{};
    DAT_COUNT nmore = 0;
    const auto threshold = static_cast<DAT_COUNT>(1 + seen % std::min<uint64_t>(4, kEvents - seen));
    const DAT_RETURN ret = dat_evd_wait(evd, kLostUs, threshold, &event, &nmore);
    EXPECT_EQ(ret, DAT_SUCCESS) << "after " << seen << " events, threshold " << threshold;
    if (ret != DAT_SUCCESS) break;
    EXPECT_GE(nmore, threshold - 1);
    ++seen;
  }
  producer.join();
  EXPECT_EQ(dat_evd_free(evd), DAT_SUCCESS);
}

// Three producers, each with its own EVD, on one CNO. One consumer waits on the CNO, empties all
// EVDs, and waits again. An event that arrives meanwhile must wake it.
// covers: semantics 6
TEST_F(WakeupRaceTest, ThreeEvdsOnOneCno) {
  std::vector<DAT_EVD_HANDLE> evds = {NewEvd(cno_), NewEvd(cno_), NewEvd(cno_)};
  std::vector<std::thread> producers;
  for (DAT_EVD_HANDLE evd : evds) producers.emplace_back([evd] { Produce(evd, kEvents / 3); });
  uint64_t left = kEvents / 3 * 3;
  while (left > 0) {
    DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
    const DAT_RETURN ret = dat_cno_wait(cno_, kLostUs, &hint);
    EXPECT_EQ(ret, DAT_SUCCESS) << left << " events left";
    if (ret != DAT_SUCCESS) break;
    // The EVD is only a hint, so all are polled until they are empty.
    for (DAT_EVD_HANDLE evd : evds) {
      DAT_EVENT event{};
      while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS) --left;
    }
  }
  for (std::thread& t : producers) t.join();
  for (DAT_EVD_HANDLE evd : evds) EXPECT_EQ(dat_evd_free(evd), DAT_SUCCESS);
}

// Two threads wait on the CNO. Together they see every event.
// covers: semantics 6
TEST_F(WakeupRaceTest, TwoWaitersOnOneCno) {
  DAT_EVD_HANDLE evd = NewEvd(cno_);
  std::atomic<uint64_t> left{kEvents};
  const auto consume = [&] {
    while (left.load() > 0) {
      DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
      dat_cno_wait(cno_, 50'000, &hint);
      DAT_EVENT event{};
      while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS) left.fetch_sub(1);
    }
  };
  std::thread first(consume);
  std::thread second(consume);
  Produce(evd, kEvents);
  first.join();
  second.join();
  EXPECT_EQ(left.load(), 0u);
  EXPECT_EQ(dat_evd_free(evd), DAT_SUCCESS);
}

}  // namespace
}  // namespace softdat::model
