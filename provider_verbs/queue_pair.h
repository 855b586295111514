// SPDX-License-Identifier: BSD-3-Clause
// Reliable connected queue pairs over ibv_qp and rdma_cm.
//
// The hardware queue pair is made with the object and anew for each connection; it is destroyed
// when a connection has ended, after its flushed work was collected. Receives that are posted
// outside a connection wait in their slots.
//
// Everything that the wire tells arrives in the driver's leader: OnCmEvent, OnArrivals, tasks.
// These and the control calls share `control_`; upcalls are made after it was released.
#ifndef SOFTDAT_PROVIDER_VERBS_QUEUE_PAIR_H_
#define SOFTDAT_PROVIDER_VERBS_QUEUE_PAIR_H_

#include <infiniband/verbs.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dat/backend_kit/spin_lock.h"
#include "dat/backend_kit/upcall_gate.h"
#include "dat/transport/transport.h"
#include "provider_verbs/cm_channel.h"
#include "provider_verbs/completion_queue.h"
#include "provider_verbs/device.h"
#include "provider_verbs/region_table.h"
#include "provider_verbs/work_slots.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::verbs {

class QpCore final : public CmSink, public std::enable_shared_from_this<QpCore> {
 public:
  static Result<std::shared_ptr<QpCore>> Create(Device& device,
                                                const transport::QueuePairAttributes& attributes);
  ~QpCore() override;
  QpCore(const QpCore&) = delete;
  QpCore& operator=(const QpCore&) = delete;

  // transport::QueuePair.
  Code PostSend(const transport::SendRequest& request);
  Code PostReceive(const transport::ReceiveRequest& request);
  Status Configure(const transport::QueuePairAttributes& attributes);
  Status Connect(const transport::ConnectParameters& parameters);
  void Disconnect(transport::DisconnectMode mode);
  Status Reset();
  transport::ConnectionAddresses Addresses() const;
  uint32_t OutstandingSends();
  uint32_t OutstandingReceives();
  // The object is being destroyed: aborts, and no upcall is running or will come.
  void Close();

  // What a connection request gave; `gone`: the requester has given up meanwhile.
  struct AcceptParameters {
    std::shared_ptr<CmId> id;
    bool padded = false;  // the requester understands trailers
    uint8_t responder_resources = 0;
    uint8_t initiator_depth = 0;
    bool gone = false;
    transport::ConnectionAddresses addresses;
  };
  Status Accept(const AcceptParameters& parameters, std::span<const uint8_t> private_data);

  // The driver's leader.
  void OnCmEvent(const CmEvent& event) override;
  void OnArrivals();
  // `life`: of hardware_life() when it happened. What befell an earlier hardware queue pair, and is
  // only now told, is no business of the connection that there is by now.
  void OnAsyncError(const char* what, uint32_t life);
  // Are its receives those of `srq`?
  bool Shares(const SrqCore* srq);
  void OnFirstMessage(uint32_t life);  // data before the connection is reported: IBV_EVENT_COMM_EST
  // Which of this object's hardware queue pairs, one after the other, there is now. Any thread.
  uint32_t hardware_life() const { return hardware_life_.load(std::memory_order_acquire); }

  // For completions, with the lock of the completion queue held.
  struct ForCompletions {
    void* context = nullptr;
    std::atomic<uint32_t> sends_retired{0};  // sequence behind the newest completed one
    std::atomic<uint32_t> receives_retired{0};
    uint32_t early = 0;  // slots from sends_retired on whose request has completed
    // Receives wait until the connection has been reported.
    std::atomic<bool> holding{false};
    // The hardware is being destroyed: what still comes is dropped.
    std::atomic<bool> dropping{false};
    std::vector<transport::Completion> held;
    QpCore* next_failed = nullptr;
  } completions;
  SendSlot& SlotAt(uint32_t sequence) { return send_slots_[sequence & send_mask_]; }
  // Records a failed completion; true the first time that it means the end of the connection.
  bool NoteFailure(const ibv_wc& wc);
  // The consumer's status of a failed request: what the device says, or, where soft devices are
  // vague, what the local segments show.
  transport::WorkStatus ClassifySend(ibv_wc_status status, const SendSlot& slot) const;
  transport::WorkStatus ClassifyReceive(ibv_wc_status status, std::span<const ibv_sge> sge) const;
  // After NoteFailure, without a lock.
  void PostFailure();

 private:
  enum class State : uint8_t {
    kIdle,
    kConnecting,
    kConnected,
    kDraining,
    kEnding,
    kEnded,
    kClosed
  };

  // What is done when control_ has been released.
  struct Deferred {
    // Before control_ is taken: takes it itself, since Close() lets go of the queues.
    explicit Deferred(QpCore& qp);
    std::shared_ptr<CqCore> send_cq, recv_cq;
    CqCore::Due send, receive;
    enum class Upcall : uint8_t { kNone, kEstablished, kFailed, kEnded } upcall = Upcall::kNone;
    transport::RejectReason reject = transport::RejectReason::kNonPeer;
    transport::EndReason end = transport::EndReason::kDisconnected;
    std::vector<uint8_t> data{};
    std::string why{};
  };
  // How the connection ends, once that has begun.
  struct Outcome {
    bool failed = false;  // OnFailed, else OnEnded
    transport::RejectReason reject = transport::RejectReason::kNonPeer;
    transport::EndReason end = transport::EndReason::kDisconnected;
    std::vector<uint8_t> data{};
    std::string why{};
  };

  explicit QpCore(Device& device) : device_(device) {}

  // queue_pair.cc: attributes and hardware. control_ held, or not shared yet.
  Status Adopt(const transport::QueuePairAttributes& attributes);
  Status AttachQueues(const transport::QueuePairAttributes& attributes);
  void DetachQueues();
  Status MakeHardware();
  Status EnsureHardware();
  void DestroyHardware(Deferred* deferred);
  void GiveUp();
  void Bury();
  void SetState(State state);
  void Run(Deferred& deferred);

  // queue_pair_post.cc: send_lock_ held.
  bool PostPlain(const transport::SendRequest& request);
  Code PostAny(const transport::SendRequest& request);  // and releases it
  Code PostLate(const transport::SendRequest& request);
  Code PostSendLocked(const transport::SendRequest& request, CqCore::Due* due);
  SendSlot* NextSlot(CqCore::Due* due);
  Code FillLocal(const transport::SendRequest& request, SendSlot* slot, bool* zero_based);
  Code FillRequest(const transport::SendRequest& request, bool zero_based, SendSlot* slot,
                   ibv_send_wr* wr);
  bool WantsSignal(bool suppressed);
  Code PostChain(SendSlot* slot, ibv_send_wr* first);
  void NotePostFailure();
  Code PostSplitRead(SendSlot* slot, const ibv_send_wr& wr);
  transport::Completion FlushOf(const transport::SendRequest& request) const;
  void PostMarkerLocked();
  bool MarkerInFlight() const;
  uint32_t SendsInFlight() const;
  // queue_pair_bind.cc: send_lock_ held.
  Code PostBind(const transport::SendRequest& request, SendSlot* slot);
  Code BindType1(const transport::SendRequest& request, const ibv_send_wr& wr, SendSlot* slot);
  Code PostReadToWindow(const transport::SendRequest& request, SendSlot* slot);
  // queue_pair_receive.cc: receive_lock_ held.
  transport::Completion FlushOf(const transport::ReceiveRequest& request) const;
  Code HardwareReceive(ReceiveSlot* slot);
  Status ActivateReceives();

  // queue_pair_connect.cc
  Status CheckConnect(const transport::ConnectParameters& p);
  Status StartConnecting();
  void Retry();
  void OnRouteResolved(Deferred* deferred);
  void OnResponse(const CmEvent& event, Deferred* deferred);
  void OnRejected(const CmEvent& event, Deferred* deferred);
  void OnNobodyListens(Deferred* deferred);
  bool OurDevice(const rdma_cm_id* id) const;
  void Established(std::span<const uint8_t> data, Deferred* deferred);
  void ReleaseHeld(CqCore::Due* due);
  // queue_pair_transition.cc
  Status ToInit(rdma_cm_id* id);
  Status ToReady(rdma_cm_id* id, std::optional<uint8_t> read_in, std::optional<uint8_t> read_out);

  // queue_pair_end.cc
  void Fail(transport::RejectReason reason, std::string why, Deferred* deferred,
            std::span<const uint8_t> data = {});
  void BeginEnd(Outcome outcome, Deferred* deferred);
  void PollFlush(bool force, Deferred* deferred);
  void FinishEnd(Deferred* deferred);
  void ContinueGraceful(Deferred* deferred);
  void OnDisconnected(const CmEvent& event, Deferred* deferred);
  void Watch();
  void Unwatch();
  void CancelTimer();

  Device& device_;
  transport::ConnectionSink* sink_ = nullptr;
  UpcallGate gate_;

  // Protects what follows up to the next comment, and the order of state changes.
  mutable std::mutex control_;
  transport::QueuePairAttributes attributes_;
  std::shared_ptr<CmId> id_;
  std::optional<Driver::TimerId> timer_;  // connect timeout, retry, or flush
  transport::ConnectionAddresses addresses_;
  transport::ConnectParameters connect_;  // its private_data point into connect_data_
  std::vector<uint8_t> connect_data_;
  transport::Clock::time_point connect_deadline_{};
  transport::Clock::time_point grace_until_{};
  bool active_ = false;
  bool padded_ = false;
  bool established_ = false;  // OnEstablished was or is being called
  bool linked_ = false;  // the ids of both ends know each other: disconnecting says so to the peer
  bool watching_ = false;
  bool unanswered_ = false;         // the kernel waits for the peer's answer to a request
  std::shared_ptr<CmId> given_up_;  // unanswered: the hardware goes together with it
  uint32_t generation_ = 0;         // counts connections, for timers and tasks that come late
  Outcome outcome_;
  uint32_t send_attached_ = 0, receive_attached_ = 0;

  // Written with both post locks and control_ held, read with any of the three.
  std::atomic<State> state_{State::kIdle};
  ibv_qp* qp_ = nullptr;
  CqCore* send_cq_ = nullptr;
  CqCore* recv_cq_ = nullptr;
  std::shared_ptr<CqCore> own_send_cq_, own_recv_cq_;  // where the consumer gave none
  std::shared_ptr<SrqCore> srq_;

  // Protects the send queue's places.
  SpinLock send_lock_;
  std::vector<SendSlot> send_slots_;
  std::vector<ibv_sge> send_sge_;
  std::atomic<uint32_t> sends_posted_{0};
  RegionCache send_regions_;
  uint32_t send_mask_ = 0;
  uint32_t max_send_ = 0;
  uint32_t max_send_iov_ = 0;
  uint32_t plain_limit_ = 0;  // bytes of a request for PostPlain
  uint32_t signal_period_ = 1;
  uint32_t unsignalled_ = 0;  // requests at the tail whose success nothing reports
  uint32_t marker_sequence_ = 0;
  bool marker_pending_ = false;
  std::vector<transport::Completion> late_sends_;  // posted while the connection ends

  // Protects the receive queue's places.
  SpinLock receive_lock_;
  std::vector<ReceiveSlot> receive_slots_;
  std::vector<ibv_sge> receive_sge_;
  std::atomic<uint32_t> receives_posted_{0};
  RegionCache receive_regions_;
  uint32_t receive_mask_ = 0;
  uint32_t max_receive_ = 0;
  uint32_t max_receive_iov_ = 0;
  bool receives_live_ = false;                        // the hardware has what is posted
  std::vector<transport::Completion> late_receives_;  // posted while the connection ends

  // The first failed completion.
  std::atomic<bool> failure_noted_{false};
  std::atomic<int> failure_status_{0};
  std::atomic<uint32_t> failure_life_{0};
  std::atomic<uint32_t> hardware_life_{0};  // written with control_ held
};

class QueuePair final : public transport::QueuePair {
 public:
  explicit QueuePair(std::shared_ptr<QpCore> core) : core_(std::move(core)) {}
  ~QueuePair() override { core_->Close(); }
  Code PostSend(const transport::SendRequest& request) override { return core_->PostSend(request); }
  Code PostReceive(const transport::ReceiveRequest& request) override {
    return core_->PostReceive(request);
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
  uint32_t OutstandingSends() const override { return core_->OutstandingSends(); }
  uint32_t OutstandingReceives() const override { return core_->OutstandingReceives(); }

  const std::shared_ptr<QpCore>& core() const { return core_; }

 private:
  const std::shared_ptr<QpCore> core_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_QUEUE_PAIR_H_
