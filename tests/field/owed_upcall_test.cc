// SPDX-License-Identifier: BSD-3-Clause
// One step of the wire may have to give two notifications. The agent that is called for the first
// one frees the object of the second, which the same thread would have notified next. The free must
// not wait for its own caller.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <thread>

#include "tests/field/agent.h"
#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

// Ends the process if the test hangs, because the stuck thread may hold something that every other
// call needs.
class Watchdog {
 public:
  Watchdog() = default;
  ~Watchdog() {
    over_.set_value();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::promise<void> over_;
  std::thread thread_{[over = over_.get_future()] {
    if (over.wait_for(std::chrono::seconds(25)) == std::future_status::ready) return;
    std::fputs("a call from the agent never returned\n", stderr);
    std::abort();
  }};
};

// The work that is posted on both queues is flushed when the peer goes.
TEST(OwedUpcallTest, TheAgentFreesTheEvdsOfBothQueues) {
  constexpr size_t kLarge = 4 << 20;
  const Watchdog watchdog;
  Ia ia;
  Agent agent(ia);
  Memory memory(ia, kLarge);
  End other(ia);
  End dying(ia);
  ASSERT_TRUE(Join(other, dying));
  DAT_RETURN freed[3] = {};
  agent.Set([&](DAT_EVD_HANDLE) {
    freed[0] = dat_ep_free(dying.ep);
    freed[1] = dat_evd_free(dying.request_evd);
    freed[2] = dat_evd_free(dying.recv_evd);
  });
  ASSERT_DAT_OK(PostReceive(dying.ep, memory.Local(0, 8), 1));
  EXPECT_DAT_OK(dat_evd_modify_cno(dying.request_evd, agent.cno()));
  EXPECT_DAT_OK(dat_evd_modify_cno(dying.recv_evd, agent.cno()));
  // Nobody receives these. They are more than the sockets hold, so that some are outstanding at the
  // end. Those that leave must not call the agent.
  for (uint64_t i = 0; i < 8; ++i) {
    ASSERT_DAT_OK(PostSend(dying.ep, memory.Local(0, kLarge), i, DAT_COMPLETION_SUPPRESS_FLAG));
  }
  EXPECT_EQ(agent.calls(), 0);
  EXPECT_DAT_OK(dat_ep_disconnect(other.ep, DAT_CLOSE_ABRUPT_FLAG));
  ASSERT_TRUE(Called(agent, 1, other.connect_evd));
  for (const DAT_RETURN ret : freed) EXPECT_DAT_OK(ret);
  dying.ep.Release();
  dying.request_evd.Release();
  dying.recv_evd.Release();
  EXPECT_EQ(agent.calls(), 1);
}

// A message takes a receive, so that fewer are left than the low watermark. That causes a
// completion and a notice.
TEST(OwedUpcallTest, TheAgentFreesTheSharedReceiveQueueBelowItsWatermark) {
  const Watchdog watchdog;
  Ia ia;
  Agent agent(ia);
  Memory memory(ia, 4096);
  End other(ia);
  End dying(ia);
  client::SharedReceives srq;
  ASSERT_DAT_OK(srq.Create(ia, ia.pz(), 8));
  DAT_EP_ATTR attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.service_type = DAT_SERVICE_TYPE_RC;
  attr.max_recv_dtos = attr.max_request_dtos = 8;
  attr.max_request_iov = 1;
  EXPECT_DAT_OK(dying.ep.Free());
  ASSERT_DAT_OK(dying.ep.CreateWithSrq(ia, ia.pz(), dying.evds(), srq, attr));
  for (uint64_t i = 0; i < 2; ++i)
    ASSERT_DAT_OK(client::PostSharedReceive(srq, memory.Local(i * 8, 8), i));
  EXPECT_DAT_OK(dat_srq_set_lw(srq, 2));
  ASSERT_TRUE(Join(other, dying));
  DAT_RETURN freed[3] = {};
  agent.Set([&](DAT_EVD_HANDLE) {
    freed[0] = dat_ep_free(dying.ep);
    freed[1] = dat_srq_free(srq);
    freed[2] = dat_evd_free(dying.recv_evd);
  });
  EXPECT_DAT_OK(dat_evd_modify_cno(dying.recv_evd, agent.cno()));
  EXPECT_DAT_OK(PostSend(other.ep, memory.Local(64, 8), 1));
  ASSERT_TRUE(Called(agent, 1, other.request_evd));
  for (const DAT_RETURN ret : freed) EXPECT_DAT_OK(ret);
  dying.ep.Release();
  srq.Release();
  dying.recv_evd.Release();
}

}  // namespace
}  // namespace softdat::field
