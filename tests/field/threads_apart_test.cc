// SPDX-License-Identifier: BSD-3-Clause
// A thread that polls its own queue does not wait for another thread that is in a call for another
// end point of the same IA. This program's syscall() keeps a thread in the midst of its send, where
// it has the lock of its queue pair.
#include <sys/syscall.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "tests/field/counted_syscall.h"
#include "tests/field/field.h"

namespace {

constexpr std::chrono::seconds kPatience(30);

// How many more sends of this thread are as usual. The one behind them is held.
thread_local int sends_before_hold = -1;
std::atomic<bool> held{false}, released{false};

}  // namespace

namespace softdat::field {

void CountCall(long number, long /*result*/) {
  if (number != SYS_sendto && number != SYS_sendmsg) return;
  if (sends_before_hold < 0 || sends_before_hold-- > 0) return;
  held = true;
  held.notify_one();
  released.wait(false);
}

namespace {

constexpr DAT_COUNT kDepth = 128;
constexpr size_t kSize = 64;

DAT_EP_ATTR DeepQueues() {
  DAT_EP_ATTR attr{};
  attr.service_type = DAT_SERVICE_TYPE_RC;
  attr.max_recv_dtos = attr.max_request_dtos = kDepth;
  attr.max_recv_iov = attr.max_request_iov = 1;
  return attr;
}

class ThreadsApartTest : public testing::Test {
 protected:
  // Two connections of one IA with another one.
  ThreadsApartTest() {
    EXPECT_TRUE(Join(busy_, busy_peer_));
    EXPECT_TRUE(Join(polled_, polled_peer_));
    for (DAT_COUNT i = 0; i < kDepth; ++i) {
      EXPECT_DAT_OK(PostReceive(busy_peer_.ep, peer_memory_.Local(0, kSize), 0));
      EXPECT_DAT_OK(PostReceive(busy_.ep, memory_.Local(0, kSize), 0));
    }
  }

  // Runs `call` on a thread that is held in its send behind the first so many. Meanwhile another
  // thread polls the other end point. Returns whether that thread went on.
  template <typename Call>
  bool PollsWhileHeld(int sends, Call call) {
    held = released = false;
    std::thread caller([&] {
      sends_before_hold = sends;
      call();
      sends_before_hold = -1;
      held = true;
      held.notify_one();
    });
    held.wait(false);
    std::promise<void> polled;
    std::thread poller([&] {
      DAT_EVENT event;
      for (int i = 0; i < 4; ++i)
        EXPECT_DAT_TYPE(dat_evd_dequeue(polled_.recv_evd, &event), DAT_QUEUE_EMPTY);
      polled.set_value();
    });
    const bool went_on = polled.get_future().wait_for(kPatience) == std::future_status::ready;
    released = true;
    released.notify_one();
    caller.join();
    poller.join();
    return went_on;
  }

 private:
  const DAT_EP_ATTR attr_ = DeepQueues();
  const End::Options options_ = {.attr = &attr_};
  Ia ia_, peer_ia_;

 protected:
  Memory memory_{ia_, 4096}, peer_memory_{peer_ia_, 4096};
  End busy_{ia_, options_}, polled_{ia_};
  End busy_peer_{peer_ia_, options_}, polled_peer_{peer_ia_};
};

// The first post of a burst leaves at once. Those behind it gather, and any thread that polls may
// write them. Here the thread that posts is at it.
TEST_F(ThreadsApartTest, APollLeavesGatheredSendsToTheThreadThatWritesThem) {
  for (int round = 0; round < 10 && !HasFailure(); ++round) {
    EXPECT_TRUE(PollsWhileHeld(1, [this] {
      for (DAT_COUNT i = 0; i < kDepth; ++i)
        EXPECT_DAT_OK(PostSend(busy_.ep, memory_.Local(0, kSize), 0));
    }));
    for (DAT_COUNT i = 0; i < kDepth; ++i) {
      EXPECT_TRUE(ExpectDto(busy_peer_.recv_evd, 0, kSize));
      EXPECT_TRUE(ExpectDto(busy_.request_evd, 0, kSize));
      EXPECT_DAT_OK(PostReceive(busy_peer_.ep, peer_memory_.Local(0, kSize), 0));
    }
  }
}

// What an end owes to its peer for a message rides on the answer, and any thread that polls in vain
// may pay it. Here the answer is being sent.
TEST_F(ThreadsApartTest, APollLeavesWhatIsOwedToTheThreadThatAnswers) {
  for (int round = 0; round < 100 && !HasFailure(); ++round) {
    EXPECT_DAT_OK(PostSend(busy_peer_.ep, peer_memory_.Local(0, kSize), 0));
    EXPECT_TRUE(PollsWhileHeld(0, [this] {
      DAT_EVENT event;
      while (dat_evd_dequeue(busy_.recv_evd, &event) != DAT_SUCCESS) {
      }
      EXPECT_DAT_OK(PostReceive(busy_.ep, memory_.Local(0, kSize), 0));
      EXPECT_DAT_OK(PostSend(busy_.ep, memory_.Local(0, kSize), 0));
    }));
    EXPECT_TRUE(ExpectDto(busy_peer_.recv_evd, 0, kSize));
    EXPECT_TRUE(ExpectDto(busy_peer_.request_evd, 0, kSize));
    EXPECT_TRUE(ExpectDto(busy_.request_evd, 0, kSize));
    EXPECT_DAT_OK(PostReceive(busy_peer_.ep, peer_memory_.Local(0, kSize), 0));
  }
}

}  // namespace
}  // namespace softdat::field
