// SPDX-License-Identifier: BSD-3-Clause
// Reliable connected queue pairs over ibv_qp and rdma_cm.
//
// QpCore directs its parts, which know nothing of one another. It holds the state, and decides when
// hardware is made and destroyed, what happens in the steps of the handshake, and how a connection
// ends. The hardware queue pair is made with the object, and again for each connection. It is
// destroyed when a connection has ended and its flushed work was collected.
//
// All news from the wire arrives in the driver's leader: OnCmEvent, OnArrivals, tasks. These and
// the control calls share `control_`. Upcalls are made after it is released.
#ifndef SOFTDAT_PROVIDER_VERBS_QUEUE_PAIR_H_
#define SOFTDAT_PROVIDER_VERBS_QUEUE_PAIR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "dat/backend_kit/upcall_gate.h"
#include "dat/transport/transport.h"
#include "provider_verbs/cm_connector.h"
#include "provider_verbs/completion_queue.h"
#include "provider_verbs/device.h"
#include "provider_verbs/hardware_pair.h"
#include "provider_verbs/pair_news.h"
#include "provider_verbs/pair_queues.h"
#include "provider_verbs/pair_sink.h"
#include "provider_verbs/pair_state.h"
#include "provider_verbs/receive_queue.h"
#include "provider_verbs/send_queue.h"

namespace softdat::verbs {

class QpCore final : public PairSink, public CmSink {
 public:
  static Result<std::shared_ptr<QpCore>> Create(Device& device,
                                                const transport::QueuePairAttributes& attributes);
  ~QpCore() override;
  QpCore(const QpCore&) = delete;
  QpCore& operator=(const QpCore&) = delete;

  // Posting, and the number of outstanding requests.
  SendQueue& sends() { return sends_; }
  ReceiveQueue& receives() { return receives_; }

  // transport::QueuePair.
  Status Configure(const transport::QueuePairAttributes& attributes);
  Status Connect(const transport::ConnectParameters& parameters);
  void Disconnect(transport::DisconnectMode mode);
  Status Reset();
  transport::ConnectionAddresses Addresses() const;
  // The object is being destroyed. Aborts the connection. Afterwards no upcall is running or will
  // come.
  void Close();

  Status Accept(const AcceptParameters& parameters, std::span<const uint8_t> private_data);

  // CmSink.
  void OnCmEvent(const CmEvent& event) override;
  // PairSink.
  ReceiveProgress& receive_progress() override { return receives_.progress(); }
  bool Shares(const SrqCore* srq) override;
  void ReportFailure() override;
  void OnArrivals() override;
  void OnAsyncError(const char* what, uint32_t life) override;
  void OnFirstMessage(uint32_t life) override;

 private:
  // What must be done after control_ is released.
  struct Deferred {
    // To be made before control_ is taken, because it takes control_ itself: Close() may release
    // the queues.
    explicit Deferred(QpCore& qp);
    std::shared_ptr<CqCore> send_cq, recv_cq;
    CqCore::Due send, receive;
    PairNews news;
  };
  using Work = std::function<void(Deferred* deferred)>;

  explicit QpCore(Device& device)
      : device_(device),
        cm_(device),
        queues_(device),
        hardware_(device),
        sends_(device, this),
        receives_(device, this) {}

  // queue_pair.cc: attributes and hardware. control_ must be held, or the object not shared yet.
  Status Adopt(const transport::QueuePairAttributes& attributes);
  void Detach();
  Status MakeHardware();
  void DestroyHardware(Deferred* deferred);
  void Drain(Deferred* deferred);
  void SetState(PairState state);
  // Makes a driver task that does `work` with control_ held, unless the connection is another one
  // by then.
  Driver::Task Later(Work work);
  // Without control_: handles the completions and the upcall that are due.
  void Run(Deferred& deferred);
  std::shared_ptr<QpCore> Self() { return std::static_pointer_cast<QpCore>(shared_from_this()); }

  // queue_pair_connect.cc; control_ must be held.
  Status CheckIdle() const;
  void Follow(const CmStep& step, Deferred* deferred);
  Status TakeAnswers();
  void Request(Deferred* deferred);
  void Establish(std::span<const uint8_t> data, Deferred* deferred);
  void Established(std::span<const uint8_t> data, Deferred* deferred);
  void TryAgain();
  Status Answer(std::span<const uint8_t> private_data);

  // queue_pair_end.cc; control_ must be held.
  void Fail(transport::RejectReason reject, std::string why, Deferred* deferred,
            std::span<const uint8_t> data = {});
  void End(transport::EndReason end, std::string why, Deferred* deferred);
  void BeginEnd(PairNews outcome, Deferred* deferred);
  void PollFlush(bool force, Deferred* deferred);
  void FinishEnd(Deferred* deferred);
  void ContinueGraceful(Deferred* deferred);
  void OnOver(const CmStep& step, Deferred* deferred);
  void CancelTimer();

  Device& device_;
  transport::ConnectionSink* sink_ = nullptr;
  UpcallGate gate_;

  // Protects the members up to the next comment, and the order of state changes.
  mutable std::mutex control_;
  PairState state_ = PairState::kIdle;
  transport::QueuePairAttributes attributes_;
  CmConnector cm_;
  PairQueues queues_;
  HardwarePair hardware_;
  std::optional<Driver::TimerId> timer_;  // for the connect timeout or the flush
  uint32_t generation_ = 0;               // counts connections; shows that a timer or task is late
  PairNews outcome_;                      // how the connection ends, once the end has begun

  // Each has its own lock, which is taken after control_.
  SendQueue sends_;
  ReceiveQueue receives_;
};

class QueuePair final : public transport::QueuePair {
 public:
  explicit QueuePair(std::shared_ptr<QpCore> core)
      : sends_(&core->sends()), receives_(&core->receives()), core_(std::move(core)) {}
  ~QueuePair() override { core_->Close(); }
  Code PostSend(const transport::SendRequest& request) override { return sends_->Post(request); }
  Code PostReceive(const transport::ReceiveRequest& request) override {
    return receives_->Post(request);
  }
  Status Configure(const transport::QueuePairAttributes& attributes) override {
    return core_->Configure(attributes);
  }
  Status Connect(const transport::ConnectParameters& parameters) override {
    return core_->Connect(parameters);
  }
  void Disconnect(transport::DisconnectMode mode) override { core_->Disconnect(mode); }
  Status Reset() override { return core_->Reset(); }
  transport::ConnectionAddresses Addresses() const override { return core_->Addresses(); }
  uint32_t OutstandingSends() const override { return sends_->Outstanding(); }
  uint32_t OutstandingReceives() const override { return receives_->Outstanding(); }

  const std::shared_ptr<QpCore>& core() const { return core_; }

 private:
  // Parts of the core.
  SendQueue* const sends_;
  ReceiveQueue* const receives_;
  const std::shared_ptr<QpCore> core_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_QUEUE_PAIR_H_
