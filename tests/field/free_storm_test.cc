// SPDX-License-Identifier: BSD-3-Clause
// Any thread makes any call at any time, even the free of an object in use. Every call has a
// defined result, without a crash or a hang.
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRounds = 30;
#else
constexpr int kRounds = 150;
#endif

// Whether a call may return this while others free, disconnect and close around it.
bool IsDefined(DAT_RETURN ret) {
  switch (DAT_GET_TYPE(ret)) {
    case DAT_SUCCESS:
    case DAT_ABORT:
    case DAT_INVALID_HANDLE:
    case DAT_INVALID_STATE:
    case DAT_QUEUE_EMPTY:
    case DAT_QUEUE_FULL:
    case DAT_TIMEOUT_EXPIRED:
    case DAT_INSUFFICIENT_RESOURCES:
      return true;
    default:
      return false;
  }
}

#define EXPECT_DEFINED(call)                                               \
  do {                                                                     \
    const DAT_RETURN field_ret = (call);                                   \
    EXPECT_TRUE(IsDefined(field_ret)) << #call << ": " << Text(field_ret); \
  } while (0)

// Runs the bodies at the same time, as soon as all threads are there.
void AllAtOnce(const std::vector<std::function<void()>>& bodies) {
  std::atomic<size_t> ready{0};
  std::vector<std::jthread> threads;
  for (const auto& body : bodies) {
    threads.emplace_back([&] {
      ++ready;
      while (ready.load() < bodies.size()) std::this_thread::yield();
      body();
    });
  }
}

// Everything that one thread may do to an endpoint and its EVDs while they live and afterwards.
void UseEndpoint(const Memory& memory, DAT_EP_HANDLE ep, DAT_EVD_HANDLE recv,
                 DAT_EVD_HANDLE request) {
  for (uint64_t i = 0; i < 40; ++i) {
    DAT_EVENT event{};
    DAT_EP_STATE state{};
    DAT_EP_PARAM param{};
    EXPECT_DEFINED(PostReceive(ep, memory.Local(0, 8), i));
    EXPECT_DEFINED(PostSend(ep, memory.Local(8, 8), i));
    EXPECT_DEFINED(PostWrite(ep, memory.Local(8, 8), memory.Remote(16, 8), i));
    EXPECT_DEFINED(dat_evd_dequeue(recv, &event));
    EXPECT_DEFINED(dat_evd_dequeue(request, &event));
    EXPECT_DEFINED(dat_ep_get_status(ep, &state, nullptr, nullptr));
    EXPECT_DEFINED(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
  }
}

TEST(FreeStormTest, AnEndpointInUse) {
  Ia ia;
  Memory memory(ia, 4096);
  for (int round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
    End a(ia);
    End b(ia);
    ASSERT_TRUE(Join(a, b));
    const DAT_EP_HANDLE ep = a.ep.Release();
    const auto use = [&] { UseEndpoint(memory, ep, a.recv_evd, a.request_evd); };
    const auto use_peer = [&] { UseEndpoint(memory, b.ep, b.recv_evd, b.request_evd); };
    std::atomic<int> freed{0};
    const auto free = [&, round] {
      for (int i = 0; i < round % 8; ++i) std::this_thread::yield();
      const DAT_RETURN ret = dat_ep_free(ep);
      EXPECT_DEFINED(ret);
      if (ret == DAT_SUCCESS) ++freed;
    };
    const auto end = [&] { EXPECT_DEFINED(dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG)); };
    AllAtOnce({use, use_peer, free, free, end});
    EXPECT_EQ(freed.load(), 1);
    EXPECT_DAT_TYPE(dat_ep_free(ep), DAT_INVALID_HANDLE);
  }
}

// Every thread connects, accepts, disconnects, resets and frees the same two endpoints.
TEST(FreeStormTest, TheStatesOfAnEndpoint) {
  Ia ia;
  for (int round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
    End a(ia);
    End b(ia);
    DAT_CONN_QUAL qualifier = 0;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    ASSERT_DAT_OK(
        dat_psp_create_any(ia.handle(), &qualifier, b.cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
    const DAT_EP_HANDLE passive = b.ep;
    const auto connect = [&] {
      EXPECT_DEFINED(StartConnect(a.ep, ia.address(), qualifier));
      EXPECT_DEFINED(dat_ep_reset(a.ep));
      EXPECT_DEFINED(StartConnect(a.ep, ia.address(), qualifier));
    };
    const auto accept = [&] {
      DAT_EVENT event{};
      const DAT_RETURN ret = client::WaitEvent(b.cr_evd, 20'000, &event);
      EXPECT_DEFINED(ret);
      if (ret != DAT_SUCCESS) return;
      const DAT_CR_HANDLE cr = event.event_data.cr_arrival_event_data.cr_handle;
      DAT_CR_PARAM param{};
      AllAtOnce({[&] { EXPECT_DEFINED(dat_cr_accept(cr, passive, 0, nullptr)); },
                 [&] { EXPECT_DEFINED(dat_cr_reject(cr, 0, nullptr)); },
                 [&] { EXPECT_DEFINED(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param)); }});
    };
    const auto disconnect = [&] {
      EXPECT_DEFINED(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG));
      EXPECT_DEFINED(dat_ep_disconnect(passive, DAT_CLOSE_ABRUPT_FLAG));
      EXPECT_DEFINED(dat_ep_reset(a.ep));
    };
    const auto free = [&] {
      EXPECT_DEFINED(dat_psp_free(psp));
      EXPECT_DEFINED(dat_psp_free(psp));
      const DAT_RETURN ret = dat_ep_free(passive);
      EXPECT_DEFINED(ret);
      if (ret == DAT_SUCCESS) b.ep.Release();
    };
    AllAtOnce({connect, accept, disconnect, free});
  }
}

// A thread waits on the EVD that others free, resize, post to and make unwaitable.
TEST(FreeStormTest, AnEvdInUse) {
  Ia ia;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_DAT_OK(dat_cno_create(ia.handle(), DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  for (int round = 0; round < 2 * kRounds && !testing::Test::HasFailure(); ++round) {
    const DAT_EVD_HANDLE evd = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG, 8, cno);
    const auto wait = [&] {
      DAT_EVENT event{};
      for (int i = 0; i < 10; ++i) EXPECT_DEFINED(client::WaitEvent(evd, 200, &event));
    };
    const auto poll = [&] {
      DAT_EVENT event{};
      for (int i = 0; i < 20; ++i) EXPECT_DEFINED(dat_evd_dequeue(evd, &event));
    };
    const auto change = [&] {
      for (int i = 0; i < 5; ++i) {
        EXPECT_DEFINED(PostNumber(evd, 1));
        EXPECT_DEFINED(dat_evd_resize(evd, 8 + i));
        EXPECT_DEFINED(dat_evd_set_unwaitable(evd));
        EXPECT_DEFINED(dat_evd_clear_unwaitable(evd));
        EXPECT_DEFINED(dat_evd_disable(evd));
        EXPECT_DEFINED(dat_evd_modify_cno(evd, i % 2 == 0 ? DAT_HANDLE_NULL : cno));
        EXPECT_DEFINED(dat_evd_enable(evd));
      }
    };
    const auto free = [&] {
      DAT_RETURN ret = DAT_SUCCESS;
      do {
        ret = dat_evd_free(evd);
      } while (DAT_GET_TYPE(ret) == DAT_INVALID_STATE);  // until nobody waits
      EXPECT_DEFINED(ret);
    };
    AllAtOnce({wait, poll, change, free, free});
    EXPECT_DAT_TYPE(dat_evd_free(evd), DAT_INVALID_HANDLE);
  }
  EXPECT_DAT_OK(dat_cno_free(cno));
}

// Frees race with a wait that has just begun. The wait ends in one way or another, even if it has
// no timeout.
TEST(FreeStormTest, AWaitForEverBegins) {
  Ia ia;
  for (int round = 0; round < 4 * kRounds && !testing::Test::HasFailure(); ++round) {
    const DAT_EVD_HANDLE evd = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG, 8);
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
    ASSERT_DAT_OK(dat_cno_create(ia.handle(), DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
    const auto wait = [&] {
      DAT_EVENT event{};
      EXPECT_DEFINED(client::WaitEvent(evd, DAT_TIMEOUT_INFINITE, &event));
    };
    const auto wait_cno = [&] {
      DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
      EXPECT_DEFINED(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &hint));
    };
    const auto free = [&] {
      const DAT_RETURN ret = dat_evd_free(evd);
      EXPECT_DEFINED(ret);
      if (DAT_GET_TYPE(ret) == DAT_INVALID_STATE) {
        EXPECT_DEFINED(dat_evd_set_unwaitable(evd));
      }
    };
    const auto free_cno = [&] {
      const DAT_RETURN ret = dat_cno_free(cno);
      EXPECT_DEFINED(ret);
      if (DAT_GET_TYPE(ret) != DAT_INVALID_STATE) return;
      // The thread waits. It is woken by an event of its own.
      const DAT_EVD_HANDLE waker = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG, 8, cno);
      EXPECT_DAT_OK(PostNumber(waker, 1));
      EXPECT_DAT_OK(dat_evd_free(waker));
    };
    AllAtOnce({wait, free, wait_cno, free_cno});
    EXPECT_DEFINED(dat_evd_free(evd));
    EXPECT_DEFINED(dat_cno_free(cno));
  }
}

// Memory is freed while posts of other threads use it.
TEST(FreeStormTest, ARegionInUse) {
  Ia ia;
  for (int round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
    Memory stays(ia, 4096);
    End a(ia);
    End b(ia);
    ASSERT_TRUE(Join(a, b));
    auto goes = std::make_unique<Memory>(ia, 4096);
    const DAT_LMR_TRIPLET local = goes->Local(0, 4096);
    const DAT_RMR_TRIPLET remote = goes->Remote(0, 4096);
    // The bytes stay mapped until the connection is gone. Only the registration goes.
    const auto write = [&] {
      for (uint64_t i = 0; i < 10; ++i) {
        const DAT_RETURN ret = PostWrite(a.ep, stays.Local(0, 4096), remote, i);
        EXPECT_TRUE(IsDefined(ret) || DAT_GET_TYPE(ret) == DAT_PROTECTION_VIOLATION) << Text(ret);
      }
    };
    const auto send = [&] {
      for (uint64_t i = 0; i < 10; ++i) {
        const DAT_RETURN ret = PostSend(b.ep, local, i);
        EXPECT_TRUE(IsDefined(ret) || DAT_GET_TYPE(ret) == DAT_PROTECTION_VIOLATION) << Text(ret);
      }
    };
    const auto free = [&] { EXPECT_DAT_OK(goes->Deregister()); };
    AllAtOnce({write, send, free});
  }
}

}  // namespace
}  // namespace softdat::field
