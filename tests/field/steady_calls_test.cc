// SPDX-License-Identifier: BSD-3-Clause
// Transfers in their steady state make as many system calls with completions that mean "confirmed"
// as with completions that mean "taken", because confirmations travel with messages that are sent
// anyway. A write leaves with its notice. This program's syscall() counts. One thread is both ends,
// so that each end finds what the other has sent.
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <ostream>

#include "tests/field/counted_syscall.h"
#include "tests/field/field.h"
#include "tests/field/process.h"

namespace {

// Calls on sockets. Those that find nothing are not counted, because the machine decides how often
// a program looks before the kernel has delivered.
struct Calls {
  uint64_t sends = 0;
  uint64_t receives = 0;
  uint64_t kicks = 0;  // to a thread that sleeps in the loop
};

Calls operator-(const Calls& a, const Calls& b) {
  return {a.sends - b.sends, a.receives - b.receives, a.kicks - b.kicks};
}

void PrintTo(const Calls& c, std::ostream* os) {
  *os << c.sends << " sends, " << c.receives << " receives, " << c.kicks << " kicks";
}

std::atomic<uint64_t> sends, receives, kicks;

Calls Now() { return {sends.load(), receives.load(), kicks.load()}; }

}  // namespace

namespace softdat::field {

void CountCall(long number, long result) {
  if (result <= 0) return;
  switch (number) {
    case SYS_sendto:
    case SYS_sendmsg:
      sends.fetch_add(1, std::memory_order_relaxed);
      break;
    case SYS_recvfrom:
    case SYS_recvmsg:
      receives.fetch_add(1, std::memory_order_relaxed);
      break;
    case SYS_write:
      kicks.fetch_add(1, std::memory_order_relaxed);
      break;
    default:
      break;
  }
}

namespace {

constexpr uint64_t kWarmUp = 100;
constexpr uint64_t kRounds = 400;
constexpr DAT_COUNT kWindow = 64;
constexpr size_t kSize = 64;

DAT_EP_ATTR DeepQueues() {
  DAT_EP_ATTR attr{};
  attr.service_type = DAT_SERVICE_TYPE_RC;
  attr.max_recv_dtos = attr.max_request_dtos = 2 * kWindow;
  attr.max_recv_iov = attr.max_request_iov = 1;
  return attr;
}

// Two programs, each with an IA of its own.
class Programs {
 public:
  Programs() {
    EXPECT_TRUE(Join(a, b));
    for (DAT_COUNT i = 0; i < kWindow; ++i) {
      EXPECT_DAT_OK(PostReceive(a.ep, a_memory.Local(0, kSize), 0));
      EXPECT_DAT_OK(PostReceive(b.ep, b_memory.Local(0, kSize), 0));
    }
  }

 private:
  const DAT_EP_ATTR attr_ = DeepQueues();
  const End::Options options_ = {.attr = &attr_};
  Ia a_ia_, b_ia_;

 public:
  Memory a_memory{a_ia_, 4096}, b_memory{b_ia_, 4096};
  End a{a_ia_, options_}, b{b_ia_, options_};
};

// Takes the next completion of `evd`, which must be a success. Returns false if there is none yet.
bool Look(DAT_EVD_HANDLE evd) {
  DAT_EVENT event;
  const DAT_RETURN ret = dat_evd_dequeue(evd, &event);
  if (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY) return false;
  EXPECT_DAT_OK(ret);
  EXPECT_EQ(event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
  return true;
}
void Poll(DAT_EVD_HANDLE evd) {
  while (!Look(evd)) {
  }
}
void Wait(DAT_EVD_HANDLE evd) {
  DAT_EVENT event;
  ASSERT_DAT_OK(client::WaitEvent(evd, kPatienceUs, &event));
  ASSERT_EQ(event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
}

// The calls that `exchange` makes with completions of this meaning, in a process of its own.
template <typename Exchange>
Calls Cost(const char* completion, Exchange exchange) {
  auto* const cost =
      new (mmap(nullptr, sizeof(Calls), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
          Calls;
  const int child = StartChild([&] {
    setenv("SOFTDAT_COMPLETION", completion, 1);
    Programs programs;
    for (uint64_t i = 0; i < kWarmUp && !testing::Test::HasFailure(); ++i) exchange(programs);
    const Calls before = Now();
    for (uint64_t i = 0; i < kRounds && !testing::Test::HasFailure(); ++i) exchange(programs);
    *cost = Now() - before;
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(WaitForChild(child), 0);
  const Calls result = *cost;
  munmap(cost, sizeof(Calls));
  return result;
}

// The minimum of several runs. If a thread is stopped for a while, the provider's helper steps in,
// and that can only cost more.
template <typename Exchange>
Calls LeastCost(const char* completion, Exchange exchange) {
  Calls least = Cost(completion, exchange);
  for (int run = 1; run < 8 && !testing::Test::HasFailure(); ++run) {
    const Calls c = Cost(completion, exchange);
    least = {std::min(least.sends, c.sends), std::min(least.receives, c.receives),
             std::min(least.kicks, c.kicks)};
  }
  return least;
}

// Expects this many more calls for each exchange, at both ends together.
template <typename Exchange>
void ExpectMore(uint64_t sends_more, uint64_t receives_more, Exchange exchange) {
  constexpr uint64_t kVaries = kRounds / 8;
  const Calls taken = LeastCost("taken", exchange);
  const Calls confirmed = LeastCost("confirmed", exchange);
  SCOPED_TRACE("taken: " + testing::PrintToString(taken) +
               "; confirmed: " + testing::PrintToString(confirmed));
  EXPECT_GE(taken.sends, kRounds) << "it counts";
  EXPECT_GE(taken.receives, kRounds) << "it counts";
  EXPECT_LE(confirmed.sends, taken.sends + sends_more * kRounds + kVaries);
  EXPECT_LE(confirmed.receives, taken.receives + receives_more * kRounds + kVaries);
  EXPECT_LE(confirmed.kicks, taken.kicks + kVaries);
}

// Passes a message from one program to the other, which takes it. A write may go before it. Also
// takes the completions of `completed` posts of `to` before, which have arrived by now.
template <typename Take>
void Pass(End& from, const Memory& source, End& to, const Memory& target, bool write, int completed,
          Take take) {
  if (write) {
    ASSERT_DAT_OK(PostWrite(from.ep, source.Local(0, kSize), target.Remote(1024, kSize), 1));
  }
  ASSERT_DAT_OK(PostSend(from.ep, source.Local(0, kSize), 2));
  take(to.recv_evd);
  ASSERT_DAT_OK(PostReceive(to.ep, target.Local(0, kSize), 0));
  for (int i = 0; i < completed; ++i) take(to.request_evd);
}

template <typename Take>
void ExpectRoundTripsCostNoMore(bool write, Take take) {
  const int posts = write ? 2 : 1;
  ExpectMore(0, 0, [write, take, posts, before = 0](Programs& p) mutable {
    Pass(p.a, p.a_memory, p.b, p.b_memory, write, before, take);
    Pass(p.b, p.b_memory, p.a, p.a_memory, write, posts, take);
    before = posts;
  });
}

TEST(SteadyCallsTest, PolledMessages) { ExpectRoundTripsCostNoMore(false, Poll); }
TEST(SteadyCallsTest, AwaitedMessages) { ExpectRoundTripsCostNoMore(false, Wait); }
TEST(SteadyCallsTest, PolledWritesAndTheirNotices) { ExpectRoundTripsCostNoMore(true, Poll); }
TEST(SteadyCallsTest, AwaitedWritesAndTheirNotices) { ExpectRoundTripsCostNoMore(true, Wait); }

// A message layer's rendezvous, one each way: a message asks, one answers, and a write leaves with
// its notice in one call, as if no single messages came in between. Only confirmations that nothing
// is left to travel with may leave alone.
template <typename Take>
void ExpectRendezvousInThreeCalls(Take take) {
  const Calls calls = LeastCost("confirmed", [take, before = 0](Programs& p) mutable {
    Pass(p.a, p.a_memory, p.b, p.b_memory, false, before, take);
    Pass(p.b, p.b_memory, p.a, p.a_memory, false, 1, take);
    Pass(p.a, p.a_memory, p.b, p.b_memory, true, 1, take);
    Pass(p.b, p.b_memory, p.a, p.a_memory, false, 2, take);
    Pass(p.a, p.a_memory, p.b, p.b_memory, false, 1, take);
    Pass(p.b, p.b_memory, p.a, p.a_memory, true, 1, take);
    before = 2;
  });
  SCOPED_TRACE(testing::PrintToString(calls));
  EXPECT_GE(calls.sends, 6 * kRounds) << "it counts";
  EXPECT_LT(calls.sends, 7 * kRounds);
  EXPECT_LE(calls.kicks, kRounds / 8);
}
TEST(SteadyCallsTest, PolledRendezvous) { ExpectRendezvousInThreeCalls(Poll); }
TEST(SteadyCallsTest, AwaitedRendezvous) { ExpectRendezvousInThreeCalls(Wait); }

// If messages go only one way, there is nothing to travel with. The confirmation of a window of
// messages costs one call of the receiver, which sends it, and one of the sender, which receives
// it.
TEST(SteadyCallsTest, AWindowOfMessagesCostsOneCallMoreAtEachEnd) {
  ExpectMore(1, 1, [](Programs& p) {
    for (DAT_COUNT i = 0; i < kWindow; ++i)
      ASSERT_DAT_OK(PostSend(p.a.ep, p.a_memory.Local(0, kSize), 1));
    DAT_COUNT sent = 0, received = 0;
    while (sent < kWindow || received < kWindow) {
      while (Look(p.a.request_evd)) ++sent;
      while (Look(p.b.recv_evd)) {
        ++received;
        ASSERT_DAT_OK(PostReceive(p.b.ep, p.b_memory.Local(0, kSize), 0));
      }
    }
  });
}

}  // namespace
}  // namespace softdat::field
