// SPDX-License-Identifier: BSD-3-Clause
// One exchange of messages about one connection, from either side, until nothing of it need be
// remembered.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_EXCHANGE_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_EXCHANGE_H_

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <list>

#include "provider_softnet/cm/cm_events.h"
#include "wire/rdmacm/cm_messages.h"
#include "wire/rdmacm/mad.h"

namespace softdat::softnet {

enum class CmState : uint8_t {
  kNone,  // there is no such exchange, or no more
  // Active.
  kRequestSent,
  kPausing,  // the request was refused, and will be made again
  kReplyReceived,
  // Passive.
  kRequestReceived,
  kWithdrawn,  // its requester has given up; it waits for its consumer
  kHandedOff,  // another manager answers the request; `told` says that it has
  kReplySent,
  // Both.
  kEstablished,
  kDisconnecting,  // DREQ sent
  kTimeWait,
  kRejected,  // this end has said no, and says it again when it is asked
};

struct Exchange {
  CmId id = 0;
  CmState state = CmState::kNone;
  bool active = false;
  bool told = false;  // the consumer knows of the end, or does not want to
  sockaddr_storage address{};
  rdmacm::Gid gid{};  // of that address

  uint64_t transaction_id = 0;  // the REQ's
  uint64_t service_id = 0;
  uint32_t comm_id = 0;
  uint32_t qpn = 0;  // 0: the consumer has not given one
  CmDepths depths{};
  uint32_t peer_comm_id = 0;  // 0: not known
  CmPeer peer{};

  // What is sent again, when next, and how often still. A request that waits for its consumer is
  // kept here as it came.
  std::array<uint8_t, rdmacm::kMadSize> mad{};
  uint64_t next_us = kCmNever;
  uint64_t interval_us = 0;
  uint32_t tries = 0;
  uint32_t tries_left = 0;
  uint64_t started_us = 0;       // Connect, Accept
  uint64_t limit_us = kCmNever;  // then it fails
  uint64_t latest_limit_us = 0;  // kReplySent: whatever the peer asks for
  uint64_t grace_until_us = 0;   // CmConnect::grace_us
  uint64_t pause_us = 0;         // the next one, after "nobody listens"
  bool stale_retried = false;    // a refusal as stale was answered with another request
  bool asked_for_time = false;   // MRA sent
  uint32_t duplicate_requests = 0;

  // The table's.
  uint64_t deadline_us = kCmNever;
  std::list<Exchange*>::iterator remembered_at{};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_EXCHANGE_H_
