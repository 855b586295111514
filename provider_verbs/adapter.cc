// SPDX-License-Identifier: BSD-3-Clause
// Adapter: makes the objects of an IA.
#include "provider_verbs/adapter.h"

#include "provider_verbs/completion_queue.h"
#include "provider_verbs/datagram_pair.h"
#include "provider_verbs/listener.h"
#include "provider_verbs/memory.h"
#include "provider_verbs/queue_pair.h"
#include "provider_verbs/shared_receive_queue.h"

namespace softdat::verbs {

Adapter::~Adapter() {
  if (device_->abandoned) return;
  device_->driver.Stop();
  device_->reaper.Join();
}

Result<std::unique_ptr<transport::ProtectionDomain>> Adapter::CreateProtectionDomain() {
  return ProtectionDomain::Create(*device_);
}

Result<std::unique_ptr<transport::MemoryRegion>> Adapter::RegisterMemory(
    transport::ProtectionDomain& pd, const transport::RegionParameters& p) {
  return MemoryRegion::Create(*device_, static_cast<ProtectionDomain&>(pd), p);
}

Result<std::unique_ptr<transport::MemoryWindow>> Adapter::CreateWindow(
    transport::ProtectionDomain& pd, bool) {
  return MemoryWindow::Create(*device_, static_cast<ProtectionDomain&>(pd));
}

Result<std::unique_ptr<transport::CompletionQueue>> Adapter::CreateCompletionQueue(
    uint32_t capacity, transport::CompletionSink* sink) {
  auto core = CqCore::Create(*device_, capacity, sink);
  if (!core.ok()) return core.TakeStatus();
  return std::unique_ptr<transport::CompletionQueue>(new CompletionQueue(core.Take()));
}

Result<std::unique_ptr<transport::QueuePair>> Adapter::CreateQueuePair(
    const transport::QueuePairAttributes& a) {
  if (a.service == transport::Service::kDatagram) {
    if (!device_->traits.datagrams) return transport::QueuePair::NoDatagrams();
    auto core = DatagramCore::Create(*device_, a);
    if (!core.ok()) return core.TakeStatus();
    return std::unique_ptr<transport::QueuePair>(new DatagramPair(core.Take()));
  }
  auto core = QpCore::Create(*device_, a);
  if (!core.ok()) return core.TakeStatus();
  return std::unique_ptr<transport::QueuePair>(new QueuePair(core.Take()));
}

Result<std::unique_ptr<transport::SharedReceiveQueue>> Adapter::CreateSharedReceiveQueue(
    transport::ProtectionDomain& pd, uint32_t capacity, uint32_t max_iov,
    transport::SharedReceiveSink* sink) {
  auto core = SrqCore::Create(*device_, static_cast<ProtectionDomain&>(pd).hardware(), &pd,
                              capacity, max_iov, sink);
  if (!core.ok()) return core.TakeStatus();
  return std::unique_ptr<transport::SharedReceiveQueue>(new SharedReceiveQueue(core.Take()));
}

Result<std::unique_ptr<transport::Listener>> Adapter::Listen(const transport::ListenParameters& p) {
  return Listener::Create(*device_, p);
}

Code Adapter::CheckSegments(std::span<const DAT_LMR_TRIPLET> segments) {
  for (const DAT_LMR_TRIPLET& segment : segments) {
    if (segment.segment_length == 0) continue;
    bool zero_based = false;
    const Code code = device_->regions.Check(segment, nullptr, false, &zero_based);
    if (code != Code::kOk) return code;
  }
  return Code::kOk;
}

void Adapter::AbandonAfterFork() {
  device_->abandoned = true;
  device_->cm->AbandonAfterFork();
  device_->driver.AbandonAfterFork();
  device_->reaper.AbandonAfterFork();
}

}  // namespace softdat::verbs
