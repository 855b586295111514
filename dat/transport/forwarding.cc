// SPDX-License-Identifier: BSD-3-Clause
// The forwarding wrappers unwrap the arguments, call the back end below, and wrap what it made.
#include "dat/transport/forwarding.h"

namespace softdat::transport {
namespace {

// The sink that the object below reports to: the one between, if it exists and somebody listens
// above.
template <typename Interface, typename Sink>
Interface* Reported(const std::unique_ptr<Sink>& between, Interface* above) {
  return between != nullptr && above != nullptr ? between.get() : above;
}

// Wraps an object that was made, or passes the failure on.
template <typename Interface, typename WrapFunction>
Result<std::unique_ptr<Interface>> Wrapped(Result<std::unique_ptr<Interface>> made,
                                           WrapFunction wrap) {
  if (!made.ok()) return made.TakeStatus();
  return std::unique_ptr<Interface>(wrap(made.Take()));
}

// The same for an object that reports to `sink`.
template <typename Interface, typename Sink, typename WrapFunction>
Result<std::unique_ptr<Interface>> Wrapped(Result<std::unique_ptr<Interface>> made,
                                           std::unique_ptr<Sink> sink, WrapFunction wrap) {
  if (!made.ok()) return made.TakeStatus();
  auto wrapper = wrap(made.Take());
  wrapper->OwnSink(std::move(sink));
  return std::unique_ptr<Interface>(std::move(wrapper));
}

}  // namespace

void ForwardingListenerSink::OnRequest(std::unique_ptr<ConnectionRequest>& request) {
  std::unique_ptr<ConnectionRequest> wrapped = adapter_.Wrap(std::move(request));
  above().OnRequest(wrapped);
}

Code ForwardingQueuePair::PostSend(const SendRequest& request) {
  if (request.op != Op::kBind) return inner().PostSend(request);
  SendRequest below = request;
  below.bind.window = ForwardingMemoryWindow::Inner(request.bind.window);
  below.bind.region = ForwardingMemoryRegion::Inner(request.bind.region);
  return inner().PostSend(below);
}

Status ForwardingQueuePair::Configure(const QueuePairAttributes& attributes) {
  QueuePairAttributes below = InnerAttributes(attributes);
  if (sink() == nullptr) return inner().Configure(below);
  if (attributes.sink != nullptr) below.sink = sink();
  Status configured = inner().Configure(below);
  if (configured.ok()) sink()->SetAbove(attributes.sink);
  return configured;
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
                 [&](auto below) { return Wrap(std::move(below), p); });
}

Result<std::unique_ptr<MemoryWindow>> ForwardingAdapter::CreateWindow(ProtectionDomain& pd,
                                                                      bool exclusive_to_qp) {
  return Wrapped(inner_->CreateWindow(*ForwardingProtectionDomain::Inner(&pd), exclusive_to_qp),
                 [&](auto below) { return Wrap(std::move(below), exclusive_to_qp); });
}

Result<std::unique_ptr<CompletionQueue>> ForwardingAdapter::CreateCompletionQueue(
    uint32_t capacity, CompletionSink* sink) {
  auto between = WrapSink(sink);
  auto made = inner_->CreateCompletionQueue(capacity, Reported(between, sink));
  return Wrapped(std::move(made), std::move(between),
                 [&](auto below) { return Wrap(std::move(below), capacity); });
}

Result<std::unique_ptr<QueuePair>> ForwardingAdapter::CreateQueuePair(
    const QueuePairAttributes& a) {
  auto between = WrapSink(a.sink);
  QueuePairAttributes mine = InnerAttributes(a);
  mine.sink = Reported(between, a.sink);
  auto made = inner_->CreateQueuePair(mine);
  return Wrapped(std::move(made), std::move(between),
                 [&](auto below) { return Wrap(std::move(below), a); });
}

Result<std::unique_ptr<SharedReceiveQueue>> ForwardingAdapter::CreateSharedReceiveQueue(
    ProtectionDomain& pd, uint32_t capacity, uint32_t max_iov, SharedReceiveSink* sink) {
  auto between = WrapSink(sink);
  auto made = inner_->CreateSharedReceiveQueue(*ForwardingProtectionDomain::Inner(&pd), capacity,
                                               max_iov, Reported(between, sink));
  return Wrapped(std::move(made), std::move(between),
                 [&](auto below) { return Wrap(std::move(below), capacity, max_iov); });
}

Result<std::unique_ptr<Listener>> ForwardingAdapter::Listen(const ListenParameters& p) {
  auto between = WrapSink(p.sink);
  ListenParameters mine = p;
  mine.sink = Reported(between, p.sink);
  auto made = inner_->Listen(mine);
  return Wrapped(std::move(made), std::move(between),
                 [&](auto below) { return Wrap(std::move(below), p); });
}

std::unique_ptr<ForwardingProtectionDomain> ForwardingAdapter::Wrap(
    std::unique_ptr<ProtectionDomain> below) {
  return std::make_unique<ForwardingProtectionDomain>(std::move(below));
}

std::unique_ptr<ForwardingMemoryRegion> ForwardingAdapter::Wrap(std::unique_ptr<MemoryRegion> below,
                                                                const RegionParameters&) {
  return std::make_unique<ForwardingMemoryRegion>(std::move(below));
}

std::unique_ptr<ForwardingMemoryWindow> ForwardingAdapter::Wrap(std::unique_ptr<MemoryWindow> below,
                                                                bool) {
  return std::make_unique<ForwardingMemoryWindow>(std::move(below));
}

std::unique_ptr<ForwardingCompletionQueue> ForwardingAdapter::Wrap(
    std::unique_ptr<CompletionQueue> below, uint32_t) {
  return std::make_unique<ForwardingCompletionQueue>(std::move(below));
}

std::unique_ptr<ForwardingQueuePair> ForwardingAdapter::Wrap(std::unique_ptr<QueuePair> below,
                                                             const QueuePairAttributes&) {
  return std::make_unique<ForwardingQueuePair>(std::move(below));
}

std::unique_ptr<ForwardingSharedReceiveQueue> ForwardingAdapter::Wrap(
    std::unique_ptr<SharedReceiveQueue> below, uint32_t, uint32_t) {
  return std::make_unique<ForwardingSharedReceiveQueue>(std::move(below));
}

std::unique_ptr<ForwardingListener> ForwardingAdapter::Wrap(std::unique_ptr<Listener> below,
                                                            const ListenParameters&) {
  return std::make_unique<ForwardingListener>(std::move(below));
}

std::unique_ptr<ForwardingConnectionRequest> ForwardingAdapter::Wrap(
    std::unique_ptr<ConnectionRequest> below) {
  return std::make_unique<ForwardingConnectionRequest>(std::move(below));
}

std::unique_ptr<ForwardingConnectionSink> ForwardingAdapter::WrapSink(ConnectionSink*) {
  return nullptr;
}

std::unique_ptr<ForwardingCompletionSink> ForwardingAdapter::WrapSink(CompletionSink*) {
  return nullptr;
}

std::unique_ptr<ForwardingSharedReceiveSink> ForwardingAdapter::WrapSink(SharedReceiveSink*) {
  return nullptr;
}

std::unique_ptr<ForwardingListenerSink> ForwardingAdapter::WrapSink(ListenerSink* above) {
  return std::make_unique<ForwardingListenerSink>(*this, above);
}

Result<std::unique_ptr<Adapter>> ForwardingBackend::Open(const std::string& name,
                                                         AdapterSink* sink) {
  auto between = WrapSink(sink);
  auto made = inner_->Open(name, Reported(between, sink));
  return Wrapped(std::move(made), std::move(between),
                 [&](auto below) { return Wrap(std::move(below), name); });
}

std::unique_ptr<ForwardingAdapter> ForwardingBackend::Wrap(std::unique_ptr<Adapter> below,
                                                           const std::string&) {
  return std::make_unique<ForwardingAdapter>(std::move(below));
}

std::unique_ptr<ForwardingAdapterSink> ForwardingBackend::WrapSink(AdapterSink*) { return nullptr; }

}  // namespace softdat::transport
