// SPDX-License-Identifier: BSD-3-Clause
// Upcalls that go through sinks of a wrapper, over a scripted back end.
#include "dat/transport/forwarding_sinks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dat/engine/testing/fake_backend.h"
#include "dat/transport/forwarding.h"

namespace softdat::transport {
namespace {

using engine::testing::FakeAdapter;
using engine::testing::FakeBackend;
using testing::ElementsAre;

// Puts a sink of its own between all objects.
class InterposedAdapter : public ForwardingAdapter {
 public:
  using ForwardingAdapter::ForwardingAdapter;

 protected:
  using ForwardingAdapter::WrapSink;
  std::unique_ptr<ForwardingConnectionSink> WrapSink(ConnectionSink* above) override {
    return std::make_unique<ForwardingConnectionSink>(above);
  }
  std::unique_ptr<ForwardingCompletionSink> WrapSink(CompletionSink* above) override {
    return std::make_unique<ForwardingCompletionSink>(above);
  }
  std::unique_ptr<ForwardingSharedReceiveSink> WrapSink(SharedReceiveSink* above) override {
    return std::make_unique<ForwardingSharedReceiveSink>(above);
  }
};

class InterposedBackend : public ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;

 protected:
  std::unique_ptr<ForwardingAdapter> Wrap(std::unique_ptr<Adapter> below,
                                          const std::string&) override {
    return std::make_unique<InterposedAdapter>(std::move(below));
  }
  std::unique_ptr<ForwardingAdapterSink> WrapSink(AdapterSink* above) override {
    return std::make_unique<ForwardingAdapterSink>(above);
  }
};

// Every sink of the engine in one, which notes what it is told.
class Engine : public ConnectionSink,
               public CompletionSink,
               public SharedReceiveSink,
               public AdapterSink,
               public ListenerSink {
 public:
  void OnEstablished(std::span<const uint8_t> data) override {
    told.push_back("established " + std::to_string(data.size()));
  }
  void OnFailed(RejectReason reason, std::span<const uint8_t> data,
                const std::string& why) override {
    told.push_back("failed " + std::to_string(static_cast<int>(reason)) + " " +
                   std::to_string(data.size()) + " " + why);
  }
  void OnEnded(EndReason reason, const std::string& why) override {
    told.push_back("ended " + std::to_string(static_cast<int>(reason)) + " " + why);
  }
  void OnReceiveWatermark() override { told.push_back("watermark"); }
  void OnCompletion() override { told.push_back("completion"); }
  void OnOverflow() override { told.push_back("overflow"); }
  void OnLimit() override { told.push_back("limit"); }
  void OnCatastrophic(const std::string& why) override { told.push_back("catastrophic " + why); }
  void OnRequest(std::unique_ptr<ConnectionRequest>& request) override {
    told.push_back("request " + std::to_string(request->conn_qual()));
  }
  void OnRequestsHeld(const std::string& why) override { told.push_back("held " + why); }

  std::vector<std::string> told;
};

class ForwardingSinksTest : public testing::Test {
 protected:
  ForwardingSinksTest() {
    auto fake = std::make_unique<FakeBackend>();
    FakeBackend* const below = fake.get();
    backend_ = std::make_unique<InterposedBackend>(std::move(fake));
    adapter_ = backend_->Open("fake-0", &engine_).Take();
    below_ = below->last_adapter;
  }

  Engine engine_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Adapter> adapter_;
  FakeAdapter* below_ = nullptr;
};

TEST_F(ForwardingSinksTest, WhatAConnectionTellsGoesUp) {
  QueuePairAttributes attributes;
  attributes.sink = &engine_;
  const auto pair = adapter_->CreateQueuePair(attributes).Take();
  ConnectionSink& sink = below_->last_qp().sink();
  EXPECT_NE(&sink, &engine_);
  const std::vector<uint8_t> data(3);
  sink.OnEstablished(data);
  sink.OnFailed(RejectReason::kTimedOut, data, "slow");
  sink.OnEnded(EndReason::kBroken, "cut");
  sink.OnReceiveWatermark();
  EXPECT_THAT(engine_.told,
              ElementsAre("established 3", "failed 3 3 slow", "ended 1 cut", "watermark"));
}

TEST_F(ForwardingSinksTest, WhatQueuesAndTheAdapterTellGoesUp) {
  const auto pd = adapter_->CreateProtectionDomain().Take();
  const auto queue = adapter_->CreateCompletionQueue(1, &engine_).Take();
  auto& fake = static_cast<engine::testing::FakeCompletionQueue&>(
      static_cast<ForwardingCompletionQueue&>(*queue).inner());
  ASSERT_TRUE(queue->Arm(false));
  fake.Add({});
  fake.Add({});
  const auto shared = adapter_->CreateSharedReceiveQueue(*pd, 4, 1, &engine_).Take();
  below_->last_srq->sink->OnLimit();
  below_->sink->OnCatastrophic("gone");
  EXPECT_THAT(engine_.told, ElementsAre("completion", "overflow", "limit", "catastrophic gone"));
}

TEST_F(ForwardingSinksTest, ARequestThatIsLeftInPlaceIsDroppedBelow) {
  const auto listener = adapter_->Listen({.conn_qual = 5, .sink = &engine_}).Take();
  const auto fate = below_->Request(5);
  below_->listeners.back()->sink().OnRequestsHeld("no descriptor");
  EXPECT_TRUE(fate->destroyed);
  EXPECT_THAT(engine_.told, ElementsAre("request 5", "held no descriptor"));
}

TEST_F(ForwardingSinksTest, ConfiguringAPairNamesWhomItTells) {
  const auto pair = adapter_->CreateQueuePair({}).Take();
  EXPECT_EQ(below_->last_qp().attributes.sink, nullptr);
  QueuePairAttributes attributes;
  attributes.sink = &engine_;
  ASSERT_TRUE(pair->Configure(attributes).ok());
  below_->last_qp().sink().OnReceiveWatermark();
  EXPECT_THAT(engine_.told, ElementsAre("watermark"));
  // A pair whose change is refused goes on telling the sink that it told before.
  Engine other;
  attributes.sink = &other;
  below_->last_qp().next_status = Status(Code::kInvalidState, "connected");
  EXPECT_FALSE(pair->Configure(attributes).ok());
  below_->last_qp().sink().OnReceiveWatermark();
  EXPECT_EQ(engine_.told.size(), 2u);
  EXPECT_TRUE(other.told.empty());
  ASSERT_TRUE(pair->Configure(attributes).ok());
  below_->last_qp().sink().OnReceiveWatermark();
  EXPECT_THAT(other.told, ElementsAre("watermark"));
}

// If nothing listens above, nothing is told.
TEST_F(ForwardingSinksTest, AQueueWithoutASinkStaysWithoutOne) {
  const auto queue = adapter_->CreateCompletionQueue(1, nullptr).Take();
  auto& fake = static_cast<engine::testing::FakeCompletionQueue&>(
      static_cast<ForwardingCompletionQueue&>(*queue).inner());
  EXPECT_EQ(fake.sink(), nullptr);
}

}  // namespace
}  // namespace softdat::transport
