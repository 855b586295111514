// SPDX-License-Identifier: BSD-3-Clause
// Adapter: checks requests for objects against the attributes and makes the objects.
#include "provider_toy/adapter.h"

#include <string>
#include <utility>

#include "provider_toy/completion_queue.h"
#include "provider_toy/datagram_pair.h"
#include "provider_toy/listener.h"
#include "provider_toy/queue_pair.h"
#include "provider_toy/registered_memory.h"

namespace softdat::toy {
namespace {

transport::AdapterAttributes MakeAttributes(uint32_t device) {
  transport::AdapterAttributes a;
  a.device_name = "toy" + std::to_string(device);
  a.vendor = "SoftDAT toy";
  a.address = AddressOf(device, AF_INET);
  a.max_qps = 4096;
  a.max_qp_work = 65536;
  a.max_iov = kMaxIov;
  a.max_read_in = a.max_read_out = 128;
  a.max_cqs = 8192;
  a.max_cq_depth = 1 << 20;
  a.max_pds = 4096;
  a.max_regions = a.max_windows = 65536;
  a.max_srqs = 1024;
  a.max_srq_depth = 65536;
  a.max_message = kMaxMessage;
  a.max_private_data = kMaxPrivateData;
  a.mtu = 4096;
  a.receive_watermarks = true;
  a.windows = a.zero_based = a.immediate = a.atomics = a.invalidate = a.srq = true;
  a.datagrams = true;
  a.max_datagram = kMaxDatagram;
  if (device == kPlainDevice) {
    a.immediate = a.atomics = a.datagrams = false;
    a.max_datagram = 0;
  }
  a.confirms_writes = a.confirmed_completions = true;  // a write completes when it is done
  return a;
}

Status TooLarge(const char* what, uint64_t asked, uint64_t limit) {
  return Status(Code::kNoResources, std::string(what) + " of " + std::to_string(asked) +
                                        " asked for, the limit is " + std::to_string(limit));
}

}  // namespace

Adapter::Adapter(Fabric& fabric, uint32_t device)
    : fabric_(fabric),
      device_(device),
      attributes_(MakeAttributes(device)),
      domains_("protection domains", attributes_.max_pds),
      regions_("memory regions", attributes_.max_regions),
      windows_("memory windows", attributes_.max_windows),
      queues_("completion queues", attributes_.max_cqs),
      queue_pairs_("queue pairs", attributes_.max_qps),
      shared_queues_("shared receive queues", attributes_.max_srqs) {}

Result<std::unique_ptr<transport::ProtectionDomain>> Adapter::CreateProtectionDomain() {
  Result<Quota::Slot> slot = domains_.Take();
  if (!slot.ok()) return slot.TakeStatus();
  return std::unique_ptr<transport::ProtectionDomain>(
      std::make_unique<ProtectionDomain>(slot.Take()));
}

Result<std::unique_ptr<transport::MemoryRegion>> Adapter::RegisterMemory(
    transport::ProtectionDomain& pd, const transport::RegionParameters& p) {
  if (p.length == 0) return Status(Code::kLength, "a region of no bytes");
  if (p.length - 1 > UINTPTR_MAX - reinterpret_cast<uintptr_t>(p.address)) {
    return Status(Code::kInvalidArgument, "the region goes past the end of the address space");
  }
  Result<Quota::Slot> slot = regions_.Take();
  if (!slot.ok()) return slot.TakeStatus();
  const Fabric::Lock lock(fabric_);
  return std::unique_ptr<transport::MemoryRegion>(
      std::make_unique<MemoryRegion>(fabric_, slot.Take(), fabric_.keys().Register(this, pd, p)));
}

Result<std::unique_ptr<transport::MemoryWindow>> Adapter::CreateWindow(
    transport::ProtectionDomain& pd, bool exclusive_to_qp) {
  Result<Quota::Slot> slot = windows_.Take();
  if (!slot.ok()) return slot.TakeStatus();
  const Fabric::Lock lock(fabric_);
  return std::unique_ptr<transport::MemoryWindow>(std::make_unique<MemoryWindow>(
      fabric_, slot.Take(), fabric_.keys().CreateWindow(pd, exclusive_to_qp)));
}

Result<std::unique_ptr<transport::CompletionQueue>> Adapter::CreateCompletionQueue(
    uint32_t capacity, transport::CompletionSink* sink) {
  if (capacity == 0 || sink == nullptr) {
    return Status(Code::kInvalidArgument, "a completion queue needs a size and a sink");
  }
  if (capacity > attributes_.max_cq_depth) {
    return TooLarge("a completion queue", capacity, attributes_.max_cq_depth);
  }
  Result<Quota::Slot> slot = queues_.Take();
  if (!slot.ok()) return slot.TakeStatus();
  return std::unique_ptr<transport::CompletionQueue>(
      std::make_unique<CompletionQueue>(fabric_, slot.Take(), capacity, sink));
}

Result<std::unique_ptr<transport::QueuePair>> Adapter::CreateQueuePair(
    const transport::QueuePairAttributes& a) {
  for (const uint32_t depth : {a.max_send, a.max_recv}) {
    if (depth > attributes_.max_qp_work) {
      return TooLarge("a work queue", depth, attributes_.max_qp_work);
    }
  }
  for (const uint32_t segments : {a.max_send_iov, a.max_recv_iov}) {
    if (segments > kMaxIov) return TooLarge("a segment list", segments, kMaxIov);
  }
  const bool datagrams = a.service == transport::Service::kDatagram;
  if (datagrams && !attributes_.datagrams) return transport::QueuePair::NoDatagrams();
  Result<Quota::Slot> slot = queue_pairs_.Take();
  if (!slot.ok()) return slot.TakeStatus();
  const Fabric::Lock lock(fabric_);
  if (datagrams) {
    return std::unique_ptr<transport::QueuePair>(
        std::make_unique<DatagramPair>(fabric_, dispatcher_, device_, slot.Take(), a));
  }
  return std::unique_ptr<transport::QueuePair>(
      std::make_unique<QueuePair>(fabric_, dispatcher_, device_, slot.Take(), a));
}

Result<std::unique_ptr<transport::SharedReceiveQueue>> Adapter::CreateSharedReceiveQueue(
    transport::ProtectionDomain& pd, uint32_t capacity, uint32_t max_iov,
    transport::SharedReceiveSink* sink) {
  if (capacity > attributes_.max_srq_depth) {
    return TooLarge("a shared receive queue", capacity, attributes_.max_srq_depth);
  }
  if (max_iov > kMaxIov) return TooLarge("a segment list", max_iov, kMaxIov);
  Result<Quota::Slot> slot = shared_queues_.Take();
  if (!slot.ok()) return slot.TakeStatus();
  return std::unique_ptr<transport::SharedReceiveQueue>(std::make_unique<SharedReceiveQueue>(
      fabric_, dispatcher_, slot.Take(), &pd, capacity, max_iov, sink));
}

Result<std::unique_ptr<transport::Listener>> Adapter::Listen(const transport::ListenParameters& p) {
  return Listener::Create(fabric_, dispatcher_, device_, p);
}

Code Adapter::CheckSegments(std::span<const DAT_LMR_TRIPLET> segments) {
  const Fabric::Lock lock(fabric_);
  return fabric_.keys().CheckSegments(segments, this);
}

transport::ProgressResult Adapter::Progress(transport::Waiter* waiter,
                                            transport::Clock::time_point deadline) {
  // Data moves when it is posted, so only upcalls are left to make.
  if (dispatcher_.RunPending()) return transport::ProgressResult::kWorked;
  if (waiter == nullptr) return transport::ProgressResult::kIdle;
  switch (waiter->Park(deadline)) {
    case transport::Waiter::ParkResult::kSignalled:
      return transport::ProgressResult::kSignalled;
    case transport::Waiter::ParkResult::kTimedOut:
      return transport::ProgressResult::kTimedOut;
    default:
      return transport::ProgressResult::kInterrupted;
  }
}

void Adapter::AbandonAfterFork() {
  fabric_.AbandonAfterFork();
  dispatcher_.AbandonAfterFork();
}

}  // namespace softdat::toy
