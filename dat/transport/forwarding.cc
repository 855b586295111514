// SPDX-License-Identifier: BSD-3-Clause
// The forwarding wrappers: unwrap the arguments, call the back end below, wrap what it made.
#include "dat/transport/forwarding.h"

namespace softdat::transport {
namespace {

// Wraps a made object, or passes the failure on.
template <typename Interface, typename WrapFunction>
Result<std::unique_ptr<Interface>> Wrapped(Result<std::unique_ptr<Interface>> made,
                                           WrapFunction wrap) {
  if (!made.ok()) return made.TakeStatus();
  return wrap(made.Take());
}

}  // namespace

// Between a listener below and the sink above: requests go up wrapped. A request that the sink
// leaves in place is rejected below, because its wrapper dies here.
class RequestWrapper : public ListenerSink {
 public:
  RequestWrapper(ForwardingAdapter& adapter, ListenerSink* above)
      : adapter_(adapter), above_(above) {}

  void OnRequest(std::unique_ptr<ConnectionRequest>& request) override {
    std::unique_ptr<ConnectionRequest> wrapped = adapter_.Wrap(std::move(request));
    above_->OnRequest(wrapped);
  }
  void OnRequestsHeld(const std::string& why) override { above_->OnRequestsHeld(why); }

 private:
  ForwardingAdapter& adapter_;
  ListenerSink* const above_;
};

namespace {

// A listener together with the sink it reports to.
class WrappedListener : public Listener {
 public:
  WrappedListener(std::unique_ptr<RequestWrapper> sink, std::unique_ptr<Listener> below)
      : sink_(std::move(sink)), below_(std::move(below)) {}
  uint64_t conn_qual() const override { return below_->conn_qual(); }

 private:
  const std::unique_ptr<RequestWrapper> sink_;  // outlives below_
  const std::unique_ptr<Listener> below_;
};

}  // namespace

Code ForwardingQueuePair::PostSend(const SendRequest& request) {
  if (request.op != Op::kBind) return inner().PostSend(request);
  SendRequest below = request;
  below.bind.window = ForwardingMemoryWindow::Inner(request.bind.window);
  below.bind.region = ForwardingMemoryRegion::Inner(request.bind.region);
  return inner().PostSend(below);
}

Status ForwardingQueuePair::Configure(const QueuePairAttributes& attributes) {
  return inner().Configure(InnerAttributes(attributes));
}

QueuePairAttributes InnerAttributes(const QueuePairAttributes& attributes) {
  QueuePairAttributes below = attributes;
  below.pd = ForwardingProtectionDomain::Inner(attributes.pd);
  below.send_cq = ForwardingCompletionQueue::Inner(attributes.send_cq);
  below.recv_cq = ForwardingCompletionQueue::Inner(attributes.recv_cq);
  below.srq = ForwardingSharedReceiveQueue::Inner(attributes.srq);
  return below;
}

Result<std::unique_ptr<ProtectionDomain>> ForwardingAdapter::CreateProtectionDomain() {
  return Wrapped(inner_->CreateProtectionDomain(),
                 [this](auto below) { return Wrap(std::move(below)); });
}

Result<std::unique_ptr<MemoryRegion>> ForwardingAdapter::RegisterMemory(ProtectionDomain& pd,
                                                                        const RegionParameters& p) {
  return Wrapped(inner_->RegisterMemory(*ForwardingProtectionDomain::Inner(&pd), p),
                 [this](auto below) { return Wrap(std::move(below)); });
}

Result<std::unique_ptr<MemoryWindow>> ForwardingAdapter::CreateWindow(ProtectionDomain& pd,
                                                                      bool exclusive_to_qp) {
  return Wrapped(inner_->CreateWindow(*ForwardingProtectionDomain::Inner(&pd), exclusive_to_qp),
                 [this](auto below) { return Wrap(std::move(below)); });
}

Result<std::unique_ptr<CompletionQueue>> ForwardingAdapter::CreateCompletionQueue(
    uint32_t capacity, CompletionSink* sink) {
  return Wrapped(inner_->CreateCompletionQueue(capacity, sink),
                 [this](auto below) { return Wrap(std::move(below)); });
}

Result<std::unique_ptr<QueuePair>> ForwardingAdapter::CreateQueuePair(
    const QueuePairAttributes& a) {
  return Wrapped(inner_->CreateQueuePair(InnerAttributes(a)),
                 [this](auto below) { return Wrap(std::move(below)); });
}

Result<std::unique_ptr<SharedReceiveQueue>> ForwardingAdapter::CreateSharedReceiveQueue(
    ProtectionDomain& pd, uint32_t capacity, uint32_t max_iov, SharedReceiveSink* sink) {
  return Wrapped(inner_->CreateSharedReceiveQueue(*ForwardingProtectionDomain::Inner(&pd), capacity,
                                                  max_iov, sink),
                 [this](auto below) { return Wrap(std::move(below)); });
}

Result<std::unique_ptr<Listener>> ForwardingAdapter::Listen(const ListenParameters& p) {
  if (p.sink == nullptr) return inner_->Listen(p);
  auto sink = std::make_unique<RequestWrapper>(*this, p.sink);
  ListenParameters below = p;
  below.sink = sink.get();
  Result<std::unique_ptr<Listener>> made = inner_->Listen(below);
  if (!made.ok()) return made.TakeStatus();
  return Wrap(std::make_unique<WrappedListener>(std::move(sink), made.Take()));
}

std::unique_ptr<ProtectionDomain> ForwardingAdapter::Wrap(std::unique_ptr<ProtectionDomain> below) {
  return std::make_unique<ForwardingProtectionDomain>(std::move(below));
}

std::unique_ptr<MemoryRegion> ForwardingAdapter::Wrap(std::unique_ptr<MemoryRegion> below) {
  return std::make_unique<ForwardingMemoryRegion>(std::move(below));
}

std::unique_ptr<MemoryWindow> ForwardingAdapter::Wrap(std::unique_ptr<MemoryWindow> below) {
  return std::make_unique<ForwardingMemoryWindow>(std::move(below));
}

std::unique_ptr<CompletionQueue> ForwardingAdapter::Wrap(std::unique_ptr<CompletionQueue> below) {
  return std::make_unique<ForwardingCompletionQueue>(std::move(below));
}

std::unique_ptr<QueuePair> ForwardingAdapter::Wrap(std::unique_ptr<QueuePair> below) {
  return std::make_unique<ForwardingQueuePair>(std::move(below));
}

std::unique_ptr<SharedReceiveQueue> ForwardingAdapter::Wrap(
    std::unique_ptr<SharedReceiveQueue> below) {
  return std::make_unique<ForwardingSharedReceiveQueue>(std::move(below));
}

std::unique_ptr<Listener> ForwardingAdapter::Wrap(std::unique_ptr<Listener> below) {
  return std::make_unique<ForwardingListener>(std::move(below));
}

std::unique_ptr<ConnectionRequest> ForwardingAdapter::Wrap(
    std::unique_ptr<ConnectionRequest> below) {
  return std::make_unique<ForwardingConnectionRequest>(std::move(below));
}

Result<std::unique_ptr<Adapter>> ForwardingBackend::Open(const std::string& name,
                                                         AdapterSink* sink) {
  return Wrapped(inner_->Open(name, sink), [this](auto below) { return Wrap(std::move(below)); });
}

std::unique_ptr<Adapter> ForwardingBackend::Wrap(std::unique_ptr<Adapter> below) {
  return std::make_unique<ForwardingAdapter>(std::move(below));
}

}  // namespace softdat::transport
