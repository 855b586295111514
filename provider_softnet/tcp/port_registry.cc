// SPDX-License-Identifier: BSD-3-Clause
// PortRegistry.
#include "provider_softnet/tcp/port_registry.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <atomic>

#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/fork_safe_once.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/driver/descriptor_limit.h"
#include "provider_softnet/tcp/socket_util.h"

namespace softdat::softnet {
namespace {

constexpr int kBacklog = 4096;

Status BindFailure(int error, uint64_t conn_qual, uint16_t port) {
  const std::string what = conn_qual > 65535
                               ? fmt::format("port {} (qualifier {} folded)", port, conn_qual)
                               : fmt::format("port {}", port);
  switch (error) {
    case EADDRINUSE:
      return Status(Code::kInUse, fmt::format("{} is taken by another program", what));
    case EADDRNOTAVAIL:
      return Status(Code::kAddressUnsupported, "the address to listen on is not one of this host");
    case EACCES:
      return Status(Code::kNoResources, fmt::format("{} needs privileges", what));
    default:
      return Status(Code::kNoResources,
                    fmt::format("cannot listen on {}: {}", what, strerror(error)));
  }
}

// The address that stands for every local address. One socket serves both families if the host has
// IPv6.
sockaddr_storage AnyAddress(int family) {
  sockaddr_storage a{};
  a.ss_family = static_cast<sa_family_t>(family);
  return a;  // INADDR_ANY and in6addr_any are zeros
}

Result<UniqueFd> ListenOn(const sockaddr_storage& address, bool both, uint64_t conn_qual,
                          uint16_t port) {
  Result<UniqueFd> fd = OpenTcp(address.ss_family);
  if (!fd.ok()) return fd;
  const int on = 1, v6_only = both ? 0 : 1;
  setsockopt(fd.value().get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.ss_family == AF_INET6) {
    setsockopt(fd.value().get(), IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof(v6_only));
  }
  sockaddr_storage a = address;
  SetSocketPort(port, &a);
  if (bind(fd.value().get(), reinterpret_cast<const sockaddr*>(&a), AddressSize(a)) != 0 ||
      listen(fd.value().get(), kBacklog) != 0) {
    return BindFailure(errno, conn_qual, port);
  }
  return fd;
}

constinit ForkSafeOnce g_once;
// Set by g_once, and in a forked child while it has one thread. Never destroyed, because listeners
// may exist at exit.
constinit std::atomic<PortRegistry*> g_registry{nullptr};

}  // namespace

PortRegistry& PortRegistry::Get() {
  g_once.Call([] { g_registry.store(new PortRegistry, std::memory_order_release); });
  return *g_registry.load(std::memory_order_acquire);
}

void PortRegistry::AbandonAfterFork() {
  const PortRegistry* inherited = g_registry.load(std::memory_order_acquire);
  // There is none, or another adapter of this process has replaced it.
  if (inherited == nullptr || inherited->process_ == getpid()) return;
  // A thread of the parent may have been inside the old registry, so not even its state is read.
  auto* own = new PortRegistry;
  own->inherited_ = inherited;
  g_registry.store(own, std::memory_order_release);
}

Status PortRegistry::Join(const std::shared_ptr<ServicePoint>& point,
                          const sockaddr_storage* address, bool any, UniqueFd* fd, PortKey* key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  *key = {address == nullptr ? "" : HostText(*address),
          any ? uint16_t{0} : PortOfQualifier(point->conn_qual)};
  if (!any) {
    Members& members = ports_[*key];
    if (members.count(point->conn_qual) != 0) {
      return Status(Code::kInUse, fmt::format("qualifier {} has a service point in this process",
                                              point->conn_qual));
    }
    if (!members.empty()) {
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
    ports_.erase(*key);
  }
  Result<UniqueFd> socket =
      address != nullptr ? ListenOn(*address, false, point->conn_qual, key->second)
                         : ListenOn(AnyAddress(AF_INET6), true, point->conn_qual, key->second);
  if (!socket.ok() && address == nullptr && socket.status().code() == Code::kAddressUnsupported) {
    socket = ListenOn(AnyAddress(AF_INET), false, point->conn_qual, key->second);  // no IPv6 here
  }
  if (!socket.ok()) {
    if (any && socket.status().code() == Code::kInUse) {
      return Status(Code::kNoFreeQualifier, "no port is left to choose from");
    }
    return socket.TakeStatus();
  }
  *fd = socket.Take();
  if (any) {
    key->second = SocketPort(LocalAddressOf(fd->get()));
    point->conn_qual = key->second;
  }
  ports_[*key][point->conn_qual] = {point, fd->get()};
  return Status::Ok();
}

void PortRegistry::Leave(const PortKey& key, const std::shared_ptr<ServicePoint>& point) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = ports_.find(key);
  if (it == ports_.end()) return;
  const auto member = it->second.find(point->conn_qual);
  if (member != it->second.end() && member->second.point == point) it->second.erase(member);
  if (it->second.empty()) ports_.erase(it);
}

std::shared_ptr<ServicePoint> PortRegistry::Find(const PortKey& key, uint64_t conn_qual,
                                                 bool whole) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = ports_.find(key);
  if (it == ports_.end()) return nullptr;
  if (const auto member = it->second.find(conn_qual); member != it->second.end()) {
    return member->second.point;
  }
  // The request may name another qualifier, or (from a foreign peer) only the port. The responder
  // decides.
  if (!whole && it->second.size() == 1) return it->second.begin()->second.point;
  return nullptr;
}

std::shared_ptr<ServicePoint> PortRegistry::FindForHandoff(const std::string& host,
                                                           uint64_t conn_qual) {
  for (const std::string& bound : {host, std::string()}) {
    if (auto point = Find({bound, PortOfQualifier(conn_qual)}, conn_qual, true)) return point;
  }
  return nullptr;
}

}  // namespace softdat::softnet
