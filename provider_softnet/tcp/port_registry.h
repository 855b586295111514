// SPDX-License-Identifier: BSD-3-Clause
// Which service points of this process listen on which port. Qualifiers that fold to one port share
// a listening socket (each listener holds a duplicate of its descriptor) and are told apart by the
// whole qualifier in the request, also across the adapters of a process.
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

// Where a listening socket is bound: "" for every local address, else the host.
using PortKey = std::pair<std::string, uint16_t>;

class PortRegistry {
 public:
  // Of the process.
  static PortRegistry& Get();
  // In a forked child: nothing is registered there, the service points are the parent's. Only this
  // thread exists.
  static void AbandonAfterFork();

  // Binds and listens, or joins the socket of another qualifier on the same port. *fd is the
  // listener's own descriptor; *conn_qual changes only with `any`. kInUse, kNoFreeQualifier,
  // kNoResources, kAddressUnsupported.
  Status Join(const std::shared_ptr<ServicePoint>& point, const sockaddr_storage* address, bool any,
              UniqueFd* fd, PortKey* key);
  // Before the descriptor is closed.
  void Leave(const PortKey& key, const std::shared_ptr<ServicePoint>& point);

  // The service point for a request that names `conn_qual`. `whole` says that the request carried
  // the whole qualifier; without it, a port that only one service point uses is enough.
  std::shared_ptr<ServicePoint> Find(const PortKey& key, uint64_t conn_qual, bool whole);
  // The service point of this process on `conn_qual` that requests to the address `host` reach;
  // null when there is none.
  std::shared_ptr<ServicePoint> FindForHandoff(const std::string& host, uint64_t conn_qual);

 private:
  struct Member {
    std::shared_ptr<ServicePoint> point;
    int fd = -1;  // the listener's, to be duplicated for the next one
  };
  using Members = std::map<uint64_t, Member>;

  PortRegistry() = default;

  const pid_t process_ = getpid();
  const PortRegistry* inherited_ = nullptr;  // the parent's; keeps leak checkers content
  std::mutex mutex_;                         // guards ports_
  std::map<PortKey, Members> ports_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_PORT_REGISTRY_H_
