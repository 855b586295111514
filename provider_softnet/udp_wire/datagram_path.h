// SPDX-License-Identifier: BSD-3-Clause
// The way of datagrams to a peer's address.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_DATAGRAM_PATH_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_DATAGRAM_PATH_H_

#include <memory>
#include <utility>

#include "dat/transport/transport.h"
#include "provider_softnet/udp/destination.h"
#include "provider_softnet/udp_wire/roce_plane.h"

namespace softdat::softnet {

// The Q_Key of every queue pair for datagrams, as in rdma_cm.
inline constexpr uint32_t kDatagramQkey = 0x01234567;

struct DatagramPath {
  std::shared_ptr<RocePlane> plane;
  Destination to;
};

// The engine's handle. A datagram that has to wait may outlive it.
class DatagramWay final : public transport::AddressHandle {
 public:
  explicit DatagramWay(std::shared_ptr<const DatagramPath> path) : path_(std::move(path)) {}
  const std::shared_ptr<const DatagramPath>& path() const { return path_; }

 private:
  const std::shared_ptr<const DatagramPath> path_;
};

// What is told of the queue pair `number` at `address`, which the plane reaches.
inline transport::DatagramPeer MakeDatagramPeer(const std::shared_ptr<RocePlane>& plane,
                                                const sockaddr_storage& address, uint32_t number,
                                                uint32_t qkey) {
  transport::DatagramPeer peer;
  peer.handle = std::make_unique<DatagramWay>(
      std::make_shared<const DatagramPath>(DatagramPath{plane, plane->DestinationOf(address)}));
  peer.number = number;
  peer.qkey = qkey;
  peer.address = address;
  return peer;
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_DATAGRAM_PATH_H_
