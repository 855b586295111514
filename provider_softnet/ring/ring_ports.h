// SPDX-License-Identifier: BSD-3-Clause
// Knows who listens on which port of this wire, in this process.
#ifndef SOFTDAT_PROVIDER_SOFTNET_RING_RING_PORTS_H_
#define SOFTDAT_PROVIDER_SOFTNET_RING_RING_PORTS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "provider_softnet/connection/service_point.h"
#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/ring/ring_cable.h"

namespace softdat::softnet {

// Connections that wait for a listener to take them.
class RingBacklog {
 public:
  RingBacklog();
  bool valid() const { return doorbell_.valid(); }
  int doorbell() const { return doorbell_.get(); }
  // Returns false when the backlog is full.
  bool Add(std::shared_ptr<RingCable> cable);
  // Returns null and silences the doorbell when there is no connection.
  std::shared_ptr<RingCable> Take();

 private:
  static constexpr size_t kMost = 4096;

  const UniqueFd doorbell_;
  std::mutex mutex_;  // protects waiting_
  std::deque<std::shared_ptr<RingCable>> waiting_;
};

class RingPorts {
 public:
  static RingPorts& Get();

  // Same as PortRegistry::Join of TCP. *port becomes the port of the listener.
  Status Join(const std::shared_ptr<ServicePoint>& point, bool any,
              const std::shared_ptr<RingBacklog>& backlog, uint16_t* port);
  void Leave(uint16_t port, uint64_t conn_qual);
  std::shared_ptr<ServicePoint> Find(uint16_t port, uint64_t conn_qual, bool whole);
  // Gives the connection to any listener of the port. Returns 0 or an errno value.
  int Offer(uint16_t port, std::shared_ptr<RingCable> cable);
  // Finds a port without a listener, for the active end.
  uint16_t FreePort();

 private:
  struct Member {
    std::shared_ptr<ServicePoint> point;
    std::shared_ptr<RingBacklog> backlog;
  };
  using Members = std::map<uint64_t, Member>;

  uint16_t NextFree();

  std::mutex mutex_;  // protects the members below
  std::map<uint16_t, Members> ports_;
  uint16_t last_ = 32768;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_RING_RING_PORTS_H_
