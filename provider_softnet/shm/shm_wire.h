// SPDX-License-Identifier: BSD-3-Clause
// The wire softnet-shm-<dev>: iWARP's stream over memory that two processes of one host share.
#ifndef SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_WIRE_H_
#define SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_WIRE_H_

#include <memory>

#include "provider_softnet/objects/wire.h"

namespace softdat::softnet {

std::unique_ptr<Wire> MakeShmWire();

inline constexpr WireKind kShmWire{"softnet-shm-", MakeShmWire};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_WIRE_H_
