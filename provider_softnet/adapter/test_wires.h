// SPDX-License-Identifier: BSD-3-Clause
// The wires of the contract suite: those of the library, and those that only tests have.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ADAPTER_TEST_WIRES_H_
#define SOFTDAT_PROVIDER_SOFTNET_ADAPTER_TEST_WIRES_H_

#include <span>

#include "provider_softnet/objects/wire.h"

namespace softdat::softnet {

std::span<const WireKind> TestWires();

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ADAPTER_TEST_WIRES_H_
