// SPDX-License-Identifier: BSD-3-Clause
// Which streams a polling thread tries first: those of the queue that it looks at, and those that
// nobody else looks after.
#include "provider_softnet/driver/hot_set.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "provider_softnet/driver/counting_channel.h"

namespace softdat::softnet {
namespace {

using transport::ProgressResult;

TEST(HotSetTest, FollowsTheStreamsThatDeliver) {
  Driver driver(DriverOptions{});
  ASSERT_TRUE(driver.Start().ok());
  {
    std::vector<RefPtr<CountingChannel>> channels;
    for (int i = 0; i < 8; ++i) {
      channels.push_back(RefPtr<CountingChannel>::Adopt(new CountingChannel(&driver)));
    }
    HotSet& hot = driver.hot();
    for (int round = 0; round < 20; ++round) {
      for (auto& c : channels) hot.OnFoundByTurn(c.get());
    }
    EXPECT_LE(hot.interval(), 4u) << "eight active streams want every turn";
    for (int round = 0; round < 20; ++round) hot.OnFoundByTurn(channels[3].get());
    EXPECT_EQ(hot.interval(), 64u) << "one active stream is polled by itself";
    // Each knows whether it is one of those that are polled.
    EXPECT_EQ(channels[3]->hot, 1);
    const auto is_hot = [](const auto& c) { return c->hot.load() > 0; };
    EXPECT_EQ(std::ranges::count_if(channels, is_hot), 2);
    for (auto& c : channels) c->Close();
    EXPECT_EQ(std::ranges::count_if(channels, is_hot), 0);
  }
  driver.Stop();
}

TEST(AdopterListTest, ForgetsTheSetsOfQueuesThatAreGone) {
  AdopterList adopters;
  const RefPtr<HotSet> lasting = RefPtr<HotSet>::Adopt(new HotSet(HotSet::Tells::kNo));
  adopters.Add(lasting.get());
  for (int i = 0; i < 10; ++i) {
    const RefPtr<HotSet> set = RefPtr<HotSet>::Adopt(new HotSet(HotSet::Tells::kNo));
    adopters.Add(set.get());
    adopters.Add(set.get());  // a second stream
    EXPECT_EQ(adopters.size(), 2u) << i;
    set->Close();
  }
}

// Two queues, each with a stream that feeds it.
class TwoQueuesTest : public testing::Test {
 protected:
  struct Queue {
    RefPtr<HotSet> hot = RefPtr<HotSet>::Adopt(new HotSet(HotSet::Tells::kYes));
    RefPtr<CountingChannel> channel;
  };

  void SetUp() override {
    ASSERT_TRUE(driver_.Start().ok());
    for (Queue* queue : {&mine_, &other_}) {
      queue->channel = RefPtr<CountingChannel>::Adopt(new CountingChannel(&driver_));
      queue->channel->own = queue->hot;
    }
  }
  void TearDown() override {
    for (Queue* queue : {&mine_, &other_}) {
      queue->channel->Close();
      EXPECT_EQ(queue->channel->hot, 0);
    }
    driver_.Stop();
  }

  // One byte comes, and whoever polls `queue` finds it.
  void Deliver(Queue* queue, Queue* polled) {
    const int before = queue->channel->received;
    queue->channel->PeerSends();
    ASSERT_TRUE(Until([&] {
      driver_.Poll(polled->hot.get());
      return queue->channel->received > before;
    }));
  }
  // Polls `queue` that many times while nothing comes.
  void PollInVain(Queue* queue, int times) {
    for (int i = 0; i < times; ++i) driver_.Poll(queue->hot.get());
  }

  Driver driver_{DriverOptions{.helper_tick = std::chrono::hours(1)}};  // nothing but polls
  Queue mine_, other_;
};

constexpr int kInterval = 64;

// The number of looks at all sockets in so many polls of a queue whose data come from a hot stream.
uint64_t LooksIn(uint32_t polls, const LookInterval& look, bool rests = false) {
  Driver driver{DriverOptions{.helper_tick = std::chrono::hours(1), .look = look}};
  EXPECT_TRUE(driver.Start().ok());
  const auto channel = RefPtr<CountingChannel>::Adopt(new CountingChannel(&driver));
  channel->rests_now = rests;
  const auto queue = RefPtr<HotSet>::Adopt(new HotSet(HotSet::Tells::kNo));
  queue->OnFoundByTurn(channel.get());
  const uint64_t before = driver.counters().loop_turns.value();
  for (uint32_t i = 0; i < polls; ++i) driver.Poll(queue.get());
  const uint64_t looks = driver.counters().loop_turns.value() - before;
  queue->Close();
  channel->Close();
  driver.Stop();
  return looks;
}

TEST(LookIntervalTest, TheWireDecidesHowOftenPollsLookAtAllSockets) {
  EXPECT_EQ(LooksIn(10 * 64, {}), 10U);
  EXPECT_EQ(LooksIn(10 * 512, {.of_a_queue = 512, .of_a_thread = 521}), 10U);
  EXPECT_EQ(LooksIn(10 * 521, {.of_a_queue = 1024, .of_a_thread = 521}), 10U);
}

// A poll of a stream that rests takes no time, and is no sign that there is nothing to come.
TEST(LookIntervalTest, RestsAreNoPolls) { EXPECT_EQ(LooksIn(10 * 64, {}, /*rests=*/true), 0U); }

TEST_F(TwoQueuesTest, AStreamThatRestsIsNotSilent) {
  Deliver(&mine_, &mine_);
  mine_.channel->rests_now = true;
  PollInVain(&mine_, 1000);
  EXPECT_FALSE(mine_.hot->SilentFor(1));
  EXPECT_EQ(mine_.hot->Poll(), HotSet::Polled::kRested);
  mine_.channel->rests_now = false;
  PollInVain(&mine_, 2);
  EXPECT_TRUE(mine_.hot->SilentFor(2));
  EXPECT_EQ(mine_.hot->Poll(), HotSet::Polled::kNothing);
}

// Another one of the set was looked at.
TEST_F(TwoQueuesTest, AStreamThatRestsHidesNoOther) {
  Deliver(&mine_, &mine_);
  mine_.hot->OnFoundByTurn(other_.channel.get());
  mine_.channel->rests_now = true;
  EXPECT_EQ(mine_.hot->Poll(), HotSet::Polled::kNothing);
  other_.channel->PeerSends();
  EXPECT_EQ(mine_.hot->Poll(), HotSet::Polled::kMoved);
  mine_.hot->Drop(other_.channel.get());
}

TEST_F(TwoQueuesTest, APollTriesTheStreamsOfItsOwnQueueAlone) {
  Deliver(&mine_, &mine_);
  Deliver(&other_, &other_);
  PollInVain(&mine_, kInterval);  // so that the next look at all sockets is far away
  const uint64_t turns = driver_.counters().loop_turns.value();
  other_.channel->PeerSends();
  mine_.channel->PeerSends();
  driver_.Poll(mine_.hot.get());
  ASSERT_EQ(driver_.counters().loop_turns.value(), turns);
  EXPECT_EQ(mine_.channel->received, 2);
  EXPECT_EQ(other_.channel->received, 1) << "it feeds another queue, which is polled, too";
  driver_.Poll(other_.hot.get());
  EXPECT_EQ(other_.channel->received, 2);
}

TEST_F(TwoQueuesTest, AStreamWhoseQueueNobodyPollsIsAdopted) {
  Deliver(&mine_, &mine_);
  Deliver(&other_, &mine_);
  PollInVain(&mine_, kInterval);
  const uint64_t turns = driver_.counters().loop_turns.value();
  other_.channel->PeerSends();
  driver_.Poll(mine_.hot.get());
  EXPECT_EQ(driver_.counters().loop_turns.value(), turns);
  EXPECT_EQ(other_.channel->received, 2) << "at the first poll, without a look at all sockets";
}

TEST_F(TwoQueuesTest, AnAdoptedStreamIsLeftToItsOwnQueueOnceThatIsPolled) {
  Deliver(&mine_, &mine_);
  Deliver(&other_, &mine_);
  EXPECT_EQ(other_.channel->hot, 3) << "its own queue's set, the polled one, and the driver's";
  PollInVain(&other_, 1);
  PollInVain(&mine_, kInterval);
  EXPECT_EQ(other_.channel->hot, 2);
  // Data that a look at all sockets finds do not change that.
  for (int i = 0; i < 4; ++i) {
    PollInVain(&other_, 1);
    other_.channel->PeerSends();
    PollInVain(&mine_, kInterval);
    EXPECT_EQ(other_.channel->hot, 2) << i;
  }
}

// What comes on a socket of no queue, a request for a connection for example, is found as soon as
// by a thread that polls one queue.
TEST_F(TwoQueuesTest, AThreadThatPollsManyQueuesLooksElsewhereAsOften) {
  const UniqueFd always(eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC));
  const pthread_t me = pthread_self();
  int looks = 0;
  std::optional<SocketWatch> watch;
  {
    const TokenHold token(&driver_.token());
    watch.emplace(&driver_.loop(),
                  [&](int) { looks += pthread_equal(pthread_self(), me) ? 1 : 0; });
    ASSERT_TRUE(watch->Start(always.get(), kReadable).ok());
  }
  std::vector<Queue> many(32);
  for (Queue& queue : many) {
    queue.channel = RefPtr<CountingChannel>::Adopt(new CountingChannel(&driver_));
    queue.channel->own = queue.hot;
    queue.hot->OnFoundByTurn(queue.channel.get());
    ASSERT_EQ(queue.hot->interval(), 64u);
  }
  int rounds = 0;
  for (; rounds < 32 && looks == 0; ++rounds) {  // no queue's own count has come to its end
    for (Queue& queue : many) driver_.Poll(queue.hot.get());
  }
  EXPECT_GT(looks, 0);
  for (Queue& queue : many) queue.channel->Close();
  const TokenHold token(&driver_.token());
  watch->Stop();
}

TEST_F(TwoQueuesTest, AQueueThatIsGoneKeepsNoStream) {
  Deliver(&mine_, &mine_);
  Deliver(&other_, &mine_);
  EXPECT_EQ(other_.channel->hot, 3);
  mine_.hot->Close();
  EXPECT_EQ(other_.channel->hot, 2);
  EXPECT_EQ(mine_.channel->hot, 1) << "the driver's";
  mine_.hot->OnFoundByTurn(mine_.channel.get());
  EXPECT_EQ(mine_.channel->hot, 1);
}

TEST_F(TwoQueuesTest, AClosedStreamIsAdoptedNoMore) {
  Deliver(&mine_, &mine_);
  Deliver(&other_, &mine_);
  other_.channel->Close();
  EXPECT_EQ(other_.channel->hot, 0);
}

}  // namespace
}  // namespace softdat::softnet
