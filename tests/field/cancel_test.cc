// SPDX-License-Identifier: BSD-3-Clause
// A thread is cancelled (pthread_cancel) inside dat_evd_wait or dat_cno_wait, while it drives the
// IA or is parked behind another thread. Afterwards the library works as before. No other call is a
// place to be cancelled.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

// A thread that can be cancelled. Its cancellation can be told from a return.
class Victim {
 public:
  explicit Victim(std::function<void()> body) : body_(std::move(body)) {
    EXPECT_EQ(pthread_create(
                  &thread_, nullptr,
                  [](void* self) -> void* {
                    auto* const victim = static_cast<Victim*>(self);
                    victim->tid_ = static_cast<pid_t>(syscall(SYS_gettid));
                    victim->body_();
                    return nullptr;
                  },
                  this),
              0);
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  // Waits until the thread sleeps in the kernel: state S in /proc/self/task/TID/stat.
  bool Sleeps() {
    return Eventually([this] {
      const pid_t tid = tid_.load();
      if (tid == 0) return false;
      const std::string path = "/proc/self/task/" + std::to_string(tid) + "/stat";
      std::FILE* const f = std::fopen(path.c_str(), "re");
      if (f == nullptr) return false;
      char state = '?';
      const int got = std::fscanf(f, "%*d (%*[^)]) %c", &state);
      std::fclose(f);
      return got == 1 && state == 'S';
    });
  }
  void Cancel() { EXPECT_EQ(pthread_cancel(thread_), 0); }
  // Returns true if the thread was cancelled, and false if it returned.
  bool JoinCancelled() {
    void* result = nullptr;
    EXPECT_EQ(pthread_join(thread_, &result), 0);
    return result == PTHREAD_CANCELED;
  }

 private:
  const std::function<void()> body_;
  pthread_t thread_{};
  std::atomic<pid_t> tid_{0};
};

// A connection that shows, message by message, that all is well.
class Traffic {
 public:
  explicit Traffic(const Ia& ia) : memory_(ia, 4096), a_(ia), b_(ia) { EXPECT_TRUE(Join(a_, b_)); }
  void Exchange(int messages) {
    for (int i = 0; i < messages; ++i, ++next_) {
      ASSERT_DAT_OK(PostReceive(b_.ep, memory_.Local(0, 8), next_));
      ASSERT_DAT_OK(PostSend(a_.ep, memory_.Local(8, 8), next_));
      ASSERT_TRUE(ExpectDto(b_.recv_evd, next_, 8));
      ASSERT_TRUE(ExpectDto(a_.request_evd, next_, 8));
    }
  }
  End& b() { return b_; }

 private:
  Memory memory_;
  End a_;
  End b_;
  uint64_t next_ = 1;
};

void WaitForEver(DAT_EVD_HANDLE evd) {
  DAT_EVENT event{};
  DAT_COUNT nmore = 0;
  dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &nmore);
}

TEST(CancelTest, InEvdWait) {
  Ia ia;
  Traffic traffic(ia);
  for (int round = 0; round < 20; ++round) {
    const DAT_EVD_HANDLE evd = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG);
    Victim victim([evd] { WaitForEver(evd); });
    ASSERT_TRUE(victim.Sleeps());
    EXPECT_DAT_TYPE(dat_evd_free(evd), DAT_INVALID_STATE);  // the thread is inside
    victim.Cancel();
    EXPECT_TRUE(victim.JoinCancelled());
    // Nobody waits on the EVD any more, so it can be waited on, polled and freed.
    EXPECT_DAT_OK(PostNumber(evd, 7));
    DAT_EVENT event{};
    ASSERT_TRUE(Await(evd, &event));
    EXPECT_DAT_TYPE(dat_evd_dequeue(evd, &event), DAT_QUEUE_EMPTY);
    EXPECT_DAT_OK(dat_evd_free(evd));
    traffic.Exchange(2);
  }
}

// The wait is on the EVD of a connection's receives, which then go on.
TEST(CancelTest, InEvdWaitOfAnEndpoint) {
  Ia ia;
  Traffic traffic(ia);
  for (int round = 0; round < 20; ++round) {
    Victim victim([&] { WaitForEver(traffic.b().recv_evd); });
    ASSERT_TRUE(victim.Sleeps());
    victim.Cancel();
    EXPECT_TRUE(victim.JoinCancelled());
    traffic.Exchange(2);
  }
}

TEST(CancelTest, InCnoWait) {
  Ia ia;
  Traffic traffic(ia);
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_DAT_OK(dat_cno_create(ia.handle(), DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  const DAT_EVD_HANDLE evd = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG, 16, cno);
  for (int round = 0; round < 20; ++round) {
    Victim victim([cno] {
      DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
      dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &hint);
    });
    ASSERT_TRUE(victim.Sleeps());
    EXPECT_DAT_TYPE(dat_cno_free(cno), DAT_INVALID_STATE);
    victim.Cancel();
    EXPECT_TRUE(victim.JoinCancelled());
    EXPECT_DAT_OK(PostNumber(evd, 1));
    DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
    EXPECT_DAT_OK(dat_cno_wait(cno, kPatienceUs, &hint));
    EXPECT_EQ(hint, evd);
    DAT_EVENT event{};
    EXPECT_DAT_OK(dat_evd_dequeue(evd, &event));
    traffic.Exchange(1);
  }
  EXPECT_DAT_OK(dat_evd_free(evd));
  EXPECT_DAT_OK(dat_cno_free(cno));
}

// Two threads wait, and the second one is parked behind the first. Whichever is cancelled, the
// other one goes on.
TEST(CancelTest, DriverAndFollowers) {
  Ia ia;
  Traffic traffic(ia);
  for (const bool first_comer_goes : {true, false}) {
    for (int round = 0; round < 10; ++round) {
      const DAT_EVD_HANDLE evds[2] = {ia.NewEvd(DAT_EVD_SOFTWARE_FLAG),
                                      ia.NewEvd(DAT_EVD_SOFTWARE_FLAG)};
      Victim first([&] { WaitForEver(evds[0]); });
      ASSERT_TRUE(first.Sleeps());
      Victim second([&] { WaitForEver(evds[1]); });
      ASSERT_TRUE(second.Sleeps());
      Victim& goes = first_comer_goes ? first : second;
      Victim& stays = first_comer_goes ? second : first;
      goes.Cancel();
      EXPECT_TRUE(goes.JoinCancelled());
      traffic.Exchange(1);
      EXPECT_DAT_OK(PostNumber(evds[first_comer_goes ? 1 : 0], 1));
      EXPECT_FALSE(stays.JoinCancelled());  // it got its event
      EXPECT_DAT_OK(dat_evd_free(evds[0]));
      EXPECT_DAT_OK(dat_evd_free(evds[1]));
    }
  }
}

// Two threads wait on one CNO. The trigger of the cancelled one is not lost.
TEST(CancelTest, OneOfTwoOnACno) {
  Ia ia;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_DAT_OK(dat_cno_create(ia.handle(), DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  const DAT_EVD_HANDLE evd = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG, 16, cno);
  for (int round = 0; round < 40; ++round) {
    std::atomic<int> woken{0};
    const auto wait = [&] {
      DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
      if (dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &hint) == DAT_SUCCESS) ++woken;
    };
    Victim first(wait);
    ASSERT_TRUE(first.Sleeps());
    Victim second(wait);
    ASSERT_TRUE(second.Sleeps());
    // One thread is cancelled at the moment when an event comes. If it was chosen to be woken, it
    // is either woken or passes the wake-up on.
    std::jthread cancel([&] { (round % 2 == 0 ? first : second).Cancel(); });
    EXPECT_DAT_OK(PostNumber(evd, 1));
    cancel.join();
    ASSERT_TRUE(Eventually([&] { return woken.load() >= 1; })) << "the wake-up was lost";
    // Ends the threads that are left.
    DAT_EVENT event{};
    while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS) {
    }
    first.Cancel();
    second.Cancel();
    first.JoinCancelled();
    second.JoinCancelled();
  }
  EXPECT_DAT_OK(dat_evd_free(evd));
  EXPECT_DAT_OK(dat_cno_free(cno));
}

// Each call of a program's life, except the waits. Peers of `a` and `b` sleep meanwhile, so that
// the posts must wake them.
void CallEverythingElse(const Ia& ia, const Memory& memory, const End& a, const End& b) {
  DAT_EVENT event{};
  EXPECT_DAT_OK(PostReceive(a.ep, memory.Local(0, 8), 1));
  EXPECT_DAT_OK(PostSend(a.ep, memory.Local(8, 8), 1));
  EXPECT_DAT_OK(PostSend(b.ep, memory.Local(8, 8), 1));
  EXPECT_DAT_OK(PostWrite(a.ep, memory.Local(16, 8), memory.Remote(24, 8), 2));
  EXPECT_DAT_OK(PostRead(a.ep, memory.Local(32, 8), memory.Remote(24, 8), 3));
  EXPECT_DAT_TYPE(dat_evd_dequeue(a.connect_evd, &event), DAT_QUEUE_EMPTY);

  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  EXPECT_DAT_OK(dat_cno_create(ia.handle(), DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  DAT_FD fd = -1;
  DAT_CNO_HANDLE fd_cno = DAT_HANDLE_NULL;
  EXPECT_DAT_OK(dat_cno_fd_create(ia.handle(), &fd, &fd_cno));
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  EXPECT_DAT_OK(dat_evd_create(ia.handle(), 8, fd_cno, DAT_EVD_SOFTWARE_FLAG, &evd));
  EXPECT_DAT_OK(PostNumber(evd, 1));  // tells the descriptor
  EXPECT_DAT_OK(dat_cno_trigger(fd_cno, &evd));
  EXPECT_DAT_OK(dat_evd_resize(evd, 32));
  EXPECT_DAT_OK(dat_evd_modify_cno(evd, cno));
  EXPECT_DAT_OK(dat_evd_free(evd));
  EXPECT_DAT_OK(dat_cno_free(fd_cno));
  EXPECT_DAT_OK(dat_cno_free(cno));

  const Ia other;  // the registry reads files, and memory is registered
  const Memory others(other, 1 << 20);
  End end(other);
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  DAT_CONN_QUAL qualifier = 0;
  EXPECT_DAT_OK(
      dat_psp_create_any(other.handle(), &qualifier, end.cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
  EXPECT_TRUE(StartConnect(end.ep, other.address(), qualifier).ok());
  EXPECT_DAT_OK(dat_psp_free(psp));
  EXPECT_DAT_OK(dat_ep_disconnect(end.ep, DAT_CLOSE_ABRUPT_FLAG));
  DAT_COUNT entries = 0;
  DAT_PROVIDER_INFO* none = nullptr;
  dat_registry_list_providers(0, &entries, &none);
}

TEST(CancelTest, OnlyTheWaitsArePlacesForIt) {
  Ia ia;
  const Memory memory(ia, 4096);
  End a(ia);
  End b(ia);
  ASSERT_TRUE(Join(a, b));
  ASSERT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), 1));
  Victim sleeper([&b] { EXPECT_TRUE(ExpectDto(b.recv_evd, 1, 8)); });
  ASSERT_TRUE(sleeper.Sleeps());
  std::atomic<bool> came_back{false};
  Victim victim([&] {
    pthread_cancel(pthread_self());  // takes effect at the next place for it
    CallEverythingElse(ia, memory, a, b);
    came_back = true;
    WaitForEver(a.connect_evd);
  });
  EXPECT_TRUE(victim.JoinCancelled());
  EXPECT_TRUE(came_back);
  EXPECT_FALSE(sleeper.JoinCancelled());
  EXPECT_TRUE(ExpectDto(a.recv_evd, 1, 8));
  EXPECT_EQ(a.state(), DAT_EP_STATE_CONNECTED);
}

// The thread is cancelled at any moment of a life of sends, receives and waits, not only while it
// sleeps.
TEST(CancelTest, AnywhereInALifeOfWork) {
  Ia ia;
  Traffic steady(ia);
  for (int round = 0; round < 40; ++round) {
    Memory memory(ia, 4096);
    End a(ia);
    End b(ia);
    ASSERT_TRUE(Join(a, b));
    std::atomic<int> exchanged{0};
    Victim victim([&] {
      DAT_EVENT event{};
      DAT_COUNT nmore = 0;
      for (uint64_t i = 1;; ++i) {
        if (PostReceive(b.ep, memory.Local(0, 8), i) != DAT_SUCCESS) return;
        if (PostSend(a.ep, memory.Local(8, 8), i) != DAT_SUCCESS) return;
        dat_evd_wait(b.recv_evd, DAT_TIMEOUT_INFINITE, 1, &event, &nmore);
        dat_evd_wait(a.request_evd, DAT_TIMEOUT_INFINITE, 1, &event, &nmore);
        ++exchanged;
        pthread_testcancel();  // a wait that has its event need not be a cancellation point
      }
    });
    ASSERT_TRUE(Eventually([&] { return exchanged.load() > round; }));
    victim.Cancel();
    EXPECT_TRUE(victim.JoinCancelled());
    // The connection that the thread worked on is whole.
    DAT_EVENT event{};
    while (dat_evd_dequeue(b.recv_evd, &event) == DAT_SUCCESS) {
    }
    EXPECT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), 1));
    EXPECT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), 1));
    EXPECT_DAT_OK(PostSend(a.ep, memory.Local(8, 8), 1));
    EXPECT_TRUE(Await(b.recv_evd, &event));
    EXPECT_EQ(a.state(), DAT_EP_STATE_CONNECTED);
    steady.Exchange(1);
  }
}

}  // namespace
}  // namespace softdat::field
