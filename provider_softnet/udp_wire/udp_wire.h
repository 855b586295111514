// SPDX-License-Identifier: BSD-3-Clause
// The wire softnet-udp-<dev>: RoCEv2.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_UDP_WIRE_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_UDP_WIRE_H_

#include <memory>

#include "provider_softnet/objects/wire.h"
#include "provider_softnet/udp_wire/roce_options.h"

namespace softdat::softnet {

std::unique_ptr<Wire> MakeUdpWire(const RoceOptions& options);
std::unique_ptr<Wire> MakeUdpWireFromSettings();

inline constexpr WireKind kUdpWire{"softnet-udp-", MakeUdpWireFromSettings};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_UDP_WIRE_H_
