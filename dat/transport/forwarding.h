// SPDX-License-Identifier: BSD-3-Clause
// Implements the whole contract by delegation. Fault injection, tracing and hardware profiles
// derive from these classes and override what they change. Everything else passes through to the
// back end below.
//
// Three operations take another object of the same adapter as an argument (a protection domain, a
// queue, a window, a region). The wrapper that made that object also unwraps it: Inner() returns
// the object below. A derived adapter hands out its own wrappers by overriding Wrap(), which gets
// the arguments that the object was made with.
//
// Upcalls reach the engine directly, except the requests of listeners, which go up wrapped. A
// derived adapter that wants to see or change other upcalls overrides WrapSink(). Address handles
// only name a place. They pass through unchanged, and so do the upcalls that bring them.
//
// Ownership: a wrapper owns the object below it, and the sink that this object reports to.
#ifndef SOFTDAT_DAT_TRANSPORT_FORWARDING_H_
#define SOFTDAT_DAT_TRANSPORT_FORWARDING_H_

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dat/transport/forwarding_sinks.h"
#include "dat/transport/transport.h"

namespace softdat::transport {

// The sink of an object that makes no upcalls.
struct NoSink {};

// A wrapper of one object. It owns the object, and finds it again behind an interface pointer.
template <typename Interface, typename Sink = NoSink>
class ForwardingObject : public Interface {
 public:
  explicit ForwardingObject(std::unique_ptr<Interface> inner) : inner_(std::move(inner)) {}

  Interface& inner() { return *inner_; }
  const Interface& inner() const { return *inner_; }

  // `object` was made by a forwarding adapter, or is null.
  static Interface* Inner(Interface* object) {
    return object != nullptr ? &static_cast<ForwardingObject*>(object)->inner() : nullptr;
  }

  // The sink that the object below reports to. Null: it reports to the sink above, or to nobody.
  Sink* sink() { return sink_.get(); }
  // To be called once, by the adapter that made both.
  void OwnSink(std::unique_ptr<Sink> sink) { sink_ = std::move(sink); }

 private:
  std::unique_ptr<Sink> sink_;  // outlives inner_
  const std::unique_ptr<Interface> inner_;
};

class ForwardingProtectionDomain : public ForwardingObject<ProtectionDomain> {
 public:
  using ForwardingObject::ForwardingObject;
};

class ForwardingMemoryRegion : public ForwardingObject<MemoryRegion> {
 public:
  using ForwardingObject::ForwardingObject;
  uint32_t local_key() const override { return inner().local_key(); }
  uint32_t remote_key() const override { return inner().remote_key(); }
};

class ForwardingMemoryWindow : public ForwardingObject<MemoryWindow> {
 public:
  using ForwardingObject::ForwardingObject;
  uint32_t NextKey() override { return inner().NextKey(); }
  bool IsBound(uint32_t key) const override { return inner().IsBound(key); }
};

class ForwardingCompletionQueue
    : public ForwardingObject<CompletionQueue, ForwardingCompletionSink> {
 public:
  using ForwardingObject::ForwardingObject;
  size_t Poll(std::span<Completion> out) override { return inner().Poll(out); }
  bool Arm(bool solicited_only) override { return inner().Arm(solicited_only); }
  Status Resize(uint32_t capacity) override { return inner().Resize(capacity); }
};

class ForwardingSharedReceiveQueue
    : public ForwardingObject<SharedReceiveQueue, ForwardingSharedReceiveSink> {
 public:
  using ForwardingObject::ForwardingObject;
  Code PostReceive(const ReceiveRequest& request) override { return inner().PostReceive(request); }
  Status Resize(uint32_t capacity) override { return inner().Resize(capacity); }
  Status SetLimit(uint32_t limit) override { return inner().SetLimit(limit); }
  uint32_t Available() const override { return inner().Available(); }
};

class ForwardingQueuePair : public ForwardingObject<QueuePair, ForwardingConnectionSink> {
 public:
  using ForwardingObject::ForwardingObject;
  Code PostSend(const SendRequest& request) override;
  Code PostReceive(const ReceiveRequest& request) override { return inner().PostReceive(request); }
  Status Configure(const QueuePairAttributes& attributes) override;
  Status Connect(const ConnectParameters& parameters) override {
    return inner().Connect(parameters);
  }
  void Disconnect(DisconnectMode mode) override { inner().Disconnect(mode); }
  Status Resolve(const ConnectParameters& parameters, uint64_t token) override {
    return inner().Resolve(parameters, token);
  }
  Status Reset() override { return inner().Reset(); }
  ConnectionAddresses Addresses() const override { return inner().Addresses(); }
  uint32_t OutstandingSends() const override { return inner().OutstandingSends(); }
  uint32_t OutstandingReceives() const override { return inner().OutstandingReceives(); }
  bool ConfirmsCompletions() const override { return inner().ConfirmsCompletions(); }
  Status SetReceiveWatermarks(uint32_t soft, uint32_t hard) override {
    return inner().SetReceiveWatermarks(soft, hard);
  }
  // ConnectionRequest::Accept with this pair. It is called here so that a pair learns of it, in the
  // same way as it learns of Connect. `request` is the one below.
  virtual Status Accept(ConnectionRequest& request, std::span<const uint8_t> private_data) {
    return request.Accept(inner(), private_data);
  }
  // The same for ConnectionRequest::AcceptDatagrams.
  virtual Result<DatagramPeer> AcceptDatagrams(ConnectionRequest& request,
                                               std::span<const uint8_t> private_data) {
    return request.AcceptDatagrams(inner(), private_data);
  }
};

class ForwardingListener : public ForwardingObject<Listener, ForwardingListenerSink> {
 public:
  using ForwardingObject::ForwardingObject;
  uint64_t conn_qual() const override { return inner().conn_qual(); }
};

class ForwardingConnectionRequest : public ForwardingObject<ConnectionRequest> {
 public:
  using ForwardingObject::ForwardingObject;
  std::span<uint8_t> private_data() override { return inner().private_data(); }
  const ConnectionAddresses& addresses() const override { return inner().addresses(); }
  uint64_t conn_qual() const override { return inner().conn_qual(); }
  Service service() const override { return inner().service(); }
  bool handed_on() const override { return inner().handed_on(); }
  Status Accept(QueuePair& qp, std::span<const uint8_t> private_data) override {
    return static_cast<ForwardingQueuePair&>(qp).Accept(inner(), private_data);
  }
  Result<DatagramPeer> AcceptDatagrams(QueuePair& qp,
                                       std::span<const uint8_t> private_data) override {
    return static_cast<ForwardingQueuePair&>(qp).AcceptDatagrams(inner(), private_data);
  }
  Status Reject(std::span<const uint8_t> private_data) override {
    return inner().Reject(private_data);
  }
  Status Handoff(uint64_t conn_qual) override { return inner().Handoff(conn_qual); }
};

// Returns a copy of `attributes` that names the objects below.
QueuePairAttributes InnerAttributes(const QueuePairAttributes& attributes);

class ForwardingAdapter : public Adapter {
 public:
  explicit ForwardingAdapter(std::unique_ptr<Adapter> inner) : inner_(std::move(inner)) {}

  const AdapterAttributes& attributes() const override { return inner_->attributes(); }
  Clock::time_point Now() const override { return inner_->Now(); }
  Result<std::unique_ptr<ProtectionDomain>> CreateProtectionDomain() override;
  Result<std::unique_ptr<MemoryRegion>> RegisterMemory(ProtectionDomain& pd,
                                                       const RegionParameters& p) override;
  Result<std::unique_ptr<MemoryWindow>> CreateWindow(ProtectionDomain& pd,
                                                     bool exclusive_to_qp) override;
  Result<std::unique_ptr<CompletionQueue>> CreateCompletionQueue(uint32_t capacity,
                                                                 CompletionSink* sink) override;
  Result<std::unique_ptr<QueuePair>> CreateQueuePair(const QueuePairAttributes& a) override;
  Result<std::unique_ptr<SharedReceiveQueue>> CreateSharedReceiveQueue(
      ProtectionDomain& pd, uint32_t capacity, uint32_t max_iov, SharedReceiveSink* sink) override;
  Result<std::unique_ptr<Listener>> Listen(const ListenParameters& p) override;
  Code CheckSegments(std::span<const DAT_LMR_TRIPLET> segments) override {
    return inner_->CheckSegments(segments);
  }
  ProgressResult Progress(Waiter* waiter, Clock::time_point deadline) override {
    return inner_->Progress(waiter, deadline);
  }
  ProgressResult Poll(CompletionQueue& queue) override {
    return inner_->Poll(static_cast<ForwardingCompletionQueue&>(queue).inner());
  }
  ProgressResult Spin(CompletionQueue& queue, Clock::time_point deadline,
                      Clock::time_point* until) override {
    return inner_->Spin(static_cast<ForwardingCompletionQueue&>(queue).inner(), deadline, until);
  }
  int ProgressDescriptor() override { return inner_->ProgressDescriptor(); }
  ProgressResult LookAround() override { return inner_->LookAround(); }
  void OnProcessExit(Clock::time_point deadline) override { inner_->OnProcessExit(deadline); }
  void AbandonAfterFork() override { inner_->AbandonAfterFork(); }

  // Sets the sink that the adapter below reports to, if that is not the sink above. To be called
  // once, by the back end that made both.
  void OwnSink(std::unique_ptr<ForwardingAdapterSink> sink) { sink_ = std::move(sink); }

 protected:
  Adapter& inner() { return *inner_; }

  // Each makes the wrapper of a new object. Override those whose behaviour changes. The arguments
  // are those of the call that made the object, with the objects above.
  virtual std::unique_ptr<ForwardingProtectionDomain> Wrap(std::unique_ptr<ProtectionDomain> below);
  virtual std::unique_ptr<ForwardingMemoryRegion> Wrap(std::unique_ptr<MemoryRegion> below,
                                                       const RegionParameters& p);
  virtual std::unique_ptr<ForwardingMemoryWindow> Wrap(std::unique_ptr<MemoryWindow> below,
                                                       bool exclusive_to_qp);
  virtual std::unique_ptr<ForwardingCompletionQueue> Wrap(std::unique_ptr<CompletionQueue> below,
                                                          uint32_t capacity);
  virtual std::unique_ptr<ForwardingQueuePair> Wrap(std::unique_ptr<QueuePair> below,
                                                    const QueuePairAttributes& a);
  virtual std::unique_ptr<ForwardingSharedReceiveQueue> Wrap(
      std::unique_ptr<SharedReceiveQueue> below, uint32_t capacity, uint32_t max_iov);
  virtual std::unique_ptr<ForwardingListener> Wrap(std::unique_ptr<Listener> below,
                                                   const ListenParameters& p);
  virtual std::unique_ptr<ForwardingConnectionRequest> Wrap(
      std::unique_ptr<ConnectionRequest> below);

  // Each makes the sink between a new object and the sink above. The default is null: nothing is
  // between them. A queue pair may get its sink later (Configure), so `above` may be null at first.
  virtual std::unique_ptr<ForwardingConnectionSink> WrapSink(ConnectionSink* above);
  virtual std::unique_ptr<ForwardingCompletionSink> WrapSink(CompletionSink* above);
  virtual std::unique_ptr<ForwardingSharedReceiveSink> WrapSink(SharedReceiveSink* above);
  // Never null, because requests must be wrapped.
  virtual std::unique_ptr<ForwardingListenerSink> WrapSink(ListenerSink* above);

 private:
  friend class ForwardingListenerSink;

  std::unique_ptr<ForwardingAdapterSink> sink_;  // outlives inner_
  const std::unique_ptr<Adapter> inner_;
};

class ForwardingBackend : public Backend {
 public:
  explicit ForwardingBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

  std::vector<Device> Devices() override { return inner_->Devices(); }
  Result<std::unique_ptr<Adapter>> Open(const std::string& name, AdapterSink* sink) override;

 protected:
  Backend& inner() { return *inner_; }
  // Same as those of ForwardingAdapter.
  virtual std::unique_ptr<ForwardingAdapter> Wrap(std::unique_ptr<Adapter> below,
                                                  const std::string& name);
  virtual std::unique_ptr<ForwardingAdapterSink> WrapSink(AdapterSink* above);

 private:
  const std::unique_ptr<Backend> inner_;
};

}  // namespace softdat::transport

#endif  // SOFTDAT_DAT_TRANSPORT_FORWARDING_H_
