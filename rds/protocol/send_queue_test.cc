// SPDX-License-Identifier: BSD-3-Clause
// The messages of a connection that its peer has not acknowledged.
#include "rds/protocol/send_queue.h"

#include <gtest/gtest.h>

namespace softdat::rds {
namespace {

using Ids = std::vector<uint64_t>;

OutgoingMessage MessageOf(uint64_t id, size_t size = 8, bool behind_rdma = false) {
  OutgoingMessage out;
  out.id = id;
  out.message.payload.resize(size);
  out.behind_rdma = behind_rdma;
  return out;
}

// Sends everything. Returns "id:offset+size", with "R" if it was sent before and "." at the end.
std::vector<std::string> SendAll(SendQueue* queue) {
  std::vector<std::string> sent;
  while (const auto fragment = queue->Next()) {
    sent.push_back(std::to_string(fragment->message->id) + ":" + std::to_string(fragment->offset) +
                   "+" + std::to_string(fragment->size) + (fragment->retransmitted ? "R" : "") +
                   (fragment->last ? "." : ""));
    queue->Sent(*queue->Next());
  }
  return sent;
}

TEST(SendQueueTest, MessagesAreCutIntoFragments) {
  SendQueue queue;
  for (const size_t size : {0, 1, 4096, 4097, 10'000}) queue.Add(MessageOf(size, size));
  EXPECT_EQ(SendAll(&queue), (std::vector<std::string>{
                                 "0:0+0.", "1:0+1.", "4096:0+4096.", "4097:0+4096", "4097:4096+1.",
                                 "10000:0+4096", "10000:4096+4096", "10000:8192+1808."}));
}

TEST(SendQueueTest, SequencesBeginAtOne) {
  SendQueue queue;
  queue.Add(MessageOf(5));
  EXPECT_EQ(queue.Next()->sequence, 1u);
  EXPECT_EQ(queue.next_sequence(), 2u);
}

TEST(SendQueueTest, SequencesMayBeginBehindAnother) {
  SendQueue queue;
  queue.Add(MessageOf(5));
  queue.Add(MessageOf(6));
  queue.StartBehind(40);
  EXPECT_EQ(queue.Next()->sequence, 41u);
  EXPECT_EQ(queue.next_sequence(), 43u);
  SendAll(&queue);
  EXPECT_EQ(queue.Acknowledge(40), Ids{});
  EXPECT_EQ(queue.Acknowledge(41), Ids{5});
}

TEST(SendQueueTest, AcknowledgementsAreCumulative) {
  SendQueue queue;
  for (uint64_t id = 10; id < 14; ++id) queue.Add(MessageOf(id));
  EXPECT_EQ(queue.Acknowledge(99), Ids{}) << "nothing was sent";
  SendAll(&queue);
  EXPECT_EQ(queue.Acknowledge(2), (Ids{10, 11}));
  EXPECT_EQ(queue.Acknowledge(1), Ids{});
  EXPECT_EQ(queue.Acknowledge(~uint64_t{0}), (Ids{12, 13}));
  EXPECT_TRUE(queue.empty());
}

TEST(SendQueueTest, ANewConnectionGetsWhatThePeerLacks) {
  SendQueue queue;
  for (uint64_t id = 0; id < 4; ++id) queue.Add(MessageOf(id, 5000));
  for (int fragments = 0; fragments < 5; ++fragments)
    queue.Sent(*queue.Next());  // the third in part
  const SendQueue::Restarted restarted = queue.Restart(1);
  EXPECT_EQ(restarted.done, Ids{0});
  EXPECT_EQ(restarted.dropped, Ids{});
  EXPECT_EQ(SendAll(&queue), (std::vector<std::string>{"1:0+4096R", "1:4096+904R.", "2:0+4096R",
                                                       "2:4096+904R.", "3:0+4096", "3:4096+904."}));
}

TEST(SendQueueTest, WhatFollowsAnRdmaOperationIsNotSentAgain) {
  SendQueue queue;
  for (uint64_t id = 0; id < 5; ++id) queue.Add(MessageOf(id, 5000, id != 2));
  for (int fragments = 0; fragments < 7; ++fragments)
    queue.Sent(*queue.Next());  // the fourth in part
  const SendQueue::Restarted restarted = queue.Restart(1);
  EXPECT_EQ(restarted.done, Ids{0}) << "the peer's word goes first";
  EXPECT_EQ(restarted.dropped, (Ids{1, 3}));
  EXPECT_EQ(SendAll(&queue),
            (std::vector<std::string>{"2:0+4096R", "2:4096+904R.", "4:0+4096", "4:4096+904."}));
}

TEST(SendQueueTest, WhatIsTakenBackLeavesAHole) {
  SendQueue queue;
  for (uint64_t id = 0; id < 6; ++id) queue.Add(MessageOf(id, 5000));
  for (int fragments = 0; fragments < 5; ++fragments)
    queue.Sent(*queue.Next());  // the third in part
  const auto even = [](const OutgoingMessage& m) { return m.id % 2 == 0; };
  EXPECT_EQ(queue.Cancel(even), (Ids{0, 2, 4}));
  EXPECT_EQ(queue.Cancel(even), Ids{});
  EXPECT_EQ(SendAll(&queue), (std::vector<std::string>{"2:4096+904.", "3:0+4096", "3:4096+904.",
                                                       "5:0+4096", "5:4096+904."}))
      << "what has begun ends";
  EXPECT_EQ(queue.Acknowledge(4), (Ids{1, 3}));
}

TEST(SendQueueTest, WhatIsGivenBackSaysWhetherItWasBegun) {
  SendQueue queue;
  for (uint64_t id = 0; id < 4; ++id) queue.Add(MessageOf(id));
  queue.Sent(*queue.Next());
  const std::vector<SendQueue::Taken> taken =
      queue.Take([](const OutgoingMessage& m) { return m.id % 2 == 0; });
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].message.id, 0u);
  EXPECT_TRUE(taken[0].begun);
  EXPECT_EQ(taken[1].message.id, 2u);
  EXPECT_FALSE(taken[1].begun);
  EXPECT_EQ(SendAll(&queue), (std::vector<std::string>{"1:0+8.", "3:0+8."}));
}

TEST(SendQueueTest, WhatThePeerReturns) {
  SendQueue queue;
  for (uint64_t id = 1; id < 5; ++id) {
    OutgoingMessage message = MessageOf(10 * id);
    message.message.destination_port = static_cast<uint16_t>(id);
    queue.Add(std::move(message));
  }
  for (int fragments = 0; fragments < 3; ++fragments) queue.Sent(*queue.Next());
  EXPECT_FALSE(queue.TakeReturned(2, 3)) << "was not sent to that port";
  EXPECT_FALSE(queue.TakeReturned(4, 4)) << "was not sent yet";
  EXPECT_FALSE(queue.TakeReturned(5, 5));
  const auto returned = queue.TakeReturned(2, 2);
  ASSERT_TRUE(returned);
  EXPECT_EQ(returned->id, 20u);
  EXPECT_EQ(returned->message.payload.size(), 8u);
  EXPECT_FALSE(queue.TakeReturned(2, 2)) << "twice";
  EXPECT_EQ(queue.Acknowledge(3), (Ids{10, 30}));
  EXPECT_EQ(SendAll(&queue), (std::vector<std::string>{"40:0+8."}));
}

// A connection has broken, and this is being sent again.
TEST(SendQueueTest, WhatThePeerReturnsWhileItIsSentAgain) {
  SendQueue queue;
  for (uint64_t id = 1; id < 4; ++id) queue.Add(MessageOf(id, 5000));
  for (int fragments = 0; fragments < 6; ++fragments) queue.Sent(*queue.Next());
  queue.Restart(0);
  queue.Sent(*queue.Next());  // the first one in part
  EXPECT_EQ(queue.TakeReturned(1, 0)->message.payload.size(), 5000u);
  EXPECT_FALSE(queue.TakeReturned(1, 0)) << "twice";
  EXPECT_EQ(queue.TakeReturned(3, 0)->id, 3u) << "it was sent on the earlier connection";
  EXPECT_EQ(SendAll(&queue),
            (std::vector<std::string>{"1:4096+904R.", "2:0+4096R", "2:4096+904R."}))
      << "what has begun ends";
  EXPECT_EQ(queue.Acknowledge(1), Ids{});
  EXPECT_EQ(queue.Acknowledge(2), Ids{2});
}

TEST(SendQueueTest, WhatWasReturnedIsNobodysOnTheNextConnection) {
  for (const bool taken : {false, true}) {
    SendQueue queue;
    for (uint64_t id = 1; id < 4; ++id) queue.Add(MessageOf(id, 5000, /*behind_rdma=*/false));
    for (int fragments = 0; fragments < 4; ++fragments) queue.Sent(*queue.Next());
    queue.Restart(0);
    queue.Sent(*queue.Next());
    EXPECT_TRUE(queue.TakeReturned(1, 0));
    if (taken) {
      const std::vector<SendQueue::Taken> all = queue.TakeAll();
      ASSERT_EQ(all.size(), 2u);
      EXPECT_EQ(all[0].message.id, 2u);
      EXPECT_TRUE(all[0].begun);
      EXPECT_FALSE(all[1].begun);
    } else {
      EXPECT_EQ(queue.Restart(0).done, Ids{});
      EXPECT_EQ(SendAll(&queue),
                (std::vector<std::string>{"2:0+4096R", "2:4096+904R.", "3:0+4096", "3:4096+904."}));
    }
  }
}

TEST(SendQueueTest, WhatIsCompleteNeedsNoAcknowledgement) {
  SendQueue queue;
  for (uint64_t id = 1; id < 4; ++id) queue.Add(MessageOf(id));
  queue.Sent(*queue.Next());
  queue.Sent(*queue.Next());
  EXPECT_TRUE(queue.Complete(1));
  EXPECT_FALSE(queue.Complete(1));
  EXPECT_EQ(SendAll(&queue), (std::vector<std::string>{"3:0+8."}));
  EXPECT_EQ(queue.Acknowledge(3), (Ids{2, 3}));
}

TEST(SendQueueTest, WhatGoesOnWithAnotherSequence) {
  SendQueue queue;
  queue.StartBehind(10);
  for (uint64_t id = 1; id < 3; ++id) queue.Add(MessageOf(id));
  queue.Sent(*queue.Next());
  queue.SetCarried(11, 500);
  queue.SetCarried(13, 501);  // nobody's
  const std::vector<SendQueue::Taken> all = queue.TakeAll();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].message.message.extensions.carried, 500u);
  EXPECT_FALSE(all[1].message.message.extensions.carried);
}

}  // namespace
}  // namespace softdat::rds
