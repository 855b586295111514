// SPDX-License-Identifier: BSD-3-Clause
// The softnet back end: RDMA in user space on any network interface, over the wires that it is
// given.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ADAPTER_BACKEND_H_
#define SOFTDAT_PROVIDER_SOFTNET_ADAPTER_BACKEND_H_

#include <memory>
#include <span>

#include "dat/transport/transport.h"
#include "provider_softnet/objects/wire.h"

namespace softdat::softnet {

// The wires of libdaplsoftnet.so.2.
std::span<const WireKind> AllWires();

// An IA's name is the prefix of a wire and the name of an interface. The longest prefix that fits
// decides. Open() takes the IA's name, or just the interface's for the first wire. A slash and an
// address may follow (FindInterface). `wires` lives as long as the process.
std::unique_ptr<transport::Backend> MakeBackend(std::span<const WireKind> wires = AllWires());

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ADAPTER_BACKEND_H_
