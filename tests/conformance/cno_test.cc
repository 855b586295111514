// SPDX-License-Identifier: BSD-3-Clause
// Consumer notification objects and their agents (semantics 6).
#include <atomic>
#include <thread>

#include "tests/conformance/evd_waiter.h"
#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class CnoTest : public ConformanceTest {
 protected:
  void SetUp() override {
    ConformanceTest::SetUp();
    ASSERT_OK(dat_cno_create(a_->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno_));
    for (DAT_EVD_HANDLE& evd : evds_) {
      ASSERT_OK(dat_evd_create(a_->ia, 8, cno_, DAT_EVD_SOFTWARE_FLAG, &evd));
    }
  }
  void TearDown() override {
    for (const DAT_EVD_HANDLE evd : evds_) EXPECT_OK(dat_evd_free(evd));
    EXPECT_OK(dat_cno_free(cno_));
    ConformanceTest::TearDown();
  }
  static DAT_RETURN PostSe(DAT_EVD_HANDLE evd) {
    DAT_EVENT event{};
    event.event_number = DAT_SOFTWARE_EVENT;
    return dat_evd_post_se(evd, &event);
  }
  DAT_RETURN Wait(DAT_TIMEOUT timeout_us) { return dat_cno_wait(cno_, timeout_us, &hint_); }

  DAT_CNO_HANDLE cno_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE evds_[2] = {};
  DAT_EVD_HANDLE hint_ = DAT_HANDLE_NULL;
};
CONFORMANCE_FAMILIES(CnoTest);

// covers: semantics 6
TEST_P(CnoTest, AnEventTriggersOnceAndIsNamed) {
  ASSERT_OK(PostSe(evds_[1]));
  ASSERT_OK(Wait(kPatienceUs));
  EXPECT_EQ(hint_, evds_[1]);
  EXPECT_TYPE(Wait(kSilenceUs), DAT_QUEUE_EMPTY);
  EXPECT_EQ(hint_, DAT_HANDLE_NULL);
  EXPECT_EQ(Side::Drain(evds_[1]).size(), 1u);
}

// covers: semantics 6
TEST_P(CnoTest, TriggersWhileTriggeredAreAbsorbed) {
  ASSERT_OK(PostSe(evds_[0]));
  ASSERT_OK(PostSe(evds_[1]));
  ASSERT_OK(PostSe(evds_[0]));
  ASSERT_OK(Wait(0));
  EXPECT_TYPE(Wait(kSilenceUs), DAT_QUEUE_EMPTY);
  // The hint names one of the EVDs. The program looks at all of them.
  EXPECT_EQ(Side::Drain(evds_[0]).size() + Side::Drain(evds_[1]).size(), 3u);
}

// covers: semantics 6
TEST_P(CnoTest, TimeoutsExpire) {
  EXPECT_TYPE(Wait(0), DAT_QUEUE_EMPTY);
  EXPECT_TYPE(Wait(10'000), DAT_QUEUE_EMPTY);
  EXPECT_RETURN(dat_cno_wait(cno_, 0, nullptr), BadArgument(3));
}

// covers: semantics 6
TEST_P(CnoTest, AWaitingThreadIsWoken) {
  std::atomic<bool> entered{false};
  DAT_RETURN ret = DAT_SUCCESS;
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  std::thread thread([&] {
    entered = true;
    ret = dat_cno_wait(cno_, kPatienceUs, &hint);
  });
  while (!entered) std::this_thread::yield();
  ASSERT_OK(PostSe(evds_[0]));
  thread.join();
  EXPECT_OK(ret);
  EXPECT_EQ(hint, evds_[0]);
  EXPECT_EQ(Side::Drain(evds_[0]).size(), 1u);
}

// covers: semantics 5.2, 6
TEST_P(CnoTest, ADisabledEvdDoesNotTrigger) {
  ASSERT_OK(dat_evd_disable(evds_[0]));
  ASSERT_OK(PostSe(evds_[0]));
  EXPECT_TYPE(Wait(kSilenceUs), DAT_QUEUE_EMPTY);
  // The EVD was enabled with something queued. One wake-up too many is allowed, a lost one is not.
  ASSERT_OK(dat_evd_enable(evds_[0]));
  EXPECT_OK(Wait(kPatienceUs));
  EXPECT_EQ(Side::Drain(evds_[0]).size(), 1u);
}

// covers: semantics 5.2, 6
TEST_P(CnoTest, TheCnoOfAnEvdCanBeChangedAndTakenAway) {
  DAT_CNO_HANDLE other = DAT_HANDLE_NULL;
  ASSERT_OK(dat_cno_create(a_->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &other));
  EXPECT_RETURN(dat_cno_free(cno_), BadState(DAT_INVALID_STATE_CNO_IN_USE));
  ASSERT_OK(dat_evd_modify_cno(evds_[0], other));
  ASSERT_OK(PostSe(evds_[0]));
  EXPECT_TYPE(Wait(kSilenceUs), DAT_QUEUE_EMPTY);
  ASSERT_OK(dat_cno_wait(other, kPatienceUs, &hint_));
  EXPECT_EQ(hint_, evds_[0]);
  ASSERT_OK(dat_evd_modify_cno(evds_[0], DAT_HANDLE_NULL));
  ASSERT_OK(dat_cno_free(other));
  ASSERT_OK(PostSe(evds_[0]));
  EXPECT_EQ(Side::Drain(evds_[0]).size(), 2u);
}

struct Agent {
  std::atomic<int> calls{0};
  std::atomic<DAT_EVD_HANDLE> evd{nullptr};
  static void Call(DAT_PVOID data, DAT_EVD_HANDLE handle) {
    auto* const agent = static_cast<Agent*>(data);
    agent->evd = handle;
    agent->calls.fetch_add(1);
  }
};

// covers: semantics 6
TEST_P(CnoTest, AnAgentIsCalledOncePerArming) {
  Agent agent;
  DAT_OS_WAIT_PROXY_AGENT proxy{&agent, &Agent::Call};
  ASSERT_OK(dat_cno_modify_agent(cno_, proxy));
  DAT_CNO_PARAM param{};
  ASSERT_OK(dat_cno_query(cno_, DAT_CNO_FIELD_ALL, &param));
  EXPECT_EQ(AgentOf(param).instance_data, &agent);
  ASSERT_OK(PostSe(evds_[0]));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (agent.calls == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(agent.calls, 1);
  EXPECT_EQ(agent.evd, evds_[0]);
  // The trigger is there for a waiter as well, and the CNO no longer has the agent.
  EXPECT_OK(Wait(kPatienceUs));
  ASSERT_OK(PostSe(evds_[0]));
  EXPECT_OK(Wait(kPatienceUs));
  EXPECT_EQ(agent.calls, 1);
  EXPECT_EQ(Side::Drain(evds_[0]).size(), 2u);
}

// covers: semantics 6
TEST_P(CnoTest, AnAgentThatComesAfterTheTriggerIsCalled) {
  ASSERT_OK(PostSe(evds_[1]));
  Agent agent;
  ASSERT_OK(dat_cno_modify_agent(cno_, DAT_OS_WAIT_PROXY_AGENT{&agent, &Agent::Call}));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (agent.calls == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(agent.calls, 1);
  EXPECT_EQ(agent.evd, evds_[1]);
  // The trigger is still there for the waiters.
  EXPECT_OK(Wait(0));
  EXPECT_EQ(hint_, evds_[1]);
  // An agent that is set after the trigger was taken has missed nothing.
  ASSERT_OK(dat_cno_modify_agent(cno_, DAT_OS_WAIT_PROXY_AGENT{&agent, &Agent::Call}));
  EXPECT_TYPE(Wait(kSilenceUs), DAT_QUEUE_EMPTY);
  EXPECT_EQ(agent.calls, 1);
  ASSERT_OK(dat_cno_modify_agent(cno_, DAT_OS_WAIT_PROXY_AGENT_NULL));
}

// The events belong to the waiting thread.
// covers: semantics 5.3, 6
TEST_P(CnoTest, WhatArrivesForAWaitingThreadDoesNotTrigger) {
  EvdWaiter waiter(evds_[0], 2);
  ASSERT_OK(PostSe(evds_[0]));
  EXPECT_TYPE(Wait(kSilenceUs), DAT_QUEUE_EMPTY);
  // Another EVD of the CNO has no waiter.
  ASSERT_OK(PostSe(evds_[1]));
  EXPECT_OK(Wait(kPatienceUs));
  EXPECT_EQ(hint_, evds_[1]);
  ASSERT_OK(PostSe(evds_[0]));
  waiter.Join();
  EXPECT_OK(waiter.ret);
  EXPECT_EQ(waiter.nmore, 1);
  // The thread has gone, so the next event goes to the CNO again.
  ASSERT_OK(PostSe(evds_[0]));
  ASSERT_OK(Wait(kPatienceUs));
  EXPECT_EQ(hint_, evds_[0]);
}

// covers: semantics 5.3, 6
TEST_P(CnoTest, CompletionsForAWaitingThreadDoNotTrigger) {
  DAT_EVD_HANDLE recv = DAT_HANDLE_NULL;
  ASSERT_OK(dat_evd_create(a_->ia, 8, cno_, DAT_EVD_DTO_FLAG, &recv));
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_OK(dat_ep_create(a_->ia, a_->pz, recv, a_->request_evd, a_->connect_evd, nullptr, &ep));
  Join(*b_, b_->ep, *a_, ep);
  for (uint64_t i = 0; i < 3; ++i) ASSERT_OK(PostRecv(ep, {}, i));
  {
    EvdWaiter waiter(recv, 2);
    ASSERT_OK(PostSend(b_->ep, {}, 0));
    b_->ExpectDto(b_->request_evd, b_->ep, 0);
    EXPECT_TYPE(Wait(kSilenceUs), DAT_QUEUE_EMPTY);
    ASSERT_OK(PostSend(b_->ep, {}, 1));
    b_->ExpectDto(b_->request_evd, b_->ep, 1);
    waiter.Join();
    EXPECT_OK(waiter.ret);
    a_->ExpectDto(recv, ep, 1);
  }
  while (Wait(0) == DAT_SUCCESS) {
  }
  ASSERT_OK(PostSend(b_->ep, {}, 2));
  ASSERT_OK(Wait(kPatienceUs));
  EXPECT_EQ(hint_, recv);
  a_->ExpectDto(recv, ep, 2);
  EXPECT_OK(dat_ep_free(ep));
  EXPECT_OK(dat_evd_free(recv));
}

// covers: semantics 6
TEST_P(CnoTest, TheAgentIsReleasedWithTheLastEvd) {
  Agent agent;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_OK(dat_cno_create(a_->ia, DAT_OS_WAIT_PROXY_AGENT{&agent, &Agent::Call}, &cno));
  DAT_EVD_HANDLE evds[2] = {};
  for (DAT_EVD_HANDLE& evd : evds)
    ASSERT_OK(dat_evd_create(a_->ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &evd));
  agent.evd = evds[0];
  ASSERT_OK(dat_evd_free(evds[0]));
  EXPECT_EQ(agent.calls, 0) << "the other EVD may still have events for it";
  ASSERT_OK(dat_evd_free(evds[1]));
  EXPECT_EQ(agent.calls, 1);
  EXPECT_EQ(agent.evd, DAT_HANDLE_NULL);
  ASSERT_OK(dat_cno_free(cno));
}

// covers: semantics 6
TEST_P(CnoTest, AWaitingThreadIsReleasedWithTheLastEvd) {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_OK(dat_cno_create(a_->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  std::atomic<bool> released{false};
  DAT_RETURN ret = DAT_SUCCESS;
  DAT_EVD_HANDLE hint = evds_[0];
  std::thread thread([&] {
    ret = dat_cno_wait(cno, kPatienceUs, &hint);
    released = true;
  });
  // Nothing shows from outside when the thread has begun to wait. If it begins too late, it has
  // missed the release, and so there is another one for it.
  while (!released) {
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    ASSERT_OK(dat_evd_create(a_->ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &evd));
    ASSERT_OK(dat_evd_free(evd));
    std::this_thread::yield();
  }
  thread.join();
  EXPECT_OK(ret);
  EXPECT_EQ(hint, DAT_HANDLE_NULL);
  ASSERT_OK(dat_cno_free(cno));
}

// covers: semantics 14
TEST_P(CnoTest, AnAgentMayCallBack) {
  struct Taker {
    DAT_CNO_HANDLE cno;
    std::atomic<int> taken{0};
    static void Call(DAT_PVOID data, DAT_EVD_HANDLE evd) {
      auto* const taker = static_cast<Taker*>(data);
      if (evd == DAT_HANDLE_NULL) return;
      DAT_EVENT event{};
      while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS) taker->taken.fetch_add(1);
      DAT_OS_WAIT_PROXY_AGENT again{taker, &Taker::Call};
      EXPECT_OK(dat_cno_modify_agent(taker->cno, again));
    }
  };
  Taker taker{cno_};
  ASSERT_OK(dat_cno_modify_agent(cno_, DAT_OS_WAIT_PROXY_AGENT{&taker, &Taker::Call}));
  ASSERT_OK(PostSe(evds_[0]));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (taker.taken == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(taker.taken, 1);
  ASSERT_OK(dat_cno_modify_agent(cno_, DAT_OS_WAIT_PROXY_AGENT_NULL));
}

// covers: semantics 6
TEST_P(CnoTest, NetworkEventsTriggerToo) {
  DAT_EVD_HANDLE cr = DAT_HANDLE_NULL;
  ASSERT_OK(dat_evd_create(a_->ia, 8, cno_, DAT_EVD_CR_FLAG, &cr));
  DAT_CONN_QUAL qualifier = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  ASSERT_OK(dat_psp_create_any(a_->ia, &qualifier, cr, DAT_PSP_CONSUMER_FLAG, &psp));
  ASSERT_OK(Connect(b_->ep, qualifier));
  ASSERT_OK(Wait(kPatienceUs));
  EXPECT_EQ(hint_, cr);
  const DAT_EVENT event = a_->Expect(cr, DAT_CONNECTION_REQUEST_EVENT);
  ASSERT_OK(Reject(event.event_data.cr_arrival_event_data.cr_handle));
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_PEER_REJECTED);
  EXPECT_OK(dat_psp_free(psp));
  EXPECT_OK(dat_evd_free(cr));
}

}  // namespace
}  // namespace softdat::conformance
