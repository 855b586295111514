// SPDX-License-Identifier: BSD-3-Clause
// Where the wires of the contract suite are chosen.
#include "provider_softnet/adapter/test_wires.h"

#include "provider_softnet/ring/ring_wire.h"
#include "provider_softnet/shm/shm_wire.h"
#include "provider_softnet/tcp/tcp_wire.h"
#include "provider_softnet/udp_wire/udp_wire.h"

namespace softdat::softnet {

std::span<const WireKind> TestWires() {
  static constexpr WireKind kWires[] = {
      kTcpWire,
      kUdpWire,
      kShmWire,
      kRingWire,
  };
  return kWires;
}

}  // namespace softdat::softnet
