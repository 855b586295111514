// SPDX-License-Identifier: BSD-3-Clause
// Knows which service points of this process listen on which port of this wire. Qualifiers that map
// to the same port share a listening socket, and each listener holds a duplicate of its descriptor.
#ifndef SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_PORTS_H_
#define SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_PORTS_H_

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

// Where a listener is: "" for every local address, otherwise the host; and the port.
using ShmPort = std::pair<std::string, uint16_t>;

class ShmPorts {
 public:
  // Those of the process.
  static ShmPorts& Get();
  // To be called in a forked child, where only this thread exists. The child starts with no ports,
  // because the service points are the parent's.
  static void AbandonAfterFork();

  // Listens, or joins the socket of another qualifier on the same port. *fd becomes the listener's
  // own descriptor. point->conn_qual changes only with `any`. kInUse, kNoFreeQualifier,
  // kNoResources.
  Status Join(const std::shared_ptr<ServicePoint>& point, const std::string& host, bool any,
              UniqueFd* fd, ShmPort* port);
  // To be called before the descriptor is closed.
  void Leave(const ShmPort& port, const std::shared_ptr<ServicePoint>& point);

  // Same as FindServicePoint.
  std::shared_ptr<ServicePoint> Find(const ShmPort& port, uint64_t conn_qual, bool whole);
  // The service point of this process on `conn_qual` that requests to the address `host` reach.
  std::shared_ptr<ServicePoint> FindForHandoff(const std::string& host, uint64_t conn_qual);

 private:
  struct Member {
    std::shared_ptr<ServicePoint> point;
    int fd = -1;  // the listener's; duplicated for the next listener
  };
  using Members = std::map<uint64_t, Member>;

  ShmPorts() = default;

  Status JoinAny(const std::shared_ptr<ServicePoint>& point, UniqueFd* fd, ShmPort* port);

  const pid_t process_ = getpid();
  const ShmPorts* inherited_ = nullptr;  // the parent's; kept so that leak checkers find it
  std::mutex mutex_;                     // guards the members below
  std::map<ShmPort, Members> ports_;
  uint32_t next_any_ = static_cast<uint32_t>(process_) * 16;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_PORTS_H_
