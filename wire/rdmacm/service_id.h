// SPDX-License-Identifier: BSD-3-Clause
// Service ids of rdma_cm. Each names a port of one of its port spaces (IBTA vol. 1, annex A11).

#ifndef SOFTDAT_WIRE_RDMACM_SERVICE_ID_H_
#define SOFTDAT_WIRE_RDMACM_SERVICE_ID_H_

#include <cstdint>
#include <optional>

namespace softdat::rdmacm {

enum class PortSpace : uint16_t {
  kTcp = 0x0106,  ///< Connections: REQ.
  kUdp = 0x0111,  ///< Datagrams: SIDR_REQ.
};

constexpr uint64_t ServiceIdOf(PortSpace space, uint16_t port) {
  return uint64_t{static_cast<uint16_t>(space)} << 16 | port;
}

/// The port that a service id names in this port space.
constexpr std::optional<uint16_t> PortOf(PortSpace space, uint64_t service_id) {
  if (service_id >> 16 != static_cast<uint16_t>(space)) return std::nullopt;
  return static_cast<uint16_t>(service_id);
}

}  // namespace softdat::rdmacm

#endif  // SOFTDAT_WIRE_RDMACM_SERVICE_ID_H_
