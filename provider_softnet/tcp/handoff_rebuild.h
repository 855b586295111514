// SPDX-License-Identifier: BSD-3-Clause
// Rebuilds a request that another process hands on from its offer. A pure function over bytes that
// are not trusted.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_REBUILD_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_REBUILD_H_

#include <cstdint>
#include <memory>
#include <span>

#include "provider_softnet/iwarp/mpa_handshake.h"

namespace softdat::softnet {

struct RebuiltRequest {
  std::unique_ptr<MpaResponder> responder;  // holds the Request; null when it was refused
  uint64_t aimed_at = 0;                    // the qualifier that the peer aimed at
  const char* refusal = nullptr;            // why it was refused
};

// `offer`: the message. `conn_qual`: that of the service point that received it. `local_port`: that
// of the connection that came with it.
RebuiltRequest RebuildRequest(std::span<const uint8_t> offer, uint64_t conn_qual,
                              uint16_t local_port, CrcPolicy crc);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_REBUILD_H_
