// SPDX-License-Identifier: BSD-3-Clause
// The choice of softnet's wires.
#include "provider_softnet/adapter/backend.h"
#include "provider_softnet/shm/shm_wire.h"
#include "provider_softnet/tcp/tcp_wire.h"
#include "provider_softnet/udp_wire/udp_wire.h"

namespace softdat::softnet {

std::span<const WireKind> AllWires() {
  static constexpr WireKind kWires[] = {
      kTcpWire,
      kUdpWire,
      kShmWire,
  };
  return kWires;
}

}  // namespace softdat::softnet
