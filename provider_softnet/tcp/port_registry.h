// SPDX-License-Identifier: BSD-3-Clause
// Knows which service points of this process listen on which port. Qualifiers that map to the same
// port share a listening socket, and each listener holds a duplicate of its descriptor. The whole
// qualifier in a request tells them apart, also across the adapters of a process.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_PORT_REGISTRY_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_PORT_REGISTRY_H_

#include <sys/types.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "dat/transport/transport.h"
#include "provider_softnet/connection/service_point.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

// Where a listening socket is bound: "" for every local address, otherwise the host.
using PortKey = std::pair<std::string, uint16_t>;

class PortRegistry {
 public:
  // The registry of the process.
  static PortRegistry& Get();
  // To be called in a forked child, where only this thread exists. The child starts with an empty
  // registry, because the service points are the parent's.
  static void AbandonAfterFork();

  // Binds and listens, or joins the socket of another qualifier on the same port. *fd becomes the
  // listener's own descriptor. point->conn_qual changes only with `any`. kInUse, kNoFreeQualifier,
  // kNoResources, kAddressUnsupported.
  Status Join(const std::shared_ptr<ServicePoint>& point, const sockaddr_storage* address, bool any,
              UniqueFd* fd, PortKey* key);
  // To be called before the descriptor is closed.
  void Leave(const PortKey& key, const std::shared_ptr<ServicePoint>& point);

  // The service point for a request that names `conn_qual`. `whole` says that the request carried
  // the whole qualifier. Without it, a port is enough if only one service point uses that port.
  std::shared_ptr<ServicePoint> Find(const PortKey& key, uint64_t conn_qual, bool whole);
  // The service point of this process on `conn_qual` that requests to the address `host` reach.
  // Null when there is none.
  std::shared_ptr<ServicePoint> FindForHandoff(const std::string& host, uint64_t conn_qual);

 private:
  struct Member {
    std::shared_ptr<ServicePoint> point;
    int fd = -1;  // the listener's; duplicated for the next listener
  };
  using Members = std::map<uint64_t, Member>;

  PortRegistry() = default;

  const pid_t process_ = getpid();
  const PortRegistry* inherited_ = nullptr;  // the parent's; kept so that leak checkers find it
  std::mutex mutex_;                         // guards ports_
  std::map<PortKey, Members> ports_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_PORT_REGISTRY_H_
