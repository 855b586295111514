// SPDX-License-Identifier: BSD-3-Clause
// What a derived wrapper is told, over a scripted back end. The contract suite over the toy shows
// that everything passes through (provider_toy/forwarding_test.cc).
#include "dat/transport/forwarding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dat/engine/testing/fake_backend.h"

namespace softdat::transport {
namespace {

using engine::testing::FakeAdapter;
using engine::testing::FakeBackend;
using testing::ElementsAre;

using Notes = std::vector<std::string>;

class NotingQueuePair : public ForwardingQueuePair {
 public:
  NotingQueuePair(std::unique_ptr<QueuePair> below, Notes* notes)
      : ForwardingQueuePair(std::move(below)), notes_(notes) {}
  Status Accept(ConnectionRequest& request, std::span<const uint8_t> private_data) override {
    Status status = ForwardingQueuePair::Accept(request, private_data);
    notes_->push_back(std::string(status.ok() ? "accepts " : "fails to accept ") +
                      std::to_string(request.conn_qual()));
    return status;
  }

 private:
  Notes* const notes_;
};

class NotingAdapter : public ForwardingAdapter {
 public:
  NotingAdapter(std::unique_ptr<Adapter> below, Notes* notes)
      : ForwardingAdapter(std::move(below)), notes_(notes) {}

 protected:
  std::unique_ptr<ForwardingMemoryRegion> Wrap(std::unique_ptr<MemoryRegion> below,
                                               const RegionParameters& p) override {
    notes_->push_back("region of " + std::to_string(p.length));
    return ForwardingAdapter::Wrap(std::move(below), p);
  }
  std::unique_ptr<ForwardingMemoryWindow> Wrap(std::unique_ptr<MemoryWindow> below,
                                               bool exclusive_to_qp) override {
    notes_->push_back(exclusive_to_qp ? "window of a pair" : "window of a domain");
    return ForwardingAdapter::Wrap(std::move(below), exclusive_to_qp);
  }
  std::unique_ptr<ForwardingCompletionQueue> Wrap(std::unique_ptr<CompletionQueue> below,
                                                  uint32_t capacity) override {
    notes_->push_back("queue of " + std::to_string(capacity));
    return ForwardingAdapter::Wrap(std::move(below), capacity);
  }
  std::unique_ptr<ForwardingQueuePair> Wrap(std::unique_ptr<QueuePair> below,
                                            const QueuePairAttributes& a) override {
    notes_->push_back("pair of " + std::to_string(a.max_send) +
                      (a.send_cq == queue ? ", ours" : ""));
    return std::make_unique<NotingQueuePair>(std::move(below), notes_);
  }
  std::unique_ptr<ForwardingSharedReceiveQueue> Wrap(std::unique_ptr<SharedReceiveQueue> below,
                                                     uint32_t capacity, uint32_t max_iov) override {
    notes_->push_back("shared queue of " + std::to_string(capacity) + " by " +
                      std::to_string(max_iov));
    return ForwardingAdapter::Wrap(std::move(below), capacity, max_iov);
  }
  std::unique_ptr<ForwardingListener> Wrap(std::unique_ptr<Listener> below,
                                           const ListenParameters& p) override {
    notes_->push_back("listener of " + std::to_string(p.conn_qual));
    return ForwardingAdapter::Wrap(std::move(below), p);
  }
  using ForwardingAdapter::Wrap;

 public:
  CompletionQueue* queue = nullptr;  // as the engine sees it

 private:
  Notes* const notes_;
};

class NotingBackend : public ForwardingBackend {
 public:
  NotingBackend(std::unique_ptr<Backend> below, Notes* notes)
      : ForwardingBackend(std::move(below)), notes_(notes) {}

 protected:
  std::unique_ptr<ForwardingAdapter> Wrap(std::unique_ptr<Adapter> below,
                                          const std::string& name) override {
    notes_->push_back("adapter " + name);
    return std::make_unique<NotingAdapter>(std::move(below), notes_);
  }

 private:
  Notes* const notes_;
};

class TakesRequests : public ListenerSink {
 public:
  void OnRequest(std::unique_ptr<ConnectionRequest>& arrived) override {
    request = std::move(arrived);
  }
  std::unique_ptr<ConnectionRequest> request;
};

class ForwardingTest : public testing::Test {
 protected:
  ForwardingTest() {
    auto fake = std::make_unique<FakeBackend>();
    FakeBackend* const below = fake.get();
    backend_ = std::make_unique<NotingBackend>(std::move(fake), &notes_);
    adapter_ = backend_->Open("fake-0", nullptr).Take();
    below_ = below->last_adapter;
  }

  Notes notes_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Adapter> adapter_;
  FakeAdapter* below_ = nullptr;
};

TEST_F(ForwardingTest, AWrapperLearnsWhatItsObjectWasMadeWith) {
  const auto pd = adapter_->CreateProtectionDomain().Take();
  const auto region = adapter_->RegisterMemory(*pd, {.length = 7}).Take();
  const auto window = adapter_->CreateWindow(*pd, true).Take();
  const auto queue = adapter_->CreateCompletionQueue(11, nullptr).Take();
  static_cast<NotingAdapter&>(*adapter_).queue = queue.get();
  QueuePairAttributes attributes;
  attributes.max_send = 13;
  attributes.send_cq = queue.get();
  const auto pair = adapter_->CreateQueuePair(attributes).Take();
  const auto shared = adapter_->CreateSharedReceiveQueue(*pd, 17, 3, nullptr).Take();
  TakesRequests sink;
  const auto listener = adapter_->Listen({.conn_qual = 19, .sink = &sink}).Take();
  EXPECT_THAT(notes_,
              ElementsAre("adapter fake-0", "region of 7", "window of a pair", "queue of 11",
                          "pair of 13, ours", "shared queue of 17 by 3", "listener of 19"));
}

TEST_F(ForwardingTest, WhatCannotBeMadeIsNotWrapped) {
  notes_.clear();
  below_->next_status = Status(Code::kNoResources, "no more pairs");
  EXPECT_EQ(adapter_->CreateQueuePair({}).status().code(), Code::kNoResources);
  below_->next_status = Status(Code::kNoResources, "no more queues");
  EXPECT_EQ(adapter_->CreateCompletionQueue(1, nullptr).status().code(), Code::kNoResources);
  EXPECT_THAT(notes_, ElementsAre());
}

TEST_F(ForwardingTest, APairHearsThatItIsAccepted) {
  TakesRequests sink;
  const auto listener = adapter_->Listen({.conn_qual = 23, .sink = &sink}).Take();
  const auto pair = adapter_->CreateQueuePair({}).Take();
  const auto fate = below_->Request(23);
  ASSERT_NE(sink.request, nullptr);
  notes_.clear();
  below_->last_qp().next_status = Status(Code::kInvalidState, "not now");
  EXPECT_FALSE(sink.request->Accept(*pair, {}).ok());
  EXPECT_TRUE(sink.request->Accept(*pair, std::vector<uint8_t>{1, 2}).ok());
  EXPECT_THAT(notes_, ElementsAre("fails to accept 23", "accepts 23"));
  EXPECT_EQ(fate->accepted_with, &below_->last_qp());
  EXPECT_THAT(fate->answer, ElementsAre(1, 2));
}

// Peers learn what was carried out for them even when a wrapper is in between.
TEST_F(ForwardingTest, TheEndOfTheProcessIsPassedOn) {
  adapter_->OnProcessExit(Clock::now());
  EXPECT_EQ(below_->process_exits, 1);
}

}  // namespace
}  // namespace softdat::transport
