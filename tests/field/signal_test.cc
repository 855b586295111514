// SPDX-License-Identifier: BSD-3-Clause
// Signals during waits. A handler that runs ends the wait with DAT_INTERRUPTED_CALL, whether the
// signal comes long before, right at, or after the moment when the thread goes to sleep (semantics
// 5.3, 6, 14).
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

std::atomic<int> g_handled{0};

class SignalTest : public testing::Test {
 protected:
  void SetUp() override {
    g_handled = 0;
    struct sigaction action = {};
    action.sa_handler = [](int) {
      ++g_handled;
    };  // without SA_RESTART, as programs that want EINTR
    ASSERT_EQ(sigaction(SIGUSR1, &action, &before_), 0);
  }
  void TearDown() override { sigaction(SIGUSR1, &before_, nullptr); }

  Ia ia_;

 private:
  struct sigaction before_ = {};
};

// Sends signals to `thread` until it is stopped. One signal is not enough, because a signal before
// the beginning of the wait ends nothing.
class Pest {
 public:
  explicit Pest(pthread_t thread)
      : thread_([thread](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            pthread_kill(thread, SIGUSR1);
            std::this_thread::yield();
          }
        }) {}

 private:
  std::jthread thread_;
};

// covers: semantics 5.3, 14
TEST_F(SignalTest, EndsAnEvdWait) {
  const DAT_EVD_HANDLE evd = ia_.NewEvd(DAT_EVD_SOFTWARE_FLAG);
  {
    Pest pest(pthread_self());
    for (int i = 0; i < 500; ++i) {
      DAT_EVENT event{};
      DAT_COUNT nmore = -1;
      ASSERT_EQ(DAT_GET_TYPE(dat_evd_wait(evd, kPatienceUs, 1, &event, &nmore)),
                DAT_RETURN{DAT_INTERRUPTED_CALL});
      ASSERT_EQ(nmore, 0);
    }
  }
  EXPECT_GE(g_handled.load(), 500);
  EXPECT_DAT_OK(dat_evd_free(evd));
}

// covers: semantics 6, 14
TEST_F(SignalTest, EndsACnoWait) {
  client::Cno cno;
  ASSERT_DAT_OK(cno.Create(ia_));
  {
    Pest pest(pthread_self());
    for (int i = 0; i < 500; ++i) {
      DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
      ASSERT_EQ(DAT_GET_TYPE(dat_cno_wait(cno, kPatienceUs, &hint)),
                DAT_RETURN{DAT_INTERRUPTED_CALL});
    }
  }
  EXPECT_DAT_OK(cno.Free());
}

// The follower of a thread that drives the IA is interrupted in the same way.
// covers: semantics 14
TEST_F(SignalTest, EndsTheWaitOfAFollower) {
  const DAT_EVD_HANDLE driven = ia_.NewEvd(DAT_EVD_SOFTWARE_FLAG);
  const DAT_EVD_HANDLE evd = ia_.NewEvd(DAT_EVD_SOFTWARE_FLAG);
  std::jthread driver([&] {
    DAT_EVENT event{};
    EXPECT_TRUE(Await(driven, &event));
  });
  {
    Pest pest(pthread_self());
    for (int i = 0; i < 200; ++i) {
      DAT_EVENT event{};
      DAT_COUNT nmore = -1;
      ASSERT_EQ(DAT_GET_TYPE(dat_evd_wait(evd, kPatienceUs, 1, &event, &nmore)),
                DAT_RETURN{DAT_INTERRUPTED_CALL});
    }
  }
  EXPECT_DAT_OK(PostNumber(driven, 1));
  driver.join();
  EXPECT_DAT_OK(dat_evd_free(driven));
  EXPECT_DAT_OK(dat_evd_free(evd));
}

// Many signals arrive during traffic. Waits may end early, but nothing is lost, and the order is
// kept.
// covers: semantics 14
TEST_F(SignalTest, LoseNothing) {
  constexpr uint64_t kMessages = 1'000;
  Memory memory(ia_, 4096);
  End a(ia_);
  End b(ia_);
  ASSERT_TRUE(Join(a, b));
  const auto next = [](DAT_EVD_HANDLE evd, DAT_EVENT* event) {
    DAT_RETURN ret = DAT_SUCCESS;
    do {
      DAT_COUNT nmore = 0;
      ret = dat_evd_wait(evd, kPatienceUs, 1, event, &nmore);
    } while (DAT_GET_TYPE(ret) == DAT_INTERRUPTED_CALL);
    return ret;
  };
  {
    Pest pest(pthread_self());
    for (uint64_t i = 0; i < kMessages; ++i) {
      ASSERT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), i));
      ASSERT_DAT_OK(PostSend(a.ep, memory.Local(8, 8), i));
      DAT_EVENT event{};
      ASSERT_DAT_OK(next(b.recv_evd, &event));
      ASSERT_EQ(event.event_data.dto_completion_event_data.user_cookie.as_64, i);
      ASSERT_DAT_OK(next(a.request_evd, &event));
      ASSERT_EQ(event.event_data.dto_completion_event_data.user_cookie.as_64, i);
    }
  }
}

// A blocked signal ends nothing, nor does one for which the program has no handler.
TEST_F(SignalTest, BlockedSignalsEndNothing) {
  const DAT_EVD_HANDLE evd = ia_.NewEvd(DAT_EVD_SOFTWARE_FLAG);
  std::atomic<bool> started{false};
  std::jthread waiter([&] {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    started = true;
    DAT_EVENT event{};
    EXPECT_TRUE(Await(evd, &event));
  });
  ASSERT_TRUE(Eventually([&] { return started.load(); }));
  for (int i = 0; i < 100; ++i) pthread_kill(waiter.native_handle(), SIGUSR1);
  EXPECT_DAT_OK(PostNumber(evd, 1));
  waiter.join();
  EXPECT_EQ(g_handled.load(), 0);
  EXPECT_DAT_OK(dat_evd_free(evd));
}

// Signals sent to the process go to the program's threads. The library's threads take none.
TEST_F(SignalTest, TheLibrarysThreadsTakeNone) {
  sigset_t set;
  sigset_t before;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  // This is the only thread of the program. If the library's threads took signals, the handler
  // would run there.
  for (int i = 0; i < 50; ++i) {
    const DAT_EVD_HANDLE evd = ia_.NewEvd(DAT_EVD_SOFTWARE_FLAG);
    kill(getpid(), SIGUSR1);
    DAT_EVENT event{};
    DAT_COUNT nmore = 0;
    dat_evd_wait(evd, 100, 1, &event, &nmore);
    EXPECT_DAT_OK(dat_evd_free(evd));
  }
  EXPECT_EQ(g_handled.load(), 0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);  // the pending one is taken here
  EXPECT_EQ(g_handled.load(), 1);
}

}  // namespace
}  // namespace softdat::field
