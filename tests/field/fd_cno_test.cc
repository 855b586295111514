// SPDX-License-Identifier: BSD-3-Clause
// A CNO with a file descriptor, in poll(), in epoll and in a libuv loop. The program sleeps in its
// own loop, and makes DAT calls only when the descriptor is readable (dat_cno_fd_create,
// dat_cno_trigger).
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <uv.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

constexpr uint64_t kMessages = 300;
constexpr int kPatienceMs = 30'000;

class FdCnoTest : public testing::Test {
 protected:
  FdCnoTest() {
    EXPECT_DAT_OK(dat_cno_fd_create(ia_.handle(), &fd_, &cno_));
    EXPECT_NE(fcntl(fd_, F_GETFD) & FD_CLOEXEC, 0);
  }
  ~FdCnoTest() override { EXPECT_DAT_OK(dat_cno_free(cno_)); }

  bool Readable() const {
    pollfd p = {fd_, POLLIN, 0};
    return poll(&p, 1, 0) == 1;
  }

  // Whether the descriptor becomes quiet. It may be readable without a trigger while the adapter
  // has something else to do. The call that finds nothing then does that.
  bool Quiet() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
    while (Readable()) {
      DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
      if (dat_cno_trigger(cno_, &hint) == DAT_SUCCESS) return false;
      if (std::chrono::steady_clock::now() > end) return false;
    }
    return true;
  }

  // Runs an echo server on `server` that sleeps by calling `sleep`. That returns true when the
  // descriptor is readable, and false if it never is.
  void Serve(const std::function<bool()>& sleep) {
    End::Options options;
    options.cno = cno_;
    Memory memory(ia_, 4096);
    End server(ia_, options);
    client::ServicePoint psp;
    ASSERT_DAT_OK(psp.ListenAny(ia_, server.cr_evd));
    const DAT_CONN_QUAL qualifier = psp.qualifier();
    ASSERT_DAT_OK(PostReceive(server.ep, memory.Local(0, 8), 0));
    std::jthread client([qualifier] { Client(qualifier); });
    bool ended = false;
    uint64_t echoed = 0;
    while (!ended) {
      ASSERT_TRUE(sleep()) << echoed << " messages echoed";
      DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
      // QUEUE_EMPTY is possible, because an earlier round may have taken the event of this trigger.
      dat_cno_trigger(cno_, &hint);
      for (const client::Evd* evd :
           {&server.cr_evd, &server.connect_evd, &server.recv_evd, &server.request_evd}) {
        DAT_EVENT event{};
        while (dat_evd_dequeue(*evd, &event) == DAT_SUCCESS) {
          Handle(event, server, memory, &echoed, &ended);
        }
      }
    }
    client.join();
    EXPECT_EQ(echoed, kMessages);
    EXPECT_DAT_OK(psp.Free());
  }

  Ia ia_;
  DAT_FD fd_ = -1;
  DAT_CNO_HANDLE cno_ = DAT_HANDLE_NULL;

 private:
  static void Handle(const DAT_EVENT& event, const End& server, const Memory& memory,
                     uint64_t* echoed, bool* ended) {
    if (event.event_number == DAT_CONNECTION_REQUEST_EVENT) {
      EXPECT_DAT_OK(
          dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, server.ep, 0, nullptr));
    } else if (event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED) {
      *ended = true;
    } else if (event.event_number == DAT_DTO_COMPLETION_EVENT &&
               event.evd_handle == server.recv_evd &&
               event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS) {
      ++*echoed;
      EXPECT_DAT_OK(PostReceive(server.ep, memory.Local(0, 8), *echoed));
      EXPECT_DAT_OK(PostSend(server.ep, memory.Local(0, 8), *echoed));
    }
  }

  static void Client(DAT_CONN_QUAL qualifier) {
    Ia ia;
    Memory memory(ia, 64);
    End end(ia);
    EXPECT_DAT_OK(StartConnect(end.ep, ia.address(), qualifier));
    if (!Expect(end.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED)) return;
    for (uint64_t i = 0; i < kMessages; ++i) {
      EXPECT_DAT_OK(PostReceive(end.ep, memory.Local(0, 8), i));
      EXPECT_DAT_OK(PostSend(end.ep, memory.Local(8, 8), i));
      if (!ExpectDto(end.request_evd, i, 8) || !ExpectDto(end.recv_evd, i, 8)) return;
    }
    EXPECT_DAT_OK(dat_ep_disconnect(end.ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_TRUE(Expect(end.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
  }
};

// covers: semantics 6, 16.6
TEST_F(FdCnoTest, IsReadableWhileTriggered) {
  const DAT_EVD_HANDLE evd = ia_.NewEvd(DAT_EVD_SOFTWARE_FLAG, 16, cno_);
  EXPECT_TRUE(Quiet());
  DAT_EVD_HANDLE hint = evd;
  EXPECT_DAT_TYPE(dat_cno_trigger(cno_, &hint), DAT_QUEUE_EMPTY);
  EXPECT_EQ(hint, DAT_HANDLE_NULL);
  EXPECT_DAT_OK(PostNumber(evd, 1));
  EXPECT_DAT_OK(PostNumber(evd, 2));
  EXPECT_TRUE(Readable());
  EXPECT_DAT_OK(dat_cno_trigger(cno_, &hint));
  EXPECT_EQ(hint, evd);
  EXPECT_TRUE(Quiet());
  EXPECT_DAT_OK(PostNumber(evd, 3));
  EXPECT_TRUE(Readable());
  // dat_cno_wait takes the trigger as well.
  EXPECT_DAT_OK(dat_cno_wait(cno_, 0, &hint));
  EXPECT_TRUE(Quiet());
  EXPECT_DAT_OK(dat_evd_free(evd));
}

// An end whose events go to the CNO, and an end of another adapter that sends to it.
struct Peers {
  Peers(const Ia& ia, DAT_CNO_HANDLE cno)
      : options{.cno = cno},
        memory(ia, 64),
        other_memory(other_ia, 64),
        mine(ia, options),
        other(other_ia) {}
  End::Options options;
  Ia other_ia;
  Memory memory;
  Memory other_memory;
  End mine;
  End other;
};

// A program that has nothing to do sleeps. A call that finds nothing does not wake it, even while a
// thread of the back end looks after the sockets. It does so when the program has made no call for
// a millisecond.
// covers: semantics 6
TEST_F(FdCnoTest, StaysAsleepWhenIdle) {
  constexpr int kRounds = 100;
  constexpr int kIdleMs = 5;
  Peers peers(ia_, cno_);
  ASSERT_TRUE(Join(peers.other, peers.mine));
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  while (dat_cno_trigger(cno_, &hint) == DAT_SUCCESS) {
  }
  ASSERT_TRUE(Quiet());
  for (int i = 0; i < kRounds; ++i) {
    pollfd p = {fd_, POLLIN, 0};
    ASSERT_EQ(poll(&p, 1, kIdleMs), 0) << "woken in round " << i;
    EXPECT_DAT_TYPE(dat_cno_trigger(cno_, &hint), DAT_QUEUE_EMPTY);
    ASSERT_FALSE(Readable()) << "in round " << i;
    DAT_EVENT event{};
    EXPECT_DAT_TYPE(dat_evd_dequeue(peers.mine.recv_evd, &event), DAT_QUEUE_EMPTY);
  }
}

// A trigger that is collected in the call that raised it leaves nothing behind.
// covers: semantics 6
TEST_F(FdCnoTest, WhatAMessageBringsIsCollectedOnce) {
  Peers peers(ia_, cno_);
  auto& [options, other_ia, memory, other_memory, mine, other] = peers;
  ASSERT_TRUE(Join(other, mine));
  for (uint64_t i = 0; i < 100; ++i) {
    ASSERT_DAT_OK(PostReceive(mine.ep, memory.Local(0, 8), i));
    ASSERT_DAT_OK(PostSend(other.ep, other_memory.Local(0, 8), i));
    ASSERT_TRUE(ExpectDto(other.request_evd, i, 8));
    DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
    DAT_EVENT event{};
    while (dat_evd_dequeue(mine.recv_evd, &event) != DAT_SUCCESS) {
      pollfd p = {fd_, POLLIN, 0};
      ASSERT_EQ(poll(&p, 1, kPatienceMs), 1);
      dat_cno_trigger(cno_, &hint);
    }
    EXPECT_EQ(event.event_data.dto_completion_event_data.user_cookie.as_64, i);
  }
  // Nothing more comes. A few triggers may be left, of messages that were found without them, but
  // they come to an end.
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (Readable() || dat_cno_trigger(cno_, &hint) == DAT_SUCCESS) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    if (Readable()) dat_cno_trigger(cno_, &hint);
  }
}

// A trigger that is collected in the call that raised it leaves the EVD armed. A thread of the back
// end takes the next message, which the write after it shows, and the program is told of it.
TEST_F(FdCnoTest, WhatABackEndsThreadTakesIsToldOf) {
  Peers peers(ia_, cno_);
  auto& [options, other_ia, memory, other_memory, mine, other] = peers;
  ASSERT_TRUE(Join(other, mine));
  const std::atomic_ref<uint8_t> mark(memory.data()[63]);
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  DAT_EVENT event{};
  for (uint8_t i = 1; i <= 20; ++i) {
    for (const bool unattended : {false, true}) {
      ASSERT_DAT_OK(PostReceive(mine.ep, memory.Local(0, 8), i));
      ASSERT_DAT_OK(PostSend(other.ep, other_memory.Local(0, 8), i));
      ASSERT_TRUE(ExpectDto(other.request_evd, i, 8));
      if (unattended) {
        other_memory.data()[63] = i;
        ASSERT_DAT_OK(PostWrite(other.ep, other_memory.Local(63, 1), memory.Remote(63, 1), i));
        ASSERT_TRUE(ExpectDto(other.request_evd, i, 1));
        while (mark.load(std::memory_order_acquire) != i) std::this_thread::yield();
      }
      DAT_RETURN found = DAT_QUEUE_EMPTY;
      while (found != DAT_SUCCESS) {
        pollfd p = {fd_, POLLIN, 0};
        ASSERT_EQ(poll(&p, 1, kPatienceMs), 1);
        dat_cno_trigger(cno_, &hint);
        found = dat_evd_dequeue(mine.recv_evd, &event);
      }
    }
  }
}

// A program has a CNO for each connection, and one epoll set for all of them.
TEST_F(FdCnoTest, ManyInOneEpollSet) {
  const int set = epoll_create1(EPOLL_CLOEXEC);
  ASSERT_GE(set, 0);
  std::array<DAT_CNO_HANDLE, 150> cnos{};
  std::array<DAT_EVD_HANDLE, cnos.size()> evds{};
  for (size_t i = 0; i < cnos.size(); ++i) {
    DAT_FD fd = -1;
    ASSERT_DAT_OK(dat_cno_fd_create(ia_.handle(), &fd, &cnos[i]));
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u64 = i;
    ASSERT_EQ(epoll_ctl(set, EPOLL_CTL_ADD, fd, &wanted), 0) << i;
    evds[i] = ia_.NewEvd(DAT_EVD_SOFTWARE_FLAG, 4, cnos[i]);
  }
  for (size_t i = 0; i < cnos.size(); ++i) {
    ASSERT_DAT_OK(PostNumber(evds[i], i));
    epoll_event ready{};
    ASSERT_EQ(epoll_wait(set, &ready, 1, kPatienceMs), 1);
    const uint64_t which = ready.data.u64;  // a member of a packed structure has no address
    EXPECT_EQ(which, i);
    DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
    ASSERT_DAT_OK(dat_cno_trigger(cnos[i], &hint));
    EXPECT_EQ(hint, evds[i]);
  }
  close(set);
  for (const DAT_EVD_HANDLE evd : evds) EXPECT_DAT_OK(dat_evd_free(evd));
  for (const DAT_CNO_HANDLE cno : cnos) EXPECT_DAT_OK(dat_cno_free(cno));
}

// covers: semantics 6
TEST_F(FdCnoTest, InPoll) {
  Serve([this] {
    pollfd p = {fd_, POLLIN, 0};
    return poll(&p, 1, kPatienceMs) == 1;
  });
}

TEST_F(FdCnoTest, InEpollEdgeTriggered) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event wanted = {};
  wanted.events = EPOLLIN | EPOLLET;
  ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, fd_, &wanted), 0);
  Serve([epoll] {
    epoll_event event = {};
    return epoll_wait(epoll, &event, 1, kPatienceMs) == 1;
  });
  close(epoll);
}

TEST_F(FdCnoTest, InALibuvLoop) {
  uv_loop_t loop;
  uv_poll_t poll;
  uv_timer_t patience;
  ASSERT_EQ(uv_loop_init(&loop), 0);
  ASSERT_EQ(uv_poll_init(&loop, &poll, fd_), 0);
  ASSERT_EQ(uv_timer_init(&loop, &patience), 0);
  bool readable = false;
  poll.data = &readable;
  bool late = false;
  patience.data = &late;
  ASSERT_EQ(uv_poll_start(&poll, UV_READABLE,
                          [](uv_poll_t* p, int status, int events) {
                            *static_cast<bool*>(p->data) =
                                status == 0 && (events & UV_READABLE) != 0;
                          }),
            0);
  Serve([&] {
    readable = late = false;
    uv_timer_start(
        &patience, [](uv_timer_t* t) { *static_cast<bool*>(t->data) = true; }, kPatienceMs, 0);
    while (!readable && !late) uv_run(&loop, UV_RUN_ONCE);
    return readable;
  });
  uv_close(reinterpret_cast<uv_handle_t*>(&poll), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&patience), nullptr);
  uv_run(&loop, UV_RUN_DEFAULT);
  EXPECT_EQ(uv_loop_close(&loop), 0);
}

// The descriptor is closed with the CNO.
TEST_F(FdCnoTest, ClosedWithTheCno) {
  DAT_FD fd = -1;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_DAT_OK(dat_cno_fd_create(ia_.handle(), &fd, &cno));
  EXPECT_GE(fcntl(fd, F_GETFD), 0);
  EXPECT_DAT_OK(dat_cno_free(cno));
  EXPECT_LT(fcntl(fd, F_GETFD), 0);
}

}  // namespace
}  // namespace softdat::field
