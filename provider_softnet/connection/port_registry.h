// SPDX-License-Identifier: BSD-3-Clause
// Knows which service points of this process listen on which port of a wire. Qualifiers that map to
// the same port share a listening socket, and each listener holds a duplicate of its descriptor.
// The whole qualifier in a request tells them apart, also across the adapters of a process.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_PORT_REGISTRY_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_PORT_REGISTRY_H_

#include <sys/socket.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "dat/transport/transport.h"
#include "provider_softnet/connection/service_point.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

// Where a listening socket is bound: "" for every local address, otherwise the host. And its port.
using PortKey = std::pair<std::string, uint16_t>;

// A wire has one for the process (dat/base/process_wide.h).
class PortRegistry {
 public:
  // Binds and listens. Port 0: chooses a free one and stores it.
  using Open = std::function<Result<UniqueFd>(uint16_t* port)>;

  // Opens a socket, or joins that of another qualifier on the same port. key->second is an output
  // only. *fd becomes the listener's own descriptor. point->conn_qual changes only with `any`.
  // kInUse, kNoFreeQualifier, kNoResources, and the codes of `open`.
  Status Join(const std::shared_ptr<ServicePoint>& point, bool any, const Open& open, UniqueFd* fd,
              PortKey* key);
  // To be called before the descriptor is closed.
  void Leave(const PortKey& key, const std::shared_ptr<ServicePoint>& point);

  // Same as FindServicePoint.
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

  std::mutex mutex_;  // guards ports_
  std::map<PortKey, Members> ports_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_PORT_REGISTRY_H_
