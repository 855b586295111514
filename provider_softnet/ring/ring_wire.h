// SPDX-License-Identifier: BSD-3-Clause
// The wire ring-<dev>, which only tests have: iWARP's stream over rings in memory, within one
// process. It shows that a folder is enough for a new wire, and which parts of softnet know TCP.
#ifndef SOFTDAT_PROVIDER_SOFTNET_RING_RING_WIRE_H_
#define SOFTDAT_PROVIDER_SOFTNET_RING_RING_WIRE_H_

#include <memory>

#include "provider_softnet/objects/wire.h"

namespace softdat::softnet {

std::unique_ptr<Wire> MakeRingWire();

inline constexpr WireKind kRingWire{"ring-", MakeRingWire};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_RING_RING_WIRE_H_
