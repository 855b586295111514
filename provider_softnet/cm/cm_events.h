// SPDX-License-Identifier: BSD-3-Clause
// What a communication manager is asked for, and what it tells its consumer.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_CM_EVENTS_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_CM_EVENTS_H_

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/cm/cm_options.h"
#include "wire/bytes.h"
#include "wire/rdmacm/cm_messages.h"
#include "wire/rdmacm/mad.h"

namespace softdat::softnet {

// Names one exchange for the consumer. No value comes twice; 0 is none.
using CmId = uint64_t;

// Reads and atomics as one end sees them.
struct CmDepths {
  uint8_t in = 0;   // it answers at once: "responder resources"
  uint8_t out = 0;  // it asks at once: "initiator depth"
};

// The queue pair at the other end.
struct CmPeer {
  uint64_t ca_guid = 0;
  uint32_t qpn = 0;
  uint32_t starting_psn = 0;  // of the first request that this end sends
};

// ---- asked ----

struct CmConnect {
  sockaddr_storage local{};   // the adapter's
  sockaddr_storage remote{};  // port ignored
  uint64_t service_id = 0;
  uint32_t qpn = 0;
  uint32_t starting_psn = 0;  // of the first request that this end expects
  CmDepths depths{};
  uint8_t path_mtu = 3;  // code
  uint8_t retry_count = 7;
  uint8_t rnr_retry_count = 7;
  uint8_t local_ack_timeout = 14;  // code
  bool srq = false;
  uint64_t timeout_us = kCmNever;
  // For this long, "nobody listens" does not count as an answer. Meant for a peer on this host,
  // which may be about to listen.
  uint64_t grace_us = 0;
  ByteSpan private_data{};  // from the header of rdma_cm on; at most kReqPrivateSize bytes
};

struct CmAccept {
  uint32_t qpn = 0;  // of a queue pair that is ready to receive
  uint32_t starting_psn = 0;
  CmDepths depths{};  // lowered to what the peer offered
  uint8_t rnr_retry_count = 7;
  uint8_t target_ack_delay = 0;  // code
  bool srq = false;
  ByteSpan private_data{};  // at most kRepPrivateSize bytes
};

// ---- told ----
// The private data of messages are whole fields: wire/rdmacm/private_data.h reads them.

// A peer asks for a connection. Answered by Accept, Reject or Abandon.
struct CmRequestArrived {
  CmId id = 0;
  sockaddr_storage source{};
  uint64_t service_id = 0;
  CmPeer peer{};
  CmDepths offered{};  // as this end sees them
  uint8_t path_mtu = 0;
  uint8_t retry_count = 0;
  uint8_t rnr_retry_count = 0;
  uint8_t local_ack_timeout = 0;
  bool srq = false;
  std::array<uint8_t, rdmacm::kReqPrivateSize> private_data{};
};

// The requester has given up before it was answered. The request still has to be answered.
struct CmWithdrawn {
  CmId id = 0;
};

// What its new owner should know of a request that was handed off.
struct CmForNewOwner {
  enum class What : uint8_t {
    kAgain,      // the request has come again
    kWithdrawn,  // the requester has given up
    kForgotten,  // no more will be told: so much is handed off that this one gives way
  };
  CmId id = 0;
  What what = What::kAgain;
};

// The peer has accepted. ReadyToUse is to follow, unless CmFailed comes instead.
struct CmReplyArrived {
  CmId id = 0;
  CmPeer peer{};
  CmDepths agreed{};
  uint8_t rnr_retry_count = 0;
  uint8_t target_ack_delay = 0;
  bool srq = false;
  std::array<uint8_t, rdmacm::kRepPrivateSize> private_data{};
};

// A connection that was accepted here is complete.
struct CmEstablished {
  CmId id = 0;
};

// There will be no connection.
struct CmFailed {
  CmId id = 0;
  transport::RejectReason reason = transport::RejectReason::kNonPeer;
  std::string why{};
  bool by_softdat = false;              // the peer that refused is one of ours
  std::vector<uint8_t> private_data{};  // the peer's consumer's, if that refused
};

// A connection is over.
struct CmDisconnected {
  enum class By : uint8_t {
    kPeer,   // it said so
    kStale,  // the peer uses its queue pair for something else: it has lost the connection
    kSelf,   // the peer has heard our word, or does not answer
  };
  CmId id = 0;
  By by = By::kPeer;
};

// The last event of each exchange that was given a QPN, which may be used again.
struct CmOver {
  CmId id = 0;
  uint32_t qpn = 0;
};

using CmEvent = std::variant<CmRequestArrived, CmWithdrawn, CmForNewOwner, CmReplyArrived,
                             CmEstablished, CmFailed, CmDisconnected, CmOver>;

// What comes of an offer to take a request over.
struct CmTakenOver {
  // Nothing: the requester was refused, because its queue pair was in use here.
  std::optional<CmRequestArrived> request{};
  // The exchange by which this manager had handed the same request off. It is gone, and the request
  // comes here by itself when it is repeated. 0: none.
  CmId replaced = 0;
};

using MadOctets = std::array<uint8_t, rdmacm::kMadSize>;

// A MAD that is to be sent, from and to the queue pair with number 1.
struct CmOutgoing {
  sockaddr_storage to{};  // the port is that of RoCE, whatever stands here
  std::array<uint8_t, rdmacm::kMadSize> mad{};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_CM_EVENTS_H_
