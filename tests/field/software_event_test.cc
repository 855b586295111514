// SPDX-License-Identifier: BSD-3-Clause
// Several threads post software events into one EVD. None is lost, each thread's events stay in
// order, and the thread that posts is told of a full queue (semantics 5.6).
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

constexpr uint64_t kThreads = 4;
constexpr uint64_t kEach = 5'000;

// Posts kEach numbered events of one thread, and counts how often the queue was full.
void Produce(DAT_EVD_HANDLE evd, uint64_t thread, std::atomic<uint64_t>* full) {
  for (uint64_t i = 0; i < kEach; ++i) {
    for (;;) {
      const DAT_RETURN ret = PostNumber(evd, thread << 32 | i);
      if (ret == DAT_SUCCESS) break;
      ASSERT_EQ(DAT_GET_TYPE(ret), DAT_RETURN{DAT_QUEUE_FULL}) << Text(ret);
      ++*full;
      std::this_thread::yield();
    }
  }
}

class SoftwareEventTest : public testing::Test {
 protected:
  void Start(DAT_EVD_HANDLE evd) {
    for (uint64_t t = 0; t < kThreads; ++t) {
      producers_.emplace_back([this, evd, t] { Produce(evd, t, &full_); });
    }
  }
  void Join() {
    for (std::jthread& t : producers_) t.join();
  }
  // Checks that the event is the next one of its thread.
  void Take(const DAT_EVENT& event) {
    ASSERT_EQ(event.event_number, DAT_SOFTWARE_EVENT);
    const uint64_t thread = NumberOf(event) >> 32;
    ASSERT_LT(thread, kThreads);
    ASSERT_EQ(NumberOf(event) & 0xffff'ffff, next_[thread]);
    ++next_[thread];
    ++taken_;
  }

  Ia ia_;
  std::array<uint64_t, kThreads> next_{};
  std::atomic<uint64_t> full_{0};
  uint64_t taken_ = 0;
  std::vector<std::jthread> producers_;  // last: they use the members above
};

// covers: semantics 5.6
TEST_F(SoftwareEventTest, OneThreadWaits) {
  const DAT_EVD_HANDLE evd = ia_.NewEvd(DAT_EVD_SOFTWARE_FLAG, 32);
  Start(evd);
  while (taken_ < kThreads * kEach) {
    DAT_EVENT event{};
    if (!Await(evd, &event)) break;
    Take(event);
  }
  Join();
  EXPECT_EQ(taken_, kThreads * kEach);
  DAT_EVENT event{};
  EXPECT_DAT_TYPE(dat_evd_dequeue(evd, &event), DAT_QUEUE_EMPTY);
  // A full queue is reported only to the poster, and is no asynchronous error.
  EXPECT_DAT_TYPE(dat_evd_dequeue(ia_.async_evd(), &event), DAT_QUEUE_EMPTY);
  EXPECT_DAT_OK(dat_evd_free(evd));
}

// covers: semantics 5.6, 6
TEST_F(SoftwareEventTest, OneThreadWaitsOnACno) {
  client::Cno cno;
  ASSERT_DAT_OK(cno.Create(ia_));
  const DAT_EVD_HANDLE evd = ia_.NewEvd(DAT_EVD_SOFTWARE_FLAG, 32, cno);
  Start(evd);
  while (taken_ < kThreads * kEach) {
    DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
    const DAT_RETURN ret = dat_cno_wait(cno, kPatienceUs, &hint);
    EXPECT_EQ(ret, DAT_SUCCESS) << taken_ << " taken: " << Text(ret);
    if (ret != DAT_SUCCESS) break;
    DAT_EVENT event{};
    while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS) Take(event);
  }
  Join();
  EXPECT_EQ(taken_, kThreads * kEach);
  EXPECT_DAT_OK(dat_evd_free(evd));
  EXPECT_DAT_OK(cno.Free());
}

// Software events of other threads reach a thread that moves data, on the EVD of its receives.
// covers: semantics 5.6
TEST_F(SoftwareEventTest, AmongCompletions) {
  Memory memory(ia_, 4096);
  End a(ia_);
  End b(ia_);
  const DAT_EVD_HANDLE evd = ia_.NewEvd(DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, 64);
  EXPECT_DAT_OK(b.ep.Free());
  ASSERT_DAT_OK(b.ep.Create(ia_, ia_.pz(), {evd, b.request_evd, b.connect_evd}));
  ASSERT_TRUE(field::Join(a, b));
  constexpr uint64_t kMessages = 500;
  ASSERT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), 0));
  ASSERT_DAT_OK(PostSend(a.ep, memory.Local(8, 8), 0, DAT_COMPLETION_SUPPRESS_FLAG));
  Start(evd);
  uint64_t messages = 0;
  while (taken_ < kThreads * kEach || messages < kMessages) {
    DAT_EVENT event{};
    if (!Await(evd, &event)) break;
    if (event.event_number == DAT_SOFTWARE_EVENT) {
      Take(event);
      continue;
    }
    ASSERT_EQ(event.event_number, DAT_DTO_COMPLETION_EVENT);
    ASSERT_EQ(event.event_data.dto_completion_event_data.user_cookie.as_64, messages);
    if (++messages == kMessages) continue;
    EXPECT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), messages));
    EXPECT_DAT_OK(PostSend(a.ep, memory.Local(8, 8), messages, DAT_COMPLETION_SUPPRESS_FLAG));
  }
  Join();
  EXPECT_EQ(taken_, kThreads * kEach);
  EXPECT_EQ(messages, kMessages);
  EXPECT_DAT_OK(b.ep.Free());
  EXPECT_DAT_OK(dat_evd_free(evd));
}

}  // namespace
}  // namespace softdat::field
