// SPDX-License-Identifier: BSD-3-Clause
// PortRegistry.
#include "provider_softnet/connection/port_registry.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>

#include "dat/backend_kit/qualifier_port.h"
#include "provider_softnet/driver/descriptor_limit.h"

namespace softdat::softnet {

Status PortRegistry::Join(const std::shared_ptr<ServicePoint>& point, bool any, const Open& open,
                          UniqueFd* fd, PortKey* key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  key->second = any ? uint16_t{0} : PortOfQualifier(point->conn_qual);
  if (const auto it = ports_.find(*key); !any && it != ports_.end()) {
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
  Result<UniqueFd> socket = open(&key->second);
  if (!socket.ok()) {
    if (any && socket.status().code() == Code::kInUse) {
      return Status(Code::kNoFreeQualifier, "no port is left to choose from");
    }
    return socket.TakeStatus();
  }
  *fd = socket.Take();
  if (any) point->conn_qual = key->second;
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
