// SPDX-License-Identifier: BSD-3-Clause
// What a reliable connection is given and what it tells: its configuration, what its driver is to
// do, how it ended, what it counted.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_RC_CONFIG_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_RC_CONFIG_H_

#include <bit>
#include <cstdint>
#include <string>

#include "dat/transport/transport.h"
#include "provider_softnet/queue/work_ledger.h"
#include "provider_softnet/roce/early_pool.h"
#include "wire/roce/bth.h"

namespace softdat::softnet {

// A count of 7 for RNR retries means that there is no limit (IBTA vol. 1 §9.7.5.2.8).
inline constexpr uint8_t kRnrRetryForever = 7;
// The longest message or RDMA operation (IBTA vol. 1 §9.7.7).
inline constexpr uint64_t kMaxRoceMessage = uint64_t{1} << 31;

struct RcConfig {
  WorkLedgerConfig work;

  // The connection, as both ends agreed on it.
  uint32_t peer_qpn = 0;
  uint32_t send_psn = 0;      // of the first own request
  uint32_t expected_psn = 0;  // of the peer's first request
  uint32_t mtu = 1024;        // path MTU: bytes of payload in one packet
  uint32_t reads_out = 1;     // own reads and atomics that the peer takes at a time
  uint32_t reads_in = 1;      // the peer's that this end takes
  uint16_t pkey = roce::kDefaultPKey;

  // Retransmission. A packet without an answer is sent again after a time that is learned, and
  // that `ack_timeout` bounds. The connection is given up when the peer has been silent for
  // 1 + retry_count of these: 4.096 us * 2^ack_timeout each. 0: never.
  uint8_t ack_timeout = 18;
  uint8_t retry_count = 7;
  // How often the peer may have no receive for a message, in a row.
  uint8_t rnr_retry_count = kRnrRetryForever;
  // How long the peer is told to wait for a receive: a code (wire/roce/aeth.h).
  uint8_t rnr_timer = 12;

  uint32_t first_window = 32;  // packets on their way at first
  uint32_t most_window = 128;  // and at most

  // Where requests behind a missing one are kept until that comes; null: they are dropped.
  EarlyPool* early = nullptr;
  // Everything from a loss on is sent and asked for again, and what came behind it counts for
  // nothing: what every peer has to do at least (IBTA vol. 1 §9.7.5.2.3). Tests have such peers.
  bool go_back_n = false;
};

// What the driver is to do now.
struct RcActions {
  Notices notices;
  bool transmit = false;     // Transmit() has something
  bool owes = false;         // an acknowledgement that may ride on what is sent next: PayOwed()
  bool established = false;  // the peer's first request arrived (once)
  bool ended = false;        // the connection is over and end() valid; all flushes are in the rings

  bool any() const { return std::bit_cast<uint64_t>(*this) != 0; }
};
static_assert(sizeof(RcActions) == sizeof(uint64_t));

// How the connection ended.
struct RcEnd {
  transport::EndReason reason = transport::EndReason::kDisconnected;
  std::string why;       // one sentence for log and reason chain
  bool by_peer = false;  // the peer disconnected, refused or vanished first
  // The peer was refused something, and must hear so before it hears that the connection is over:
  // whoever tells it leaves it some time to ask again.
  bool refused = false;
};

// Counters of one connection, for tests and info tools.
struct RcCounters {
  uint64_t packets_sent = 0, packets_received = 0;
  uint64_t requests_resent = 0;  // request packets that were sent before
  uint64_t timeouts = 0;
  uint64_t probes = 0;                        // of the oldest packet, ahead of a time-out
  uint64_t naks_sent = 0, naks_received = 0;  // of sequence errors
  uint64_t rnr_naks_sent = 0, rnr_naks_received = 0;
  uint64_t duplicates = 0;  // requests that had been carried out
  uint64_t remote_accesses_refused = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_RC_CONFIG_H_
