// SPDX-License-Identifier: BSD-3-Clause
// Runs the forwarding wrappers through the contract test suite. Two layers of them over the toy,
// the upper one with its own sinks, must behave like the toy. (The test is here because dat/ knows
// no back end.)
#include "dat/transport/forwarding.h"

#include "dat/transport/contract/contract_test_suite.h"
#include "provider_toy/backend.h"

namespace softdat::transport {

namespace {

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

}  // namespace

ContractSetup ContractSetupUnderTest() {
  return {"toy-0", [] {
            return std::make_unique<InterposedBackend>(
                std::make_unique<ForwardingBackend>(toy::MakeBackend()));
          }};
}

namespace {

// A derived wrapper: the second send of each queue pair finds the queue full.
class StingyQueuePair : public ForwardingQueuePair {
 public:
  using ForwardingQueuePair::ForwardingQueuePair;
  Code PostSend(const SendRequest& request) override {
    return ++sends_ == 2 ? Code::kQueueFull : ForwardingQueuePair::PostSend(request);
  }

 private:
  int sends_ = 0;
};

class StingyAdapter : public ForwardingAdapter {
 public:
  using ForwardingAdapter::ForwardingAdapter;

 protected:
  using ForwardingAdapter::Wrap;
  std::unique_ptr<ForwardingQueuePair> Wrap(std::unique_ptr<QueuePair> below,
                                            const QueuePairAttributes&) override {
    return std::make_unique<StingyQueuePair>(std::move(below));
  }
};

class StingyBackend : public ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;

 protected:
  std::unique_ptr<ForwardingAdapter> Wrap(std::unique_ptr<Adapter> below,
                                          const std::string&) override {
    return std::make_unique<StingyAdapter>(std::move(below));
  }
};

TEST_F(ContractTest, ADerivedWrapperChangesWhatItOverrides) {
  StingyBackend backend(toy::MakeBackend());
  auto opened = backend.Open("toy-1", &adapter_sink_);
  ASSERT_TRUE(opened.ok());
  std::swap(adapter_, opened.value());
  pd_ = MakePd();
  auto a = MakePair(pd_.get()), b = MakePair(pd_.get());
  Join(*a, *b);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(PostReceive(*b, {}), Code::kOk);
  EXPECT_EQ(PostSend(*a, {}, 1), Code::kOk);
  EXPECT_EQ(PostSend(*a, {}, 2), Code::kQueueFull);
  EXPECT_EQ(PostSend(*a, {}, 3), Code::kOk);
  EXPECT_EQ(Next(*a->send_queue).cookie, 1u);
  EXPECT_EQ(Next(*a->send_queue).cookie, 3u);
}

}  // namespace
}  // namespace softdat::transport
