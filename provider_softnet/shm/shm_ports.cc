// SPDX-License-Identifier: BSD-3-Clause
// ShmPorts.
#include "provider_softnet/shm/shm_ports.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>

#include <atomic>

#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/fork_safe_once.h"
#include "provider_softnet/driver/descriptor_limit.h"
#include "provider_softnet/shm/hello.h"
#include "provider_softnet/shm/local_socket.h"

namespace softdat::softnet {
namespace {

constinit ForkSafeOnce g_once;
// Set by g_once, and in a forked child while it has one thread. Never destroyed, because listeners
// may exist at exit.
constinit std::atomic<ShmPorts*> g_ports{nullptr};

// 0 or an errno value.
int Open(const ShmPort& port, UniqueFd* fd) {
  *fd = OpenLocalSocket();
  if (!fd->valid()) return errno;
  return ListenAt(fd->get(), MeetingPlaceOf(geteuid(), port.first, port.second));
}

}  // namespace

ShmPorts& ShmPorts::Get() {
  g_once.Call([] { g_ports.store(new ShmPorts, std::memory_order_release); });
  return *g_ports.load(std::memory_order_acquire);
}

void ShmPorts::AbandonAfterFork() {
  const ShmPorts* inherited = g_ports.load(std::memory_order_acquire);
  // There is none, or another adapter of this process has replaced it.
  if (inherited == nullptr || inherited->process_ == getpid()) return;
  // A thread of the parent may have been inside the old one, so not even its state is read.
  auto* own = new ShmPorts;
  own->inherited_ = inherited;
  g_ports.store(own, std::memory_order_release);
}

// mutex_ must be held.
Status ShmPorts::JoinAny(const std::shared_ptr<ServicePoint>& point, UniqueFd* fd, ShmPort* port) {
  constexpr uint32_t kFirst = 32768;
  for (uint32_t i = 0; i < kFirst; ++i) {
    port->second = static_cast<uint16_t>(kFirst + next_any_++ % kFirst);
    const int error = Open(*port, fd);
    if (error == EADDRINUSE) continue;
    if (error != 0) {
      return Status(Code::kNoResources, fmt::format("cannot listen: {}", strerror(error)));
    }
    point->conn_qual = port->second;
    ports_[*port][point->conn_qual] = {point, fd->get()};
    return Status::Ok();
  }
  return Status(Code::kNoFreeQualifier, "no port is left to choose from");
}

Status ShmPorts::Join(const std::shared_ptr<ServicePoint>& point, const std::string& host, bool any,
                      UniqueFd* fd, ShmPort* port) {
  const std::lock_guard<std::mutex> lock(mutex_);
  *port = {host, any ? uint16_t{0} : PortOfQualifier(point->conn_qual)};
  if (any) return JoinAny(point, fd, port);
  if (const auto it = ports_.find(*port); it != ports_.end()) {
    Members& members = it->second;
    if (members.count(point->conn_qual) != 0) {
      return Status(Code::kInUse, fmt::format("qualifier {} has a service point in this process",
                                              point->conn_qual));
    }
    do {
      *fd = UniqueFd(fcntl(members.begin()->second.fd, F_DUPFD_CLOEXEC, 0));
    } while (!fd->valid() && errno == EMFILE && RaiseDescriptorLimit());
    if (!fd->valid()) {
      return Status(Code::kNoResources,
                    fmt::format("no descriptor for a listener: {}", strerror(errno)));
    }
    members[point->conn_qual] = {point, fd->get()};
    return Status::Ok();
  }
  const int error = Open(*port, fd);
  if (error == EADDRINUSE) {
    return Status(Code::kInUse, fmt::format("port {} is taken by another program", port->second));
  }
  if (error != 0) {
    return Status(Code::kNoResources,
                  fmt::format("cannot listen on port {}: {}", port->second, strerror(error)));
  }
  ports_[*port][point->conn_qual] = {point, fd->get()};
  return Status::Ok();
}

void ShmPorts::Leave(const ShmPort& port, const std::shared_ptr<ServicePoint>& point) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = ports_.find(port);
  if (it == ports_.end()) return;
  const auto member = it->second.find(point->conn_qual);
  if (member != it->second.end() && member->second.point == point) it->second.erase(member);
  if (it->second.empty()) ports_.erase(it);
}

std::shared_ptr<ServicePoint> ShmPorts::Find(const ShmPort& port, uint64_t conn_qual, bool whole) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = ports_.find(port);
  if (it == ports_.end()) return nullptr;
  if (const auto member = it->second.find(conn_qual); member != it->second.end()) {
    return member->second.point;
  }
  // The request may name another qualifier, or only the port. The responder decides.
  if (!whole && it->second.size() == 1) return it->second.begin()->second.point;
  return nullptr;
}

std::shared_ptr<ServicePoint> ShmPorts::FindForHandoff(const std::string& host,
                                                       uint64_t conn_qual) {
  for (const std::string& bound : {host, std::string()}) {
    if (auto point = Find({bound, PortOfQualifier(conn_qual)}, conn_qual, true)) return point;
  }
  return nullptr;
}

}  // namespace softdat::softnet
