// SPDX-License-Identifier: BSD-3-Clause
// The system calls of a connection over TCP that is made and ended. This program's functions stand
// in front of those of the C library, and count. One thread is both ends.
//
// Waits are not counted, and neither is a look that finds nothing, because the machine decides how
// often a program looks before the kernel has delivered.
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <new>

#include "tests/field/counted_syscall.h"
#include "tests/field/field.h"
#include "tests/field/process.h"

namespace {

enum Kind { kSend, kReceive, kSocket, kAddress, kOption, kWatch, kEnd, kKinds };
constexpr std::array<const char*, kKinds> kNames = {
    "send", "receive", "socket, accept", "address", "option", "epoll_ctl", "shutdown, close"};

std::array<std::atomic<uint64_t>, kKinds> counts;

template <typename T>
T Counted(Kind kind, T result) {
  if (result >= 0) counts[kind].fetch_add(1, std::memory_order_relaxed);
  return result;
}

}  // namespace

// Defines a function of the C library that counts, and then calls the library's own.
#define COUNTED(kind, name, parameters, arguments, ...)                                    \
  extern "C" [[gnu::visibility("default")]] int name parameters __VA_ARGS__ {              \
    static auto* const libcs = reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name)); \
    return Counted(kind, libcs arguments);                                                 \
  }

COUNTED(kSocket, socket, (int family, int type, int protocol), (family, type, protocol), noexcept)
COUNTED(kSocket, accept4, (int fd, sockaddr* from, socklen_t* size, int flags),
        (fd, from, size, flags))
COUNTED(kAddress, getsockname, (int fd, sockaddr* own, socklen_t* size), (fd, own, size), noexcept)
COUNTED(kAddress, getpeername, (int fd, sockaddr* peer, socklen_t* size), (fd, peer, size),
        noexcept)
COUNTED(kOption, getsockopt, (int fd, int level, int name, void* value, socklen_t* size),
        (fd, level, name, value, size), noexcept)
COUNTED(kOption, setsockopt, (int fd, int level, int name, const void* value, socklen_t size),
        (fd, level, name, value, size), noexcept)
COUNTED(kWatch, epoll_ctl, (int epoll, int operation, int fd, epoll_event* event),
        (epoll, operation, fd, event), noexcept)
COUNTED(kEnd, shutdown, (int fd, int how), (fd, how), noexcept)
COUNTED(kEnd, close, (int fd), (fd))

extern "C" [[gnu::visibility("default")]] int ioctl(int fd, unsigned long request, ...) noexcept {
  static auto* const libcs = reinterpret_cast<decltype(&ioctl)>(dlsym(RTLD_NEXT, "ioctl"));
  va_list list;
  va_start(list, request);
  void* const argument = va_arg(list, void*);
  va_end(list);
  return Counted(kOption, libcs(fd, request, argument));
}

namespace softdat::field {

void CountCall(long number, long result) {
  if (number == SYS_sendto || number == SYS_sendmsg) Counted(kSend, result);
  if (number == SYS_recvfrom || number == SYS_recvmsg) Counted(kReceive, result);
}

namespace {

constexpr uint64_t kWarmUp = 20;
constexpr uint64_t kRounds = 200;

using Calls = std::array<uint64_t, kKinds>;

Calls Now() {
  Calls now{};
  std::copy(counts.begin(), counts.end(), now.begin());
  return now;
}

// Connections between two programs, each with an IA of its own. `active` asks for them.
class Programs {
 public:
  Programs() { EXPECT_DAT_OK(psp_.ListenAny(passive_ia_, passive.cr_evd)); }
  ~Programs() { EXPECT_DAT_OK(psp_.Free()); }

  void Connect() {
    ASSERT_DAT_OK(StartConnect(active.ep, passive_ia_.address(), psp_.qualifier()));
    DAT_EVENT event{};
    Poll(passive.cr_evd, DAT_CONNECTION_REQUEST_EVENT, &event);
    ASSERT_DAT_OK(
        dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, passive.ep, 0, nullptr));
    PollBoth(DAT_CONNECTION_EVENT_ESTABLISHED);
  }
  void Disconnect(End* first) {
    ASSERT_DAT_OK(dat_ep_disconnect(first->ep, DAT_CLOSE_GRACEFUL_FLAG));
    PollBoth(DAT_CONNECTION_EVENT_DISCONNECTED);
    ASSERT_DAT_OK(dat_ep_reset(active.ep));
    ASSERT_DAT_OK(dat_ep_reset(passive.ep));
  }

 private:
  // Looks at the EVDs of both programs in turn, since each look moves the data of its own program.
  void Poll(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EVENT* event) {
    DAT_EVENT unexpected;
    while (DAT_GET_TYPE(dat_evd_dequeue(evd, event)) == DAT_QUEUE_EMPTY)
      ASSERT_EQ(DAT_GET_TYPE(dat_evd_dequeue(active.recv_evd, &unexpected)),
                DAT_RETURN{DAT_QUEUE_EMPTY});
    ASSERT_EQ(event->event_number, number);
  }
  void PollBoth(DAT_EVENT_NUMBER number) {
    const DAT_EVD_HANDLE evds[] = {active.connect_evd, passive.connect_evd};
    for (size_t seen = 0, i = 0; seen < 2; i ^= 1) {
      DAT_EVENT event{};
      if (DAT_GET_TYPE(dat_evd_dequeue(evds[i], &event)) == DAT_QUEUE_EMPTY) continue;
      ASSERT_EQ(event.event_number, number);
      ++seen;
    }
  }

  Ia active_ia_, passive_ia_;

 public:
  End active{active_ia_}, passive{passive_ia_};

 private:
  client::ServicePoint psp_;
};

// What kRounds connections cost, in a process of their own.
Calls Cost(End Programs::*first_to_leave) {
  auto* const cost =
      new (mmap(nullptr, sizeof(Calls), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
          Calls{};
  const int child = StartChild([&] {
    Programs programs;
    Calls before{};
    for (uint64_t i = 0; i < kWarmUp + kRounds && !testing::Test::HasFailure(); ++i) {
      if (i == kWarmUp) before = Now();
      programs.Connect();
      programs.Disconnect(&(programs.*first_to_leave));
    }
    *cost = Now();
    for (int kind = 0; kind < kKinds; ++kind) (*cost)[kind] -= before[kind];
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(WaitForChild(child), 0);
  const Calls result = *cost;
  munmap(cost, sizeof(Calls));
  return result;
}

// Expects this many calls of each kind for a connection, at both ends together. Of several runs the
// least counts: a thread that is stopped for a while lets the provider's helper step in, and that
// can only cost more.
void ExpectNoMoreThan(const std::array<double, kKinds>& most, End Programs::*first_to_leave) {
  constexpr double kVaries = 0.5;
  Calls least = Cost(first_to_leave);
  for (int run = 1; run < 4 && !testing::Test::HasFailure(); ++run) {
    const Calls c = Cost(first_to_leave);
    for (int kind = 0; kind < kKinds; ++kind) least[kind] = std::min(least[kind], c[kind]);
  }
  for (int kind = 0; kind < kKinds; ++kind) {
    const double each = static_cast<double>(least[kind]) / kRounds;
    EXPECT_GE(each, 1) << kNames[kind] << ": it counts";
    EXPECT_LE(each, most[kind] + kVaries) << kNames[kind];
  }
}

// Sends and receives: the Request, the Reply, the first message, its answer, and two ends of file;
// and the passive end looks whether that message has come before it takes it. Options: five that an
// asking socket needs, and the size of a segment at each end; an end that leaves first asks what
// the other one lacks; and libuv makes each of two sockets one that does not block. Watches: each
// end has one, which is started and ended, and libuv tries it out, which adds two calls. None is
// needed to learn that the asking end is connected, and none for the Request.
constexpr std::array<double, kKinds> kMost = {4, 7, 2, 4, 10, 8, 3};

TEST(ConnectionCallsTest, WhenTheActiveEndLeaves) { ExpectNoMoreThan(kMost, &Programs::active); }
TEST(ConnectionCallsTest, WhenThePassiveEndLeaves) { ExpectNoMoreThan(kMost, &Programs::passive); }

}  // namespace
}  // namespace softdat::field
