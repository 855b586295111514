// SPDX-License-Identifier: BSD-3-Clause
// fork() in a program that uses an IA. The child may not use the objects that it inherited: it gets
// an error, and neither crashes nor hangs. Its life and its end do not disturb the parent
// (semantics 14).
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

// Runs `body` in a forked child, whose exit status is the result of `body`.
int InChild(const std::function<int()>& body) { return WaitForChild(StartChild(body)); }

class ForkTest : public testing::Test {
 protected:
  ForkTest() : memory_(ia_, 4096), a_(ia_), b_(ia_) { EXPECT_TRUE(Join(a_, b_)); }

  void Exchange(int messages) {
    for (int i = 0; i < messages; ++i, ++next_) {
      ASSERT_DAT_OK(PostReceive(b_.ep, memory_.Local(0, 8), next_));
      ASSERT_DAT_OK(PostSend(a_.ep, memory_.Local(8, 8), next_));
      ASSERT_TRUE(ExpectDto(b_.recv_evd, next_, 8));
      ASSERT_TRUE(ExpectDto(a_.request_evd, next_, 8));
    }
  }

  Ia ia_;
  Memory memory_;
  End a_;
  End b_;
  uint64_t next_ = 1;
};

#define CHILD_EXPECT(n, call)                                           \
  do {                                                                  \
    if (DAT_GET_TYPE(call) != DAT_RETURN{DAT_INVALID_HANDLE}) return n; \
  } while (0)

// covers: semantics 14
TEST_F(ForkTest, EveryInheritedHandleIsInvalid) {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_DAT_OK(dat_cno_create(ia_.handle(), DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  EXPECT_EQ(InChild([&]() -> int {
              DAT_EVENT event{};
              DAT_COUNT nmore = 0;
              DAT_HANDLE handle = DAT_HANDLE_NULL;
              DAT_IA_ATTR attr{};
              DAT_CONN_QUAL qualifier = 0;
              CHILD_EXPECT(1, PostSend(a_.ep, memory_.Local(0, 8), 1));
              CHILD_EXPECT(2, PostReceive(b_.ep, memory_.Local(0, 8), 1));
              CHILD_EXPECT(3, dat_evd_dequeue(b_.recv_evd, &event));
              CHILD_EXPECT(4, dat_evd_wait(b_.recv_evd, DAT_TIMEOUT_INFINITE, 1, &event, &nmore));
              CHILD_EXPECT(5, dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &handle));
              CHILD_EXPECT(6, dat_ep_disconnect(a_.ep, DAT_CLOSE_ABRUPT_FLAG));
              CHILD_EXPECT(7, dat_ep_free(a_.ep));
              CHILD_EXPECT(8, dat_evd_free(b_.cr_evd));
              CHILD_EXPECT(9, dat_cno_free(cno));
              CHILD_EXPECT(10, dat_pz_free(ia_.pz()));
              CHILD_EXPECT(11, dat_pz_create(ia_.handle(), &handle));
              CHILD_EXPECT(
                  12, dat_ia_query(ia_.handle(), nullptr, DAT_IA_FIELD_ALL, &attr, 0, nullptr));
              CHILD_EXPECT(13, dat_psp_create_any(ia_.handle(), &qualifier, b_.cr_evd,
                                                  DAT_PSP_CONSUMER_FLAG, &handle));
              CHILD_EXPECT(14, dat_ia_close(ia_.handle(), DAT_CLOSE_ABRUPT_FLAG));
              return 0;
            }),
            0);
  Exchange(20);
  EXPECT_DAT_OK(dat_cno_free(cno));
}

// The child only leaves by exit(), which runs destructors and atexit handlers.
// covers: semantics 14
TEST_F(ForkTest, ExitOfTheChildDisturbsNobody) {
  EXPECT_EQ(InChild([]() -> int { std::exit(7); }), 7);
  Exchange(20);
  EXPECT_EQ(a_.state(), DAT_EP_STATE_CONNECTED);
}

// covers: semantics 14
TEST_F(ForkTest, ADeathOfTheChildDisturbsNobody) {
  EXPECT_EQ(InChild([]() -> int {
              raise(SIGKILL);
              return 0;
            }),
            1000 + SIGKILL);
  Exchange(20);
}

// The parent ends its connection while the child still lives. The peer must see that at once. It
// would not if the child held the connection's descriptor open in a way that counts.
// covers: semantics 14
TEST_F(ForkTest, TheParentsDisconnectIsSeenWhileTheChildLives) {
  int hold[2];
  ASSERT_EQ(pipe2(hold, O_CLOEXEC), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    close(hold[1]);
    char byte = 0;
    const ssize_t n = read(hold[0], &byte, 1);  // until the parent lets go
    _exit(n == 0 ? 0 : 1);
  }
  close(hold[0]);
  EXPECT_DAT_OK(dat_ep_disconnect(a_.ep, DAT_CLOSE_ABRUPT_FLAG));
  EXPECT_TRUE(Expect(a_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
  EXPECT_TRUE(Expect(b_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
  // The qualifier of a service point is free again, too.
  client::ServicePoint psp;
  ASSERT_DAT_OK(psp.ListenAny(ia_, b_.cr_evd));
  const DAT_CONN_QUAL qualifier = psp.qualifier();
  EXPECT_DAT_OK(psp.Free());
  ASSERT_DAT_OK(psp.Listen(ia_, b_.cr_evd, qualifier));
  EXPECT_DAT_OK(psp.Free());
  close(hold[1]);
  EXPECT_EQ(WaitForChild(pid), 0);
}

// The program forks again and again while threads of the parent create, free, wait and post. The
// child does not hang on a lock that one of them holds at that moment.
// covers: semantics 14
TEST_F(ForkTest, InMidTraffic) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kForks = 20;
#else
  constexpr int kForks = 100;
#endif
  std::jthread churn([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const DAT_EVD_HANDLE evd = ia_.NewEvd(DAT_EVD_SOFTWARE_FLAG);
      EXPECT_DAT_OK(PostNumber(evd, 1));
      EXPECT_DAT_OK(dat_evd_free(evd));
    }
  });
  std::jthread traffic([this](const std::stop_token& stop) {
    while (!stop.stop_requested() && !HasFailure()) Exchange(1);
  });
  for (int i = 0; i < kForks; ++i) {
    ASSERT_EQ(InChild([&]() -> int {
                DAT_EVENT event{};
                DAT_HANDLE handle = DAT_HANDLE_NULL;
                CHILD_EXPECT(1, PostSend(a_.ep, memory_.Local(0, 8), 1));
                CHILD_EXPECT(2, dat_evd_dequeue(b_.recv_evd, &event));
                CHILD_EXPECT(3, dat_pz_create(ia_.handle(), &handle));
                CHILD_EXPECT(4, dat_ep_free(b_.ep));
                return 0;
              }),
              0)
        << "fork " << i;
  }
}

#if !defined( \
    __SANITIZE_THREAD__)  // which does not allow threads in a child of a program with threads
// A usual server forks workers that open the IA anew.
// covers: semantics 14
TEST_F(ForkTest, TheChildOpensTheIaAnew) {
  EXPECT_EQ(InChild([]() -> int {
              Ia ia;
              Memory memory(ia, 64);
              End a(ia);
              End b(ia);
              if (!Join(a, b)) return 1;
              if (PostReceive(b.ep, memory.Local(0, 8), 1) != DAT_SUCCESS) return 2;
              if (PostSend(a.ep, memory.Local(8, 8), 1) != DAT_SUCCESS) return 3;
              if (!ExpectDto(b.recv_evd, 1, 8)) return 4;
              return testing::Test::HasFailure() ? 5 : 0;
            }),
            0);
  Exchange(20);
}
#endif

}  // namespace
}  // namespace softdat::field
