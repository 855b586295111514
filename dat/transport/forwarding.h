// SPDX-License-Identifier: BSD-3-Clause
// The whole contract by delegation. Fault injection, tracing and hardware profiles derive from
// these classes and override what they change; everything else passes through to the back end
// below.
//
// Three operations take another object of the same adapter as an argument (a protection domain, a
// queue, a window, a region). The wrapper that made it also unwraps it: Inner() gives the object
// below, and a derived adapter hands out its own wrappers by overriding Wrap().
//
// Ownership: a wrapper owns the object below it. Sinks pass through unchanged, so upcalls reach the
// engine straight; a wrapper that wants to see upcalls gives a sink of its own (ForwardingBackend
// shows where).
#ifndef SOFTDAT_DAT_TRANSPORT_FORWARDING_H_
#define SOFTDAT_DAT_TRANSPORT_FORWARDING_H_

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dat/transport/transport.h"

namespace softdat::transport {

// A wrapper of one object: owns it, and finds it again behind an interface pointer.
template <typename Interface>
class ForwardingObject : public Interface {
 public:
  explicit ForwardingObject(std::unique_ptr<Interface> inner) : inner_(std::move(inner)) {}

  Interface& inner() { return *inner_; }
  const Interface& inner() const { return *inner_; }

  // `object` was made by a forwarding adapter (or is null).
  static Interface* Inner(Interface* object) {
    return object != nullptr ? &static_cast<ForwardingObject*>(object)->inner() : nullptr;
  }

 private:
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

class ForwardingCompletionQueue : public ForwardingObject<CompletionQueue> {
 public:
  using ForwardingObject::ForwardingObject;
  size_t Poll(std::span<Completion> out) override { return inner().Poll(out); }
  bool Arm(bool solicited_only) override { return inner().Arm(solicited_only); }
  Status Resize(uint32_t capacity) override { return inner().Resize(capacity); }
};

class ForwardingSharedReceiveQueue : public ForwardingObject<SharedReceiveQueue> {
 public:
  using ForwardingObject::ForwardingObject;
  Code PostReceive(const ReceiveRequest& request) override { return inner().PostReceive(request); }
  Status Resize(uint32_t capacity) override { return inner().Resize(capacity); }
  Status SetLimit(uint32_t limit) override { return inner().SetLimit(limit); }
  uint32_t Available() const override { return inner().Available(); }
};

class ForwardingQueuePair : public ForwardingObject<QueuePair> {
 public:
  using ForwardingObject::ForwardingObject;
  Code PostSend(const SendRequest& request) override;
  Code PostReceive(const ReceiveRequest& request) override { return inner().PostReceive(request); }
  Status Configure(const QueuePairAttributes& attributes) override;
  Status Connect(const ConnectParameters& parameters) override {
    return inner().Connect(parameters);
  }
  void Disconnect(DisconnectMode mode) override { inner().Disconnect(mode); }
  Status Reset() override { return inner().Reset(); }
  ConnectionAddresses Addresses() const override { return inner().Addresses(); }
  uint32_t OutstandingSends() const override { return inner().OutstandingSends(); }
  uint32_t OutstandingReceives() const override { return inner().OutstandingReceives(); }
  bool ConfirmsCompletions() const override { return inner().ConfirmsCompletions(); }
  Status SetReceiveWatermarks(uint32_t soft, uint32_t hard) override {
    return inner().SetReceiveWatermarks(soft, hard);
  }
};

class ForwardingListener : public ForwardingObject<Listener> {
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
  bool handed_on() const override { return inner().handed_on(); }
  Status Accept(QueuePair& qp, std::span<const uint8_t> private_data) override {
    return inner().Accept(*ForwardingQueuePair::Inner(&qp), private_data);
  }
  Status Reject(std::span<const uint8_t> private_data) override {
    return inner().Reject(private_data);
  }
  Status Handoff(uint64_t conn_qual) override { return inner().Handoff(conn_qual); }
};

// A copy of `attributes` that names the objects below.
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
  ProgressResult Spin(Clock::time_point deadline, Clock::time_point* until) override {
    return inner_->Spin(deadline, until);
  }
  int ProgressDescriptor() override { return inner_->ProgressDescriptor(); }
  ProgressResult LookAround() override { return inner_->LookAround(); }
  void AbandonAfterFork() override { inner_->AbandonAfterFork(); }

 protected:
  Adapter& inner() { return *inner_; }

  // Each makes the wrapper of a new object; override those whose behaviour changes. A wrapper must
  // derive from the Forwarding class of its kind.
  virtual std::unique_ptr<ProtectionDomain> Wrap(std::unique_ptr<ProtectionDomain> below);
  virtual std::unique_ptr<MemoryRegion> Wrap(std::unique_ptr<MemoryRegion> below);
  virtual std::unique_ptr<MemoryWindow> Wrap(std::unique_ptr<MemoryWindow> below);
  virtual std::unique_ptr<CompletionQueue> Wrap(std::unique_ptr<CompletionQueue> below);
  virtual std::unique_ptr<QueuePair> Wrap(std::unique_ptr<QueuePair> below);
  virtual std::unique_ptr<SharedReceiveQueue> Wrap(std::unique_ptr<SharedReceiveQueue> below);
  virtual std::unique_ptr<Listener> Wrap(std::unique_ptr<Listener> below);
  virtual std::unique_ptr<ConnectionRequest> Wrap(std::unique_ptr<ConnectionRequest> below);

 private:
  friend class RequestWrapper;

  const std::unique_ptr<Adapter> inner_;
};

class ForwardingBackend : public Backend {
 public:
  explicit ForwardingBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

  std::vector<Device> Devices() override { return inner_->Devices(); }
  Result<std::unique_ptr<Adapter>> Open(const std::string& name, AdapterSink* sink) override;

 protected:
  Backend& inner() { return *inner_; }
  virtual std::unique_ptr<Adapter> Wrap(std::unique_ptr<Adapter> below);

 private:
  const std::unique_ptr<Backend> inner_;
};

}  // namespace softdat::transport

#endif  // SOFTDAT_DAT_TRANSPORT_FORWARDING_H_
