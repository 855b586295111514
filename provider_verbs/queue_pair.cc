// SPDX-License-Identifier: BSD-3-Clause
// QpCore: attributes, the hardware queue pair, and its life outside connections.
#include "provider_verbs/queue_pair.h"

#include <utility>

#include "dat/base/log.h"
#include "provider_verbs/memory.h"
#include "provider_verbs/shared_receive_queue.h"

namespace softdat::verbs {

QpCore::Deferred::Deferred(QpCore& qp) {
  const std::lock_guard<std::mutex> lock(qp.control_);
  send_cq = qp.queues_.send();
  recv_cq = qp.queues_.receive();
}

Result<std::shared_ptr<QpCore>> QpCore::Create(Device& device,
                                               const transport::QueuePairAttributes& attributes) {
  std::shared_ptr<QpCore> core(new QpCore(device));
  Status status = core->queues_.Attach(attributes);
  if (status.ok()) status = core->Adopt(attributes);
  if (status.ok() && attributes.pd != nullptr) status = core->MakeHardware();
  if (!status.ok()) {
    core->Detach();
    return status;
  }
  return core;
}

QpCore::~QpCore() = default;

bool QpCore::Shares(const SrqCore* srq) {
  const std::lock_guard<std::mutex> lock(control_);
  return queues_.shared().get() == srq;
}

void QpCore::Detach() {
  sends_.Detach();
  receives_.Detach();
  queues_.Detach();
}

Status QpCore::Adopt(const transport::QueuePairAttributes& a) {
  Status status = receives_.Adopt(a, queues_.receive().get());
  if (!status.ok()) return status;
  sends_.Adopt(a, queues_.send().get());
  attributes_ = a;
  sink_ = a.sink;
  return status;
}

Status QpCore::MakeHardware() {
  if (hardware_.exists()) return Status::Ok();
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_RC;
  init.send_cq = queues_.send()->hardware();
  init.recv_cq = queues_.receive()->hardware();
  init.srq = queues_.shared() != nullptr ? queues_.shared()->hardware() : nullptr;
  init.cap = CapacityFor(device_.traits, attributes_, sends_.max_iov(), receives_.max_iov());
  Status status = hardware_.Make(static_cast<ProtectionDomain*>(attributes_.pd)->hardware(), init);
  if (!status.ok()) return status;
  sends_.SetHardware(hardware_.get());
  device_.AddPair(hardware_.get()->qp_num, shared_from_this());
  return status;
}

// Forgets all work that the hardware still has. The slots know what was posted. (siw flushes the
// rest when a pair is destroyed, including receives of a pair that was never connected.)
void QpCore::DestroyHardware(Deferred* deferred) {
  if (!hardware_.exists()) return;
  sends_.progress().dropping.store(true, std::memory_order_relaxed);
  receives_.progress().dropping.store(true, std::memory_order_relaxed);
  sends_.SetHardware(nullptr);
  receives_.Deactivate();
  const uint32_t qp_num = hardware_.get()->qp_num;
  if (std::shared_ptr<CmId> id = cm_.TakeGivenUp(); id != nullptr) {
    hardware_.Bury(std::move(id), static_cast<ProtectionDomain*>(attributes_.pd)->share(),
                   queues_.send(), queues_.receive());
  } else {
    hardware_.Destroy();
  }
  Drain(deferred);
  device_.RemovePair(qp_num);
  // No completion of the old hardware can be converted any more.
  failure.NextLife();
  sends_.progress().dropping.store(false, std::memory_order_relaxed);
  receives_.progress().dropping.store(false, std::memory_order_relaxed);
}

void QpCore::Drain(Deferred* deferred) {
  if (!queues_.attached()) return;
  queues_.send()->Drain(&deferred->send);
  queues_.receive()->Drain(&deferred->receive);
}

void QpCore::SetState(PairState state) {
  state_ = state;
  failure.Watch(CanEnd(state));
  sends_.SetFate(FateOfSend(state));
  receives_.SetFate(FateOfReceive(state));
}

Status QpCore::Configure(const transport::QueuePairAttributes& attributes) {
  Deferred deferred(*this);
  Status status;
  {
    const std::lock_guard<std::mutex> lock(control_);
    if (state_ != PairState::kIdle && state_ != PairState::kEnded) {
      return Status(Code::kInvalidState, "the queue pair is connecting or connected");
    }
    DestroyHardware(&deferred);
    const transport::QueuePairAttributes before = attributes_;
    Detach();
    status = queues_.Attach(attributes);
    if (status.ok()) status = Adopt(attributes);
    if (status.ok() && attributes.pd != nullptr) status = MakeHardware();
    if (!status.ok()) {
      // The change happens completely or not at all.
      Detach();
      Status back = queues_.Attach(before);
      if (back.ok()) back = Adopt(before);
      if (!back.ok()) SOFTDAT_LOG(Error, "queue pair left unusable: {}", back.reason());
    }
  }
  Run(deferred);
  return status;
}

Status QpCore::Reset() {
  const std::lock_guard<std::mutex> lock(control_);
  if (state_ == PairState::kIdle) return Status::Ok();
  if (state_ != PairState::kEnded) {
    return Status(Code::kInvalidState, "the queue pair has not ended its connection");
  }
  cm_.Clear();
  outcome_ = {};
  ++generation_;
  failure.Clear();
  SetState(PairState::kIdle);
  return Status::Ok();
}

void QpCore::Close() {
  if (device_.abandoned) return;
  gate_.Close();
  Deferred deferred(*this);
  {
    const std::lock_guard<std::mutex> lock(control_);
    SetState(PairState::kClosed);
    ++generation_;
    CancelTimer();
    queues_.Unwatch(this);
    cm_.Disconnect();
    cm_.GiveUp(/*may_wait=*/hardware_.exists() && queues_.shared() == nullptr);
    // Completions that the consumer has not taken stay, if they have arrived.
    Drain(&deferred);
    DestroyHardware(&deferred);
    Detach();
  }
  Run(deferred);
}

transport::ConnectionAddresses QpCore::Addresses() const {
  const std::lock_guard<std::mutex> lock(control_);
  return cm_.addresses();
}

Driver::Task QpCore::Later(Work work) {
  return [qp = Self(), generation = generation_, work = std::move(work)] {
    Deferred deferred(*qp);
    {
      const std::lock_guard<std::mutex> lock(qp->control_);
      if (qp->generation_ != generation) return;
      work(&deferred);
    }
    qp->Run(deferred);
  };
}

void QpCore::Run(Deferred& deferred) {
  if (deferred.send_cq != nullptr) deferred.send_cq->Carry(deferred.send);
  if (deferred.recv_cq != nullptr) deferred.recv_cq->Carry(deferred.receive);
  deferred.send = deferred.receive = {};
  if (deferred.news.what == PairNews::What::kNothing) return;
  {
    const UpcallGate::Pass pass(gate_);
    if (!pass.open()) return;
    deferred.news.Tell(sink_);
  }
  if (deferred.news.what != PairNews::What::kEstablished) return;
  // The connection has been reported, so its receives may now be reported, too.
  Deferred held(*this);
  {
    const std::lock_guard<std::mutex> lock(control_);
    if (queues_.receive() != nullptr && held.recv_cq != nullptr)
      queues_.receive()->ReleaseHeld(receives_.progress(), &held.receive);
  }
  Run(held);
}

void QpCore::ReportFailure() {
  device_.driver.Post(
      [qp = Self(), life = failure.noted_life()] { qp->OnAsyncError(qp->failure.what(), life); });
}

}  // namespace softdat::verbs
