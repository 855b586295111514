// SPDX-License-Identifier: BSD-3-Clause
// For tests: a member whose sink keeps what it gets, and packets to send.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_PORT_NODE_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_PORT_NODE_H_

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "provider_softnet/driver/driver.h"
#include "provider_softnet/memory/memory_table.h"
#include "provider_softnet/roce/packet_batch.h"
#include "provider_softnet/udp/udp_port.h"

namespace softdat::softnet {

using Bytes = std::vector<uint8_t>;

// An address of this host that no other running test uses. Each test process has some, `n` says
// which.
sockaddr_storage LoopbackOfTest(uint8_t n = 0);
sockaddr_storage Loopback6();

// Each call gives a payload that differs from the others.
Bytes PayloadOf(size_t size, uint32_t seed);

// SEND Only packets for one queue pair, in memory of their own.
class TestPackets {
 public:
  // `pieces`: how many segments each payload has.
  void Add(uint32_t qpn, const Bytes& payload, size_t pieces = 1);
  const PacketBatch& batch() const { return batch_; }

 private:
  MemoryTable memory_;
  const uint32_t pd_ = memory_.NewProtectionDomainId();
  std::vector<std::unique_ptr<Bytes>> payloads_;
  uint32_t psn_ = 0;
  PacketBatch batch_;
};

struct Kept {
  sockaddr_storage source{};
  uint32_t qpn = 0;
  uint32_t psn = 0;
  Bytes payload;
  bool handed_on = false;
};

class PortNode final : private PacketSink {
 public:
  explicit PortNode(const sockaddr_storage& address, const UdpPortOptions& options = {});
  ~PortNode();

  UdpPort& port() { return *port_; }
  const UdpPort& port() const { return *port_; }
  void ClosePort() { port_.reset(); }
  Driver& driver() { return driver_; }
  uint32_t qpn() const { return port_->home_block() * kQpnsPerBlock + 5; }
  bool SendTo(PortNode& peer, const TestPackets& packets);

  // The node's own threads read meanwhile, and this thread polls. False when it takes too long.
  bool Until(const std::function<bool()>& done);
  bool UntilKept(size_t count);
  std::vector<Kept> kept() const;

  // What to do with a packet beside keeping it. To be set before packets come.
  std::function<void(const Arrival&)> on_packet;
  // The same for an offer.
  std::function<void(const MemberOffer&, std::vector<UniqueFd>)> on_offer;
  std::atomic<int> batches{0};
  std::atomic<int> writables{0};

 private:
  void OnPacket(const Arrival& arrival) override;
  void OnOffer(const MemberOffer& offer, std::vector<UniqueFd> descriptors) override {
    if (on_offer) on_offer(offer, std::move(descriptors));
  }
  void OnBatchEnd() override { batches.fetch_add(1); }
  void OnWritable() override { writables.fetch_add(1); }

  Driver driver_{DriverOptions{}};
  mutable std::mutex mutex_;  // protects kept_
  std::vector<Kept> kept_;
  std::unique_ptr<UdpPort> port_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_PORT_NODE_H_
