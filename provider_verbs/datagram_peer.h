// SPDX-License-Identifier: BSD-3-Clause
// Where a peer's queue pair for datagrams is, and the way to it.
#ifndef SOFTDAT_PROVIDER_VERBS_DATAGRAM_PEER_H_
#define SOFTDAT_PROVIDER_VERBS_DATAGRAM_PEER_H_

#include <infiniband/verbs.h>
#include <sys/socket.h>

#include <cstdint>

#include "dat/transport/transport.h"
#include "provider_verbs/device.h"
#include "provider_verbs/memory.h"

namespace softdat::verbs {

// The Q_Key of every queue pair for datagrams, as in rdma_cm (RDMA_UDP_QKEY).
inline constexpr uint32_t kDatagramQkey = 0x01234567;

// The way over RoCEv2 from `local`, an address of the device's interface, to `remote`, of the same
// family. rdma_cm tells the way only to the side that asks. kUnreachable when the device does not
// know `local`.
Result<ibv_ah_attr> WayTo(const Device& device, const sockaddr_storage& local,
                          const sockaddr_storage& remote);

// What is told of the queue pair `number` at `address`, which `way` leads to.
Result<transport::DatagramPeer> MakeDatagramPeer(const ProtectionDomain& pd, ibv_ah_attr way,
                                                 uint32_t number, uint32_t qkey,
                                                 const sockaddr_storage& address);

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_DATAGRAM_PEER_H_
