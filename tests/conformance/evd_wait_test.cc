// SPDX-License-Identifier: BSD-3-Clause
// Event dispatchers: waiting, thresholds, states, software events, overflow (semantics 5).
#include <chrono>
#include <thread>

#include "tests/conformance/evd_waiter.h"
#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

using Clock = std::chrono::steady_clock;

// Later than a wait of some milliseconds ends, even on a very busy machine, and earlier than a wait
// that takes its timeout in a wrong unit.
constexpr auto kLate = std::chrono::seconds(8);

class EvdTest : public ConformanceTest {
 protected:
  void SetUp() override {
    ConformanceTest::SetUp();
    se_ = a_->MakeEvd(DAT_EVD_SOFTWARE_FLAG, 8);
  }
  static DAT_RETURN PostSe(DAT_EVD_HANDLE evd, uintptr_t value) {
    DAT_EVENT event{};
    event.event_number = DAT_SOFTWARE_EVENT;
    event.event_data.software_event_data.pointer = reinterpret_cast<void*>(value);
    return dat_evd_post_se(evd, &event);
  }
  static uintptr_t ValueOf(const DAT_EVENT& event) {
    return reinterpret_cast<uintptr_t>(event.event_data.software_event_data.pointer);
  }
  DAT_RETURN Wait(DAT_TIMEOUT timeout_us, DAT_COUNT threshold = 1) {
    return dat_evd_wait(se_, timeout_us, threshold, &event_, &nmore_);
  }
  DAT_COUNT Length(DAT_EVD_HANDLE evd) {
    DAT_EVD_PARAM param{};
    EXPECT_OK(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
    return param.evd_qlen;
  }
  std::unique_ptr<EvdWaiter> StartWaiter(DAT_COUNT threshold = 1) {
    return std::make_unique<EvdWaiter>(se_, threshold);
  }

  DAT_EVD_HANDLE se_ = DAT_HANDLE_NULL;
  DAT_EVENT event_{};
  DAT_COUNT nmore_ = -1;
};
CONFORMANCE_FAMILIES(EvdTest);

// covers: semantics 5.3, 19
TEST_P(EvdTest, TimeoutsExpireOnTime) {
  EXPECT_TYPE(Wait(0), DAT_TIMEOUT_EXPIRED);
  const Clock::time_point before = Clock::now();
  EXPECT_TYPE(Wait(30'000), DAT_TIMEOUT_EXPIRED);
  const Clock::duration waited = Clock::now() - before;
  EXPECT_GE(waited, std::chrono::milliseconds(30));
  EXPECT_LT(waited, kLate);
  EXPECT_EQ(nmore_, 0);
  for (const DAT_EVD_HANDLE evd : {a_->cr_evd, a_->connect_evd, a_->recv_evd, a_->request_evd}) {
    EXPECT_TYPE(dat_evd_wait(evd, 0, 1, &event_, &nmore_), DAT_TIMEOUT_EXPIRED);
    EXPECT_TYPE(dat_evd_wait(evd, 10'000, 1, &event_, &nmore_), DAT_TIMEOUT_EXPIRED);
  }
  EXPECT_LT(Clock::now() - before, kLate);
}

// covers: semantics 5.3
TEST_P(EvdTest, WaitTakesTheOldestAndTellsHowManyAreLeft) {
  for (uintptr_t i = 1; i <= 5; ++i) ASSERT_OK(PostSe(se_, i));
  ASSERT_OK(Wait(0));
  EXPECT_EQ(ValueOf(event_), 1u);
  EXPECT_EQ(event_.evd_handle, se_);
  EXPECT_EQ(event_.event_number, DAT_SOFTWARE_EVENT);
  EXPECT_EQ(nmore_, 4);
  ASSERT_OK(Wait(0, 4));
  EXPECT_EQ(ValueOf(event_), 2u);
  EXPECT_EQ(nmore_, 3);
  // There are fewer events than the threshold: nothing is taken, and nmore tells how many there
  // are.
  EXPECT_TYPE(Wait(5'000, 4), DAT_TIMEOUT_EXPIRED);
  EXPECT_EQ(nmore_, 3);
  ASSERT_OK(dat_evd_dequeue(se_, &event_));
  EXPECT_EQ(ValueOf(event_), 3u);
}

// covers: semantics 5.3
TEST_P(EvdTest, AThresholdWaitEndsWhenItIsReached) {
  const auto waiter = StartWaiter(3);
  for (uintptr_t i = 1; i <= 3; ++i) ASSERT_OK(PostSe(se_, i));
  waiter->Join();
  EXPECT_OK(waiter->ret);
  EXPECT_EQ(ValueOf(waiter->event), 1u);
  EXPECT_GE(waiter->nmore, 2);
  EXPECT_EQ(Side::Drain(se_).size(), 2u);
}

// covers: semantics 5.3, 5.4, 17
TEST_P(EvdTest, BadArgumentsAreNamed) {
  EXPECT_RETURN(Wait(0, 0), BadArgument(3));
  EXPECT_RETURN(Wait(0, -1), BadArgument(3));
  EXPECT_RETURN(Wait(0, Length(se_) + 1), BadArgument(3));
  EXPECT_RETURN(dat_evd_wait(se_, 0, 1, nullptr, &nmore_), BadArgument(4));
  EXPECT_RETURN(dat_evd_wait(se_, 0, 1, &event_, nullptr), BadArgument(5));
  EXPECT_RETURN(dat_evd_dequeue(se_, nullptr), BadArgument(2));
  EXPECT_RETURN(dat_evd_resize(se_, 0), BadArgument(2));
  EXPECT_RETURN(dat_evd_resize(se_, -1), BadArgument(2));
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  EXPECT_RETURN(dat_evd_create(a_->ia, 0, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd), BadArgument(2));
  EXPECT_RETURN(dat_evd_create(a_->ia, -5, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd),
                BadArgument(2));
  EXPECT_RETURN(dat_evd_create(a_->ia, 8, DAT_HANDLE_NULL, static_cast<DAT_EVD_FLAGS>(0x2), &evd),
                BadArgument(4));
  EXPECT_RETURN(dat_evd_create(a_->ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, nullptr),
                BadArgument(5));
}

// An empty DTO EVD returns the bare type. Any other EVD returns the class bits too.
// covers: semantics 1, 5.4, 19
TEST_P(EvdTest, EmptyIsSpeltAsProgramsExpect) {
  EXPECT_EQ(static_cast<DAT_UINT32>(dat_evd_dequeue(a_->recv_evd, &event_)), 0x000D0000u);
  EXPECT_EQ(static_cast<DAT_UINT32>(dat_evd_dequeue(a_->request_evd, &event_)), 0x000D0000u);
  EXPECT_EQ(static_cast<DAT_UINT32>(dat_evd_dequeue(a_->connect_evd, &event_)), 0x800D0000u);
  EXPECT_EQ(static_cast<DAT_UINT32>(dat_evd_dequeue(se_, &event_)), 0x800D0000u);
}

// covers: semantics 5.3, 5.4
TEST_P(EvdTest, OneThreadWaitsAtATime) {
  const auto waiter = StartWaiter();
  EXPECT_TYPE(Wait(0), DAT_INVALID_STATE);
  EXPECT_TYPE(dat_evd_dequeue(se_, &event_), DAT_INVALID_STATE);
  EXPECT_TYPE(dat_evd_free(se_), DAT_INVALID_STATE);
  ASSERT_OK(PostSe(se_, 9));
  waiter->Join();
  EXPECT_OK(waiter->ret);
  EXPECT_EQ(ValueOf(waiter->event), 9u);
  EXPECT_EQ(waiter->nmore, 0);
}

// covers: semantics 5.2, 5.4
TEST_P(EvdTest, SetUnwaitableEndsTheWaitAndLeavesDequeue) {
  const auto waiter = StartWaiter();
  ASSERT_OK(dat_evd_set_unwaitable(se_));
  waiter->Join();
  EXPECT_RETURN(waiter->ret, BadState(DAT_INVALID_STATE_EVD_UNWAITABLE));
  EXPECT_RETURN(Wait(0), BadState(DAT_INVALID_STATE_EVD_UNWAITABLE));
  EXPECT_OK(dat_evd_set_unwaitable(se_));
  ASSERT_OK(PostSe(se_, 4));
  ASSERT_OK(dat_evd_dequeue(se_, &event_));
  EXPECT_EQ(ValueOf(event_), 4u);
  DAT_EVD_PARAM param{};
  ASSERT_OK(dat_evd_query(se_, DAT_EVD_FIELD_ALL, &param));
  EXPECT_NE(param.evd_state & DAT_EVD_STATE_UNWAITABLE, 0);
  EXPECT_OK(dat_evd_clear_unwaitable(se_));
  EXPECT_OK(dat_evd_clear_unwaitable(se_));
  EXPECT_TYPE(Wait(0), DAT_TIMEOUT_EXPIRED);
}

// covers: semantics 5.2, 5.4
TEST_P(EvdTest, DisabledEvdsStillDeliver) {
  ASSERT_OK(dat_evd_disable(se_));
  ASSERT_OK(dat_evd_disable(se_));
  DAT_EVD_PARAM param{};
  ASSERT_OK(dat_evd_query(se_, DAT_EVD_FIELD_ALL, &param));
  EXPECT_NE(param.evd_state & DAT_EVD_STATE_DISABLED, 0);
  ASSERT_OK(PostSe(se_, 1));
  ASSERT_OK(Wait(0));
  ASSERT_OK(dat_evd_enable(se_));
  ASSERT_OK(dat_evd_enable(se_));
  ASSERT_OK(dat_evd_query(se_, DAT_EVD_FIELD_ALL, &param));
  EXPECT_NE(param.evd_state & DAT_EVD_STATE_ENABLED, 0);
  EXPECT_NE(param.evd_state & DAT_EVD_STATE_WAITABLE, 0);
}

// covers: semantics 5.6
TEST_P(EvdTest, SoftwareEventsAreCheckedAndCopied) {
  DAT_EVENT event{};
  event.event_number = DAT_SOFTWARE_EVENT;
  EXPECT_RETURN(dat_evd_post_se(a_->connect_evd, &event), BadArgument(1));
  EXPECT_RETURN(dat_evd_post_se(se_, nullptr), BadArgument(2));
  event.event_number = DAT_DTO_COMPLETION_EVENT;
  EXPECT_RETURN(dat_evd_post_se(se_, &event), BadArgument(2));
  EXPECT_TYPE(Wait(0), DAT_TIMEOUT_EXPIRED);
}

// covers: semantics 5.6
TEST_P(EvdTest, AFullQueueRefusesSoftwareEventsAndStaysHealthy) {
  const DAT_COUNT length = Length(se_);
  for (DAT_COUNT i = 0; i < length; ++i) ASSERT_OK(PostSe(se_, static_cast<uintptr_t>(i)));
  EXPECT_TYPE(PostSe(se_, 99), DAT_QUEUE_FULL);
  EXPECT_TRUE(Side::Drain(a_->async_evd).empty()) << "no overflow event for the caller's own post";
  for (DAT_COUNT i = 0; i < length; ++i) {
    ASSERT_OK(dat_evd_dequeue(se_, &event_));
    EXPECT_EQ(ValueOf(event_), static_cast<uintptr_t>(i));
  }
  ASSERT_OK(PostSe(se_, 5));
  ASSERT_OK(Wait(0));
}

// covers: semantics 5.2
TEST_P(EvdTest, ResizeNeverLosesEvents) {
  for (uintptr_t i = 0; i < 6; ++i) ASSERT_OK(PostSe(se_, i));
  EXPECT_TYPE(dat_evd_resize(se_, 5), DAT_INVALID_STATE);
  ASSERT_OK(dat_evd_resize(se_, 100));
  EXPECT_GE(Length(se_), 100);
  for (uintptr_t i = 6; i < 100; ++i) ASSERT_OK(PostSe(se_, i));
  for (uintptr_t i = 0; i < 100; ++i) {
    ASSERT_OK(dat_evd_dequeue(se_, &event_));
    EXPECT_EQ(ValueOf(event_), i);
  }
  ASSERT_OK(dat_evd_resize(se_, 2));
}

// covers: semantics 5.8
TEST_P(EvdTest, OverflowIsReportedOnTheAsyncEvd) {
  const DAT_EVD_HANDLE small = b_->MakeEvd(DAT_EVD_DTO_FLAG, 1);
  const DAT_COUNT length = Length(small);
  DAT_EP_ATTR attr{};
  attr.max_recv_dtos = attr.max_request_dtos = length + 8;
  attr.max_recv_iov = attr.max_request_iov = 1;
  DAT_EP_HANDLE passive = DAT_HANDLE_NULL;
  ASSERT_OK(
      dat_ep_create(b_->ia, b_->pz, small, b_->request_evd, b_->connect_evd, &attr, &passive));
  for (DAT_COUNT i = 0; i < length + 4; ++i)
    ASSERT_OK(PostRecv(passive, {}, static_cast<uint64_t>(i)));
  const DAT_EP_HANDLE active = a_->MakeEp(&attr);
  Join(*a_, active, *b_, passive);
  for (DAT_COUNT i = 0; i < length + 4; ++i)
    ASSERT_OK(PostSend(active, {}, static_cast<uint64_t>(i)));
  DAT_COUNT nmore = 0;
  DAT_EVENT event{};
  ASSERT_OK(dat_evd_wait(b_->async_evd, kPatienceUs, 1, &event, &nmore));
  EXPECT_EQ(event.event_number, DAT_ASYNC_ERROR_EVD_OVERFLOW);
  EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, small);
  EXPECT_EQ(event.event_data.asynch_error_event_data.reason, DAT_EVD_OVERFLOW_ERROR);
  // The events that had room are there, in order.
  for (DAT_COUNT i = 0; i < length; ++i) {
    ASSERT_OK(dat_evd_dequeue(small, &event));
    EXPECT_EQ(event.event_data.dto_completion_event_data.user_cookie.as_64,
              static_cast<uint64_t>(i));
  }
  EXPECT_OK(dat_ep_free(passive));
}

// covers: semantics 3.1, 5.3
TEST_P(EvdTest, AnAbruptCloseReleasesTheWaiter) {
  std::string name = TheOptions().ia;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  ASSERT_OK(dat_ia_open(name.data(), 8, &async, &ia));
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  ASSERT_OK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd));
  DAT_RETURN ret = DAT_SUCCESS;
  std::thread thread([&] {
    DAT_EVENT event{};
    DAT_COUNT nmore = 0;
    ret = dat_evd_wait(evd, kPatienceUs, 1, &event, &nmore);
  });
  DAT_EVENT event{};
  while (DAT_GET_TYPE(dat_evd_dequeue(evd, &event)) != DAT_INVALID_STATE) std::this_thread::yield();
  ASSERT_OK(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
  thread.join();
  EXPECT_TYPE(ret, DAT_ABORT);
}

// covers: semantics 3.1
TEST_P(EvdTest, AnEvdInUseIsNotFreed) {
  EXPECT_RETURN(dat_evd_free(a_->recv_evd), BadState(DAT_INVALID_STATE_EVD_IN_USE));
  EXPECT_RETURN(dat_evd_free(a_->connect_evd), BadState(DAT_INVALID_STATE_EVD_IN_USE));
  EXPECT_RETURN(dat_evd_free(a_->async_evd), BadState(DAT_INVALID_STATE_EVD_IN_USE));
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*a_, &qualifier);
  EXPECT_RETURN(dat_evd_free(a_->cr_evd), BadState(DAT_INVALID_STATE_EVD_IN_USE));
  EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 5.1
TEST_P(EvdTest, OneEvdTakesEveryStream) {
  DAT_EVD_HANDLE all = DAT_HANDLE_NULL;
  ASSERT_OK(dat_evd_create(a_->ia, 32, DAT_HANDLE_NULL,
                           static_cast<DAT_EVD_FLAGS>(DAT_EVD_DEFAULT_FLAG | DAT_EVD_SOFTWARE_FLAG),
                           &all));
  DAT_EP_HANDLE active = DAT_HANDLE_NULL, passive = DAT_HANDLE_NULL;
  ASSERT_OK(dat_ep_create(a_->ia, a_->pz, all, all, all, nullptr, &active));
  ASSERT_OK(dat_ep_create(a_->ia, a_->pz, all, all, all, nullptr, &passive));
  DAT_CONN_QUAL qualifier = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  ASSERT_OK(dat_psp_create_any(a_->ia, &qualifier, all, DAT_PSP_CONSUMER_FLAG, &psp));
  ASSERT_OK(PostSe(all, 1));
  a_->Expect(all, DAT_SOFTWARE_EVENT);
  ASSERT_OK(Connect(active, qualifier));
  const DAT_EVENT request = a_->Expect(all, DAT_CONNECTION_REQUEST_EVENT);
  ASSERT_OK(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, passive, 0, nullptr));
  a_->Expect(all, DAT_CONNECTION_EVENT_ESTABLISHED);
  a_->Expect(all, DAT_CONNECTION_EVENT_ESTABLISHED);
  ASSERT_OK(PostRecv(passive, {}, 1));
  ASSERT_OK(PostSend(active, {}, 2));
  a_->Expect(all, DAT_DTO_COMPLETION_EVENT);
  a_->Expect(all, DAT_DTO_COMPLETION_EVENT);
  EXPECT_OK(dat_ep_free(active));
  a_->Expect(all, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_OK(dat_ep_free(passive));
  EXPECT_OK(dat_psp_free(psp));
  EXPECT_OK(dat_evd_free(all));
}

}  // namespace
}  // namespace softdat::conformance
