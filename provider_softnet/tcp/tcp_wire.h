// SPDX-License-Identifier: BSD-3-Clause
// The wire softnet-<dev>: iWARP over TCP.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_WIRE_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_WIRE_H_

#include <memory>

#include "provider_softnet/objects/wire.h"
#include "provider_softnet/tcp/tcp_options.h"

namespace softdat::softnet {

std::unique_ptr<Wire> MakeTcpWire(const TcpOptions& options);
std::unique_ptr<Wire> MakeTcpWireFromSettings();

inline constexpr WireKind kTcpWire{"softnet-", MakeTcpWireFromSettings};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_WIRE_H_
