// SPDX-License-Identifier: BSD-3-Clause
// DatagramCore: attributes, the hardware queue pair, and its life.
#include "provider_verbs/datagram_pair.h"

#include "dat/base/log.h"
#include "provider_verbs/datagram_peer.h"
#include "provider_verbs/memory.h"
#include "provider_verbs/shared_receive_queue.h"

namespace softdat::verbs {

Result<std::shared_ptr<DatagramCore>> DatagramCore::Create(
    Device& device, const transport::QueuePairAttributes& attributes) {
  std::shared_ptr<DatagramCore> core(new DatagramCore(device));
  Status status = core->queues_.Attach(attributes);
  if (status.ok()) status = core->Adopt(attributes);
  if (status.ok() && attributes.pd != nullptr) status = core->MakeHardware();
  if (!status.ok()) {
    core->Detach();
    return status;
  }
  return core;
}

bool DatagramCore::Shares(const SrqCore* srq) {
  const std::lock_guard<std::mutex> lock(control_);
  return queues_.shared().get() == srq;
}

Status DatagramCore::Adopt(const transport::QueuePairAttributes& a) {
  Status status = receives_.Adopt(a, queues_.receive().get());
  if (!status.ok()) return status;
  sends_.Adopt(a, queues_.send().get());
  attributes_ = a;
  return status;
}

void DatagramCore::Detach() {
  sends_.Detach();
  receives_.Detach();
  queues_.Detach();
}

Status DatagramCore::MakeHardware() {
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_UD;
  init.send_cq = queues_.send()->hardware();
  init.recv_cq = queues_.receive()->hardware();
  init.srq = queues_.shared() != nullptr ? queues_.shared()->hardware() : nullptr;
  init.cap = CapacityFor(device_.traits, attributes_, sends_.max_iov(), receives_.max_iov());
  Status status = hardware_.Make(static_cast<ProtectionDomain*>(attributes_.pd)->hardware(), init);
  if (!status.ok()) return status;
  sends_.SetHardware(hardware_.get());
  device_.AddPair(hardware_.get()->qp_num, shared_from_this());
  status = hardware_.ToDatagrams(kDatagramQkey);
  if (status.ok()) status = receives_.Activate(hardware_.get());
  if (!status.ok()) {
    Deferred nobody;
    DestroyHardware(&nobody);
    return status;
  }
  sends_.SetFate(PostFate::kTaken);
  failure.Watch(true);
  return status;
}

// Forgets all work that the hardware still has.
void DatagramCore::DestroyHardware(Deferred* deferred) {
  if (!hardware_.exists()) return;
  failure.Watch(false);
  sends_.SetFate(PostFate::kRefused);
  sends_.progress().dropping.store(true, std::memory_order_relaxed);
  receives_.progress().dropping.store(true, std::memory_order_relaxed);
  sends_.SetHardware(nullptr);
  receives_.Deactivate();
  const uint32_t qp_num = hardware_.get()->qp_num;
  hardware_.Destroy();
  queues_.send()->Drain(&deferred->send);
  queues_.receive()->Drain(&deferred->receive);
  device_.RemovePair(qp_num);
  // No completion of the old hardware can be converted any more.
  failure.NextLife();
  sends_.progress().dropping.store(false, std::memory_order_relaxed);
  receives_.progress().dropping.store(false, std::memory_order_relaxed);
}

void DatagramCore::Deferred::Run() {
  if (send_cq != nullptr) send_cq->Carry(send);
  if (recv_cq != nullptr) recv_cq->Carry(receive);
}

Status DatagramCore::Configure(const transport::QueuePairAttributes& attributes) {
  Deferred deferred;
  Status status;
  {
    const std::lock_guard<std::mutex> lock(control_);
    if (met_) return Status(Code::kInvalidState, "peers know the queue pair already");
    deferred.send_cq = queues_.send();
    deferred.recv_cq = queues_.receive();
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
      if (back.ok() && before.pd != nullptr) back = MakeHardware();
      if (!back.ok()) SOFTDAT_LOG(Error, "queue pair left unusable: {}", back.reason());
    }
  }
  deferred.Run();
  return status;
}

Result<uint32_t> DatagramCore::NumberToTell(ProtectionDomain** domain) {
  if (!hardware_.exists()) {
    return Status(Code::kInvalidState, "the queue pair has no protection domain");
  }
  met_ = true;
  *domain = static_cast<ProtectionDomain*>(attributes_.pd);
  return hardware_.get()->qp_num;
}

Result<uint32_t> DatagramCore::Meet(ProtectionDomain** domain) {
  const std::lock_guard<std::mutex> lock(control_);
  return NumberToTell(domain);
}

// A send has failed. Nothing that happens to one datagram ends the pair.
void DatagramCore::ReportFailure() {
  device_.driver.Post([pair = Self()] {
    const std::lock_guard<std::mutex> lock(pair->control_);
    pair->failure.Clear();
    if (pair->closed_ || !pair->hardware_.exists() || pair->hardware_.SendOn()) return;
    SOFTDAT_LOG(Error, "{}: the device has given up queue pair {} for datagrams",
                pair->device_.attributes.device_name, pair->hardware_.get()->qp_num);
  });
}

void DatagramCore::OnAsyncError(const char* what, uint32_t) {
  SOFTDAT_LOG(Error, "{}: {} of a queue pair for datagrams", device_.attributes.device_name, what);
}

void DatagramCore::Close() {
  if (device_.abandoned) return;
  gate_.Close();
  Deferred deferred;
  std::set<QuestionPtr> questions;  // their ids go without the lock
  {
    const std::lock_guard<std::mutex> lock(control_);
    closed_ = true;
    questions.swap(questions_);
    for (const QuestionPtr& q : questions) {
      if (q->timer.has_value()) device_.driver.Cancel(*std::exchange(q->timer, std::nullopt));
    }
    deferred.send_cq = queues_.send();
    deferred.recv_cq = queues_.receive();
    // Completions that the consumer has not taken stay, if they have arrived.
    deferred.send_cq->Drain(&deferred.send);
    deferred.recv_cq->Drain(&deferred.receive);
    DestroyHardware(&deferred);
    Detach();
  }
  for (const QuestionPtr& q : questions) q->cm.Drop();
  deferred.Run();
}

}  // namespace softdat::verbs
