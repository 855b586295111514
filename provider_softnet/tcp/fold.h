// SPDX-License-Identifier: BSD-3-Clause
// The TCP port of a connection qualifier.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_FOLD_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_FOLD_H_

#include <cstdint>

#include "dat/transport/qualifier_port.h"

namespace softdat::softnet {

inline constexpr uint16_t PortOf(uint64_t conn_qual) {
  return transport::PortOfQualifier(conn_qual);
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_FOLD_H_
