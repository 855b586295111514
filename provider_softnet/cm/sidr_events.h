// SPDX-License-Identifier: BSD-3-Clause
// What service resolution is asked for, and what it tells its consumer. A service is found here by
// SIDR, the exchange of IBTA vol. 1 §12.11: one question, one answer, and no connection.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_SIDR_EVENTS_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_SIDR_EVENTS_H_

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/cm/cm_options.h"
#include "wire/bytes.h"
#include "wire/rdmacm/cm_messages.h"

namespace softdat::softnet {

// Names one question, own or of a peer. No value comes twice; 0 is none.
using SidrId = uint64_t;

// ---- asked ----

struct SidrResolve {
  sockaddr_storage remote{};  // port ignored
  uint64_t service_id = 0;
  uint64_t timeout_us = kCmNever;
  // For this long, "nobody listens" does not count as an answer. Meant for a peer on this host,
  // which may be about to listen.
  uint64_t grace_us = 0;
  ByteSpan private_data{};  // from the header of rdma_cm on; at most kSidrReqPrivateSize bytes
};

struct SidrAccept {
  uint32_t qpn = 0;  // of a queue pair that receives datagrams
  uint32_t qkey = 0;
  ByteSpan private_data{};  // at most kSidrRepPrivateSize bytes
};

// ---- told ----
// The private data of messages are whole fields: wire/rdmacm/private_data.h reads them.

// A peer asks for a queue pair. Answered by Accept or Refuse.
struct SidrRequestArrived {
  SidrId id = 0;
  sockaddr_storage source{};
  uint64_t service_id = 0;
  std::array<uint8_t, rdmacm::kSidrReqPrivateSize> private_data{};
};

struct SidrResolved {
  SidrId id = 0;
  uint32_t qpn = 0;
  uint32_t qkey = 0;
  std::array<uint8_t, rdmacm::kSidrRepPrivateSize> private_data{};
};

struct SidrFailed {
  SidrId id = 0;
  transport::RejectReason reason = transport::RejectReason::kNonPeer;
  std::string why{};
  std::vector<uint8_t> private_data{};  // the peer's consumer's, if that refused
};

using SidrEvent = std::variant<SidrRequestArrived, SidrResolved, SidrFailed>;

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_SIDR_EVENTS_H_
