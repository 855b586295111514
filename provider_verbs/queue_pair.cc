// SPDX-License-Identifier: BSD-3-Clause
// QpCore: attributes, the hardware queue pair, and its life outside connections.
#include "provider_verbs/queue_pair.h"

#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "dat/base/log.h"
#include "provider_verbs/memory.h"
#include "provider_verbs/os_error.h"
#include "provider_verbs/shared_receive_queue.h"
#include "provider_verbs/work_status.h"

namespace softdat::verbs {

using transport::WorkStatus;

namespace {

CqCore* CoreOf(transport::CompletionQueue* queue) {
  return queue == nullptr ? nullptr : static_cast<CompletionQueue*>(queue)->core().get();
}

SrqCore* CoreOf(transport::SharedReceiveQueue* queue) {
  return queue == nullptr ? nullptr : static_cast<SharedReceiveQueue*>(queue)->core().get();
}

// Places of a power of two, with one more than asked for: the marker's.
uint32_t RingSize(uint32_t depth) {
  uint32_t size = 2;
  while (size < depth + 1) size *= 2;
  return size;
}

template <typename Slot>
void Lay(std::vector<Slot>* slots, std::vector<ibv_sge>* sge, uint32_t depth, uint32_t iov,
         QpCore* qp) {
  const uint32_t size = RingSize(depth);
  *slots = std::vector<Slot>(size);
  sge->assign(size_t{size} * std::max(iov, 1u), ibv_sge{});
  for (uint32_t i = 0; i < size; ++i) {
    (*slots)[i].qp = qp;
    (*slots)[i].sge = sge->data() + size_t{i} * std::max(iov, 1u);
  }
}

DAT_LMR_TRIPLET Triplet(const ibv_sge& sge) {
  DAT_LMR_TRIPLET triplet{};
  triplet.lmr_context = sge.lkey;
  triplet.virtual_address = sge.addr;
  triplet.segment_length = sge.length;
  return triplet;
}

}  // namespace

QpCore::Deferred::Deferred(QpCore& qp) {
  const std::lock_guard<std::mutex> lock(qp.control_);
  if (qp.send_cq_ != nullptr) send_cq = qp.send_cq_->shared_from_this();
  if (qp.recv_cq_ != nullptr) recv_cq = qp.recv_cq_->shared_from_this();
}

Result<std::shared_ptr<QpCore>> QpCore::Create(Device& device,
                                               const transport::QueuePairAttributes& attributes) {
  std::shared_ptr<QpCore> core(new QpCore(device));
  Status status = core->AttachQueues(attributes);
  if (status.ok()) status = core->Adopt(attributes);
  if (status.ok() && attributes.pd != nullptr) status = core->MakeHardware();
  if (!status.ok()) {
    core->DetachQueues();
    return status;
  }
  return core;
}

QpCore::~QpCore() = default;

Status QpCore::AttachQueues(const transport::QueuePairAttributes& a) {
  const uint32_t send_depth = a.max_send + 2;
  const uint32_t receive_depth = a.srq != nullptr ? CoreOf(a.srq)->capacity() : a.max_recv + 1;
  send_cq_ = CoreOf(a.send_cq);
  recv_cq_ = CoreOf(a.recv_cq);
  if (send_cq_ == nullptr) {
    auto made = CqCore::Create(device_, send_depth, nullptr);
    if (!made.ok()) return made.TakeStatus();
    own_send_cq_ = made.Take();
    send_cq_ = own_send_cq_.get();
  }
  if (recv_cq_ == nullptr) {
    auto made = CqCore::Create(device_, receive_depth, nullptr);
    if (!made.ok()) return made.TakeStatus();
    own_recv_cq_ = made.Take();
    recv_cq_ = own_recv_cq_.get();
  }
  Status status = send_cq_->Attach(send_depth);
  if (!status.ok()) return status;
  send_attached_ = send_depth;
  status = recv_cq_->Attach(receive_depth);
  if (!status.ok()) return status;
  receive_attached_ = receive_depth;
  if (a.srq != nullptr) {
    srq_ = CoreOf(a.srq)->shared_from_this();
    srq_->Attach(recv_cq_->shared_from_this());
  }
  return status;
}

bool QpCore::Shares(const SrqCore* srq) {
  const std::lock_guard<std::mutex> lock(control_);
  return srq_.get() == srq;
}

void QpCore::DetachQueues() {
  if (srq_ != nullptr) std::exchange(srq_, nullptr)->Detach(recv_cq_);
  if (send_attached_ > 0) send_cq_->Detach(std::exchange(send_attached_, 0));
  if (receive_attached_ > 0) recv_cq_->Detach(std::exchange(receive_attached_, 0));
  if (own_send_cq_ != nullptr) std::exchange(own_send_cq_, nullptr)->Close();
  if (own_recv_cq_ != nullptr) std::exchange(own_recv_cq_, nullptr)->Close();
  send_cq_ = recv_cq_ = nullptr;
}

Status QpCore::Adopt(const transport::QueuePairAttributes& a) {
  const std::lock_guard<SpinLock> sends(send_lock_);
  const std::lock_guard<SpinLock> receives(receive_lock_);
  const uint32_t retired = completions.receives_retired.load(std::memory_order_relaxed);
  const uint32_t kept = receives_posted_.load(std::memory_order_relaxed) - retired;
  if (kept > a.max_recv) {
    return Status(Code::kInvalidState,
                  fmt::format("{} receives are posted, more than {}", kept, a.max_recv));
  }
  attributes_ = a;
  send_regions_.Forget();
  receive_regions_.Forget();
  sink_ = a.sink;
  completions.context = a.context;
  max_send_ = a.max_send;
  max_send_iov_ = std::min(std::max(a.max_send_iov, 1u), device_.traits.max_sge);
  Lay(&send_slots_, &send_sge_, max_send_ + 1, max_send_iov_, this);
  send_mask_ = static_cast<uint32_t>(send_slots_.size()) - 1;
  plain_limit_ = static_cast<uint32_t>(
      std::min<uint64_t>(device_.attributes.max_message, std::numeric_limits<uint32_t>::max()));
  signal_period_ = std::clamp(max_send_ / 2, 1u, 16u);

  // Posted receives survive, in their order.
  std::vector<ReceiveSlot> slots;
  std::vector<ibv_sge> sge;
  const uint32_t iov = std::max({a.max_recv_iov, 1u, kept > 0 ? max_receive_iov_ : 1u});
  Lay(&slots, &sge, a.max_recv, iov, this);
  const uint32_t mask = static_cast<uint32_t>(slots.size()) - 1;
  for (uint32_t i = 0; i < kept; ++i) {
    const ReceiveSlot& from = receive_slots_[(retired + i) & receive_mask_];
    ReceiveSlot& to = slots[(retired + i) & mask];
    to.cookie = from.cookie;
    to.sequence = from.sequence;
    to.sge_count = from.sge_count;
    to.flags = from.flags;
    std::copy_n(from.sge, from.sge_count, to.sge);
  }
  receive_slots_.swap(slots);
  receive_sge_.swap(sge);
  receive_mask_ = mask;
  max_receive_ = a.max_recv;
  max_receive_iov_ = iov;
  return Status::Ok();
}

Status QpCore::MakeHardware() {
  const DeviceTraits& traits = device_.traits;
  // Reads that are split and binds that replace one another take several places.
  const uint32_t read_iov = attributes_.max_read_iov == 0
                                ? max_send_iov_
                                : std::min(attributes_.max_read_iov, max_send_iov_);
  const uint32_t factor = traits.max_read_sge < read_iov ? read_iov : traits.windows_type2 ? 2 : 1;
  ibv_qp_init_attr init{};
  init.qp_context = this;
  init.send_cq = send_cq_->hardware();
  init.recv_cq = recv_cq_->hardware();
  init.srq = attributes_.srq != nullptr ? CoreOf(attributes_.srq)->hardware() : nullptr;
  init.qp_type = IBV_QPT_RC;
  init.cap.max_send_wr =
      std::max(max_send_ + 2, static_cast<uint32_t>(std::min<uint64_t>(
                                  uint64_t{max_send_ + 2} * factor, traits.max_qp_wr)));
  init.cap.max_recv_wr = init.srq != nullptr ? 0 : max_receive_ + 1;
  init.cap.max_send_sge = max_send_iov_;
  init.cap.max_recv_sge = init.srq != nullptr ? 0 : std::min(max_receive_iov_, traits.max_sge);
  init.cap.max_inline_data = traits.max_inline;
  const ibv_qp_cap wanted = init.cap;
  ibv_pd* const pd = static_cast<ProtectionDomain*>(attributes_.pd)->hardware();
  qp_ = ibv_create_qp(pd, &init);
  if (qp_ == nullptr) {
    return ExhaustionStatus(
        errno, fmt::format("ibv_create_qp with {} sends of {} segments, {} receives of {}",
                           wanted.max_send_wr, wanted.max_send_sge, wanted.max_recv_wr,
                           wanted.max_recv_sge));
  }
  device_.AddPair(qp_->qp_num, shared_from_this());
  return Status::Ok();
}

Status QpCore::EnsureHardware() { return qp_ != nullptr ? Status::Ok() : MakeHardware(); }

// Whatever the hardware still had is forgotten: the slots say what was posted. (siw flushes what is
// left when a pair is destroyed, also receives of one that was never connected.)
void QpCore::DestroyHardware(Deferred* deferred) {
  if (qp_ == nullptr) return;
  completions.dropping.store(true, std::memory_order_relaxed);
  {
    const std::lock_guard<SpinLock> lock(receive_lock_);
    receives_live_ = false;
  }
  const uint32_t qp_num = qp_->qp_num;
  if (device_.traits.windows_type2) device_.RenewWindowsOf(this);
  if (given_up_ != nullptr) {
    Bury();
  } else {
    const int error = ibv_destroy_qp(qp_);
    if (error != 0) SOFTDAT_LOG(Error, "ibv_destroy_qp: {}", OsText(error));
  }
  qp_ = nullptr;
  send_cq_->Drain(&deferred->send);
  recv_cq_->Drain(&deferred->receive);
  device_.RemovePair(qp_num);
  // Nothing of it can be converted any more.
  hardware_life_.fetch_add(1, std::memory_order_release);
  completions.dropping.store(false, std::memory_order_relaxed);
}

// Destroys the identifier of an attempt that has not ended, which tells the peer; or has that done,
// where the kernel would keep the caller.
void QpCore::GiveUp() {
  if (id_ == nullptr) return;
  if (unanswered_ && device_.traits.iwarp && srq_ == nullptr && qp_ != nullptr) {
    id_->SetSink(nullptr);
    given_up_ = std::move(id_);
  }
  id_.reset();
  unanswered_ = false;
}

// The hardware and the identifier go in the background. They have nothing left to complete, but the
// queues and the domain must stay until then.
void QpCore::Bury() {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  static_cast<void>(ibv_modify_qp(qp_, &attr, IBV_QP_STATE));  // flushes
  send_cq_->HoldForReaper();
  recv_cq_->HoldForReaper();
  device_.reaper.Run([self = shared_from_this(), id = std::move(given_up_), qp = qp_,
                      pd = static_cast<ProtectionDomain*>(attributes_.pd)->share(),
                      send_cq = send_cq_->shared_from_this(),
                      recv_cq = recv_cq_->shared_from_this()]() mutable {
    id.reset();
    const int error = ibv_destroy_qp(qp);
    if (error != 0) SOFTDAT_LOG(Error, "ibv_destroy_qp: {}", OsText(error));
    pd.reset();
    send_cq->ReleaseByReaper();
    recv_cq->ReleaseByReaper();
  });
}

void QpCore::SetState(State state) {
  const std::lock_guard<SpinLock> sends(send_lock_);
  const std::lock_guard<SpinLock> receives(receive_lock_);
  state_.store(state, std::memory_order_release);
}

Status QpCore::Configure(const transport::QueuePairAttributes& attributes) {
  Deferred deferred(*this);
  Status status;
  {
    const std::lock_guard<std::mutex> lock(control_);
    const State state = state_.load(std::memory_order_relaxed);
    if (state != State::kIdle && state != State::kEnded) {
      return Status(Code::kInvalidState, "the queue pair is connecting or connected");
    }
    DestroyHardware(&deferred);
    const transport::QueuePairAttributes before = attributes_;
    DetachQueues();
    status = AttachQueues(attributes);
    if (status.ok()) status = Adopt(attributes);
    if (status.ok() && attributes.pd != nullptr) status = MakeHardware();
    if (!status.ok()) {
      // All or nothing.
      DetachQueues();
      Status back = AttachQueues(before);
      if (back.ok()) back = Adopt(before);
      if (!back.ok()) SOFTDAT_LOG(Error, "queue pair left unusable: {}", back.reason());
    }
  }
  Run(deferred);
  return status;
}

Status QpCore::Reset() {
  const std::lock_guard<std::mutex> lock(control_);
  const State state = state_.load(std::memory_order_relaxed);
  if (state == State::kIdle) return Status::Ok();
  if (state != State::kEnded) {
    return Status(Code::kInvalidState, "the queue pair has not ended its connection");
  }
  id_.reset();
  addresses_ = {};
  outcome_ = {};
  ++generation_;
  established_ = linked_ = false;
  failure_noted_.store(false, std::memory_order_relaxed);
  failure_status_.store(0, std::memory_order_relaxed);
  SetState(State::kIdle);
  return Status::Ok();
}

void QpCore::Close() {
  if (device_.abandoned) return;
  gate_.Close();
  Deferred deferred(*this);
  {
    const std::lock_guard<std::mutex> lock(control_);
    SetState(State::kClosed);
    ++generation_;
    CancelTimer();
    Unwatch();
    if (id_ != nullptr && linked_) rdma_disconnect(id_->get());
    GiveUp();
    // Completions that the consumer has not taken stay, as far as there are any now.
    send_cq_->Drain(&deferred.send);
    recv_cq_->Drain(&deferred.receive);
    DestroyHardware(&deferred);
    DetachQueues();
  }
  Run(deferred);
}

transport::ConnectionAddresses QpCore::Addresses() const {
  const std::lock_guard<std::mutex> lock(control_);
  return addresses_;
}

void QpCore::Run(Deferred& deferred) {
  if (deferred.send_cq != nullptr) deferred.send_cq->Carry(deferred.send);
  if (deferred.recv_cq != nullptr) deferred.recv_cq->Carry(deferred.receive);
  deferred.send = deferred.receive = {};
  if (deferred.upcall == Deferred::Upcall::kNone) return;
  {
    const UpcallGate::Pass pass(gate_);
    if (!pass.open()) return;
    switch (deferred.upcall) {
      case Deferred::Upcall::kEstablished:
        sink_->OnEstablished(deferred.data);
        break;
      case Deferred::Upcall::kFailed:
        sink_->OnFailed(deferred.reject, deferred.data, deferred.why);
        break;
      case Deferred::Upcall::kEnded:
        sink_->OnEnded(deferred.end, deferred.why);
        break;
      case Deferred::Upcall::kNone:
        break;
    }
  }
  if (deferred.upcall != Deferred::Upcall::kEstablished) return;
  Deferred held(*this);
  {
    const std::lock_guard<std::mutex> lock(control_);
    if (recv_cq_ != nullptr && held.recv_cq != nullptr) recv_cq_->ReleaseHeld(*this, &held.receive);
  }
  Run(held);
}

bool QpCore::NoteFailure(const ibv_wc& wc) {
  const State state = state_.load(std::memory_order_relaxed);
  if (state != State::kConnecting && state != State::kConnected && state != State::kDraining)
    return false;
  // On iWARP the end of the TCP connection flushes, and rdma_cm tells how it ended.
  if (wc.status == IBV_WC_WR_FLUSH_ERR && device_.traits.iwarp) return false;
  // The flush of a pair that was not told to end is a failure too, but seldom the cause.
  if (wc.status != IBV_WC_WR_FLUSH_ERR) {
    int none = 0;
    failure_status_.compare_exchange_strong(none, wc.status, std::memory_order_relaxed);
  }
  if (failure_noted_.exchange(true, std::memory_order_relaxed)) return false;
  failure_life_.store(hardware_life(), std::memory_order_relaxed);
  return true;
}

WorkStatus QpCore::ClassifySend(ibv_wc_status status, const SendSlot& slot) const {
  if (slot.done.op == transport::Op::kBind && status != IBV_WC_WR_FLUSH_ERR)
    return WorkStatus::kBindFailed;
  if (status != IBV_WC_LOC_QP_OP_ERR) return ToWorkStatus(status);
  for (uint8_t i = 0; i < slot.sge_count; ++i) {
    bool zero_based = false;
    DAT_LMR_TRIPLET segment = Triplet(slot.sge[i]);
    if (device_.traits.read_sink_remote_write)
      segment.lmr_context = device_.sinks.RegionOf(segment.lmr_context);
    if (device_.regions.Check(segment, attributes_.pd, slot.reads, &zero_based) != Code::kOk) {
      return WorkStatus::kLocalProtection;
    }
  }
  return WorkStatus::kLocalEp;
}

// soft-RoCE reports a message that is too long, and memory that is gone, as an operation error.
WorkStatus QpCore::ClassifyReceive(ibv_wc_status status, std::span<const ibv_sge> sge) const {
  if (status != IBV_WC_LOC_QP_OP_ERR) return ToWorkStatus(status);
  for (const ibv_sge& s : sge) {
    if (s.length == 0) continue;
    bool zero_based = false;
    if (device_.regions.Check(Triplet(s), nullptr, true, &zero_based) != Code::kOk) {
      return WorkStatus::kLocalProtection;
    }
  }
  return WorkStatus::kLocalLength;
}

void QpCore::PostFailure() {
  const uint32_t life = failure_life_.load(std::memory_order_relaxed);
  device_.driver.Post([qp = shared_from_this(), life] {
    const int status = qp->failure_status_.load(std::memory_order_relaxed);
    qp->OnAsyncError(status == 0 ? "the device flushed the queue pair"
                                 : ibv_wc_status_str(static_cast<ibv_wc_status>(status)),
                     life);
  });
}

}  // namespace softdat::verbs
