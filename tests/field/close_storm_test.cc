// SPDX-License-Identifier: BSD-3-Clause
// dat_ia_close(ABRUPT) while other threads wait, post, poll, connect and create. Every wait ends,
// every call has a defined result, and nothing is left behind.
#include <atomic>
#include <thread>
#include <vector>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRounds = 20;
#else
constexpr int kRounds = 80;
#endif

bool IsDefined(DAT_RETURN ret) {
  switch (DAT_GET_TYPE(ret)) {
    case DAT_SUCCESS:
    case DAT_ABORT:
    case DAT_INVALID_HANDLE:
    case DAT_INVALID_STATE:
    case DAT_QUEUE_EMPTY:
    case DAT_INSUFFICIENT_RESOURCES:
      return true;
    default:
      return false;
  }
}

// One IA with a connection, and threads that use it until it is gone.
class Victim {
 public:
  Victim() : memory_(ia_, 4096), a_(ia_), b_(ia_) {
    EXPECT_TRUE(Join(a_, b_));
    EXPECT_DAT_OK(dat_cno_create(ia_.handle(), DAT_OS_WAIT_PROXY_AGENT_NULL, &cno_));
    cno_evd_ = ia_.NewEvd(DAT_EVD_SOFTWARE_FLAG, 8, cno_);
    wait_evd_ = ia_.NewEvd(DAT_EVD_SOFTWARE_FLAG, 8);
    Start([this] { return WaitForEver(wait_evd_); });
    Start([this] { return WaitForEver(b_.recv_evd); });
    Start([this] {
      DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
      const DAT_RETURN ret = dat_cno_wait(cno_, DAT_TIMEOUT_INFINITE, &hint);
      return ret == DAT_SUCCESS && hint == DAT_HANDLE_NULL ? DAT_RETURN{DAT_ABORT} : ret;
    });
    Start([this] { return PostSend(a_.ep, memory_.Local(0, 8), 1); });
    Start([this] {
      DAT_EVENT event{};
      return dat_evd_dequeue(a_.request_evd, &event);
    });
    Start([this] {
      DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
      const DAT_RETURN ret =
          dat_evd_create(handle_, 8, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd);
      if (ret != DAT_SUCCESS) return ret;
      // An EVD that is created and waited on at the last moment must not hang either.
      return created_++ % 2 == 0 ? dat_evd_free(evd) : WaitShortly(evd);
    });
  }
  void CloseAndJoin() {
    EXPECT_DAT_OK(ia_.Close(DAT_CLOSE_ABRUPT_FLAG));
    threads_.clear();
  }
  int calls() const { return calls_; }

 private:
  static DAT_RETURN WaitForEver(DAT_EVD_HANDLE evd) {
    DAT_EVENT event{};
    return client::WaitEvent(evd, DAT_TIMEOUT_INFINITE, &event);
  }
  static DAT_RETURN WaitShortly(DAT_EVD_HANDLE evd) {
    DAT_EVENT event{};
    const DAT_RETURN ret = client::WaitEvent(evd, 500, &event);
    return DAT_GET_TYPE(ret) == DAT_TIMEOUT_EXPIRED ? dat_evd_free(evd) : ret;
  }

  // Repeats `call` until it returns that its object is gone.
  template <typename Call>
  void Start(Call call) {
    threads_.emplace_back([this, call] {
      for (;;) {
        const DAT_RETURN ret = call();
        ++calls_;
        EXPECT_TRUE(IsDefined(ret)) << Text(ret);
        if (DAT_GET_TYPE(ret) == DAT_INVALID_HANDLE || !IsDefined(ret)) return;
      }
    });
  }

  Ia ia_;
  const DAT_IA_HANDLE handle_ = ia_.handle();  // Close() forgets it
  Memory memory_;
  End a_;
  End b_;
  DAT_CNO_HANDLE cno_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE cno_evd_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE wait_evd_ = DAT_HANDLE_NULL;
  std::atomic<int> created_{0};
  std::atomic<int> calls_{0};
  std::vector<std::jthread> threads_;
};

TEST(CloseStormTest, EverybodyIsInside) {
  {
    Victim warm_up;
    warm_up.CloseAndJoin();
  }
  const std::set<int> fds = OpenDescriptors();
  const size_t threads = Threads();
  for (int round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
    Victim victim;
    ASSERT_TRUE(Eventually([&] { return victim.calls() > round % 10 * 20; }));
    victim.CloseAndJoin();
  }
  EXPECT_TRUE(Eventually([&] { return Threads() == threads && OpenDescriptors() == fds; }))
      << Threads() << " threads, " << threads << " before";
}

// Several threads close the same IA, and one succeeds.
TEST(CloseStormTest, ClosedByEverybody) {
  for (int round = 0; round < kRounds; ++round) {
    Ia ia;
    std::atomic<int> closed{0};
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        const DAT_RETURN ret = dat_ia_close(ia.handle(), DAT_CLOSE_ABRUPT_FLAG);
        EXPECT_TRUE(IsDefined(ret)) << Text(ret);
        if (ret == DAT_SUCCESS) ++closed;
      });
    }
    threads.clear();
    EXPECT_EQ(closed.load(), 1);
    ia.Release();
  }
}

// The peer's IA is closed abruptly during traffic. This side learns of every connection's end,
// once.
TEST(CloseStormTest, ThePeerCloses) {
  for (int round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
    Ia ia;
    Ia peer_ia;
    Memory memory(ia, 4096);
    End a(ia);
    End b(peer_ia);
    ASSERT_TRUE(Join(a, b));
    std::jthread closer([&] { EXPECT_DAT_OK(peer_ia.Close(DAT_CLOSE_ABRUPT_FLAG)); });
    uint64_t posted = 0;
    DAT_RETURN ret = DAT_SUCCESS;
    for (; posted < 10 && ret == DAT_SUCCESS; ++posted) {
      ret = PostSend(a.ep, memory.Local(0, 8), posted);
    }
    DAT_EVENT event{};
    ASSERT_TRUE(Await(a.connect_evd, &event));
    EXPECT_EQ(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
    closer.join();
    EXPECT_DAT_TYPE(dat_evd_dequeue(a.connect_evd, &event), DAT_QUEUE_EMPTY);
    EXPECT_EQ(a.state(), DAT_EP_STATE_DISCONNECTED);
  }
}

}  // namespace
}  // namespace softdat::field
