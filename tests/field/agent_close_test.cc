// SPDX-License-Identifier: BSD-3-Clause
// dat_ia_close from inside a proxy agent. The IA and its handles are dead when it returns. The rest
// of the IA goes when the calls below the agent have returned.
#include <set>
#include <thread>

#include "tests/field/agent.h"
#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

// Waits until a thread is inside dat_evd_wait on the EVD. Others may not dequeue then.
bool IsWaitedOn(DAT_EVD_HANDLE evd) {
  return Eventually([evd] {
    DAT_EVENT event{};
    const DAT_RETURN ret = dat_evd_dequeue(evd, &event);
    return DAT_GET_TYPE(ret) == DAT_RETURN{DAT_INVALID_STATE} &&
           DAT_GET_SUBTYPE(ret) == DAT_RETURN{DAT_INVALID_STATE_EVD_WAITER};
  });
}

// Calls of this thread and of another one are inside the IA.
TEST(AgentCloseTest, ClosesTheIa) {
  WarmUp();
  const std::set<int> fds_before = OpenDescriptors();
  const size_t threads_before = Threads();
  {
    Ia ia;
    Agent agent(ia);
    const DAT_EVD_HANDLE evd = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG, 16, agent.cno());
    const DAT_EVD_HANDLE waited = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG, 16);
    std::jthread waiter([waited] {
      DAT_EVENT event{};
      const DAT_RETURN ret = client::WaitEvent(waited, kPatienceUs, &event);
      EXPECT_DAT_TYPE(ret, DAT_ABORT);
    });
    ASSERT_TRUE(IsWaitedOn(waited));
    DAT_RETURN closed = DAT_CLASS_ERROR;
    agent.Set([&](DAT_EVD_HANDLE) { closed = dat_ia_close(ia.handle(), DAT_CLOSE_ABRUPT_FLAG); });
    EXPECT_DAT_OK(PostNumber(evd, 1));
    EXPECT_EQ(agent.calls(), 1);
    EXPECT_DAT_OK(closed);
    EXPECT_DAT_TYPE(dat_ia_close(ia.handle(), DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_HANDLE);
    waiter.join();
    ia.Release();
  }
  EXPECT_TRUE(Eventually([&] {
    return OpenDescriptors() == fds_before && Threads() == threads_before;
  })) << Threads()
      << " threads, " << threads_before << " before";
}

// The agent runs in an upcall of the IA that it closes, and the thread is in dat_evd_wait.
TEST(AgentCloseTest, ClosesTheIaOfTheUpcallBelow) {
  WarmUp();
  const std::set<int> fds_before = OpenDescriptors();
  const size_t threads_before = Threads();
  {
    Ia ia;
    Agent agent(ia);
    End a(ia);
    End b(ia);
    ASSERT_TRUE(Join(a, b));
    const DAT_EVD_HANDLE idle = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG, 16);
    DAT_RETURN closed = DAT_CLASS_ERROR;
    agent.Set([&](DAT_EVD_HANDLE) { closed = dat_ia_close(ia.handle(), DAT_CLOSE_ABRUPT_FLAG); });
    EXPECT_DAT_OK(dat_evd_modify_cno(b.connect_evd, agent.cno()));
    std::jthread disconnector([&a, idle] {
      EXPECT_TRUE(IsWaitedOn(idle));
      EXPECT_DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    });
    DAT_EVENT event{};
    const DAT_RETURN ret = client::WaitEvent(idle, kPatienceUs, &event);
    EXPECT_DAT_TYPE(ret, DAT_ABORT);
    disconnector.join();
    EXPECT_TRUE(Called(agent, 1, DAT_HANDLE_NULL));
    EXPECT_DAT_OK(closed);
    ia.Release();
  }
  EXPECT_TRUE(Eventually([&] {
    return OpenDescriptors() == fds_before && Threads() == threads_before;
  })) << Threads()
      << " threads, " << threads_before << " before";
}

}  // namespace
}  // namespace softdat::field
