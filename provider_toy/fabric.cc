// SPDX-License-Identifier: BSD-3-Clause
// Fabric: device addresses, the listener table, completions and their upcalls.
#include "provider_toy/fabric.h"

#include <netinet/in.h>

#include <cstring>
#include <string>

namespace softdat::toy {
namespace {

Fabric* instance = nullptr;
std::once_flag instance_made;

}  // namespace

sockaddr_storage AddressOf(uint32_t device, int family) {
  sockaddr_storage storage{};
  if (family == AF_INET6) {
    sockaddr_in6 in6{};
    in6.sin6_family = AF_INET6;
    in6.sin6_addr.s6_addr[15] = static_cast<uint8_t>(device + 1);
    std::memcpy(&storage, &in6, sizeof in6);
  } else {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK + device);
    std::memcpy(&storage, &in, sizeof in);
  }
  return storage;
}

Code DeviceOf(const sockaddr_storage& address, uint32_t* device) {
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) {
    return Code::kAddressUnsupported;
  }
  for (*device = 0; *device < kDeviceCount; ++*device) {
    const sockaddr_storage own = AddressOf(*device, address.ss_family);
    sockaddr_in a{}, b{};
    sockaddr_in6 a6{}, b6{};
    std::memcpy(&a, &address, sizeof a);
    std::memcpy(&b, &own, sizeof b);
    std::memcpy(&a6, &address, sizeof a6);
    std::memcpy(&b6, &own, sizeof b6);
    const bool same = address.ss_family == AF_INET
                          ? a.sin_addr.s_addr == b.sin_addr.s_addr
                          : std::memcmp(&a6.sin6_addr, &b6.sin6_addr, sizeof a6.sin6_addr) == 0;
    if (same) return Code::kOk;
  }
  return Code::kUnreachable;
}

Fabric& Fabric::Instance() {
  // The fabric is never destroyed, because a thread may still be inside when the process exits.
  std::call_once(instance_made, [] { instance = new Fabric; });
  return *instance;
}

void Fabric::AbandonAfterFork() {
  if (abandoned_) return;
  abandoned_ = true;
  instance = new Fabric;
}

void Fabric::Complete(const std::shared_ptr<CompletionQueueState>& queue,
                      const transport::Completion& completion) {
  if (!queue) return;
  if (queue->ring.full()) {
    queue->report_overflow |= !queue->overflowing;
    queue->overflowing = true;
    if (queue->report_overflow) List(queue);
    return;
  }
  queue->ring.Push(completion);
  const bool failed = completion.status != transport::WorkStatus::kSuccess;
  const bool matches =
      failed || (queue->solicited_only ? completion.solicited : !completion.quiet());
  if (!queue->armed || !matches) return;
  queue->armed = false;
  queue->notify = true;
  List(queue);
}

void Fabric::List(const std::shared_ptr<CompletionQueueState>& queue) {
  if (queue->listed) return;
  queue->listed = true;
  queue->next = std::exchange(first_due_, queue);
}

void Fabric::UnlockAndNotify() {
  // Makes only the upcalls of this lock. The next holder of the lock may hold another lock, which
  // the sinks of other queues need.
  std::shared_ptr<CompletionQueueState> due = std::move(first_due_);
  while (due) {
    const std::shared_ptr<CompletionQueueState> queue = std::move(due);
    due = std::move(queue->next);
    queue->listed = false;
    const bool notify = std::exchange(queue->notify, false);
    const bool overflow = std::exchange(queue->report_overflow, false);
    mutex_.unlock();
    {
      const UpcallGate::Pass pass(*queue->gate);
      if (pass.open() && overflow) queue->sink->OnOverflow();
      if (pass.open() && notify) queue->sink->OnCompletion();
    }
    mutex_.lock();
  }
  mutex_.unlock();
}

Status Fabric::AddListener(uint32_t device, uint64_t conn_qual, Listener* listener) {
  if (listeners_.emplace(std::make_pair(device, conn_qual), listener).second) return Status::Ok();
  return Status(Code::kInUse, "toy-" + std::to_string(device) + ": connection qualifier " +
                                  std::to_string(conn_qual) + " has a listener");
}

uint64_t Fabric::FreeQualifier(uint32_t device) const {
  for (uint64_t qualifier = 49152; qualifier <= 65535; ++qualifier) {
    if (!listeners_.contains({device, qualifier})) return qualifier;
  }
  return 0;
}

void Fabric::RemoveListener(uint32_t device, uint64_t conn_qual) {
  listeners_.erase({device, conn_qual});
}

Listener* Fabric::FindListener(uint32_t device, uint64_t conn_qual) const {
  const auto found = listeners_.find({device, conn_qual});
  return found == listeners_.end() ? nullptr : found->second;
}

DatagramPair* Fabric::FindDatagramPair(uint32_t number) const {
  const auto found = datagram_pairs_.find(number);
  return found == datagram_pairs_.end() ? nullptr : found->second;
}

}  // namespace softdat::toy
