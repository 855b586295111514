// SPDX-License-Identifier: BSD-3-Clause
// What a stream gets and what it tells: its configuration, its limits, the actions for its driver,
// how it ended, its counters.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_CONFIG_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_CONFIG_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "dat/transport/transport.h"
#include "provider_softnet/iwarp/mpa_handshake.h"
#include "provider_softnet/iwarp/stream_blocks.h"
#include "provider_softnet/queue/work_ledger.h"
#include "wire/iwarp/terminate_code.h"

namespace softdat::softnet {

struct StreamConfig {
  WorkLedgerConfig work;
  StreamBlocks* blocks = nullptr;  // borrowed; must outlive the stream

  // The connection.
  bool initiator = false;
  MpaAgreement agreement;
  size_t mulpdu = 1460;  // largest DDP segment to send: iwarp::Mulpdu(EMSS)

  // Policy.
  // Sends and writes complete when the peer has confirmed them, as on InfiniBand, and not when TCP
  // has them. Has no effect towards a peer that takes no reads, or does not know reads of nothing.
  bool confirm = false;
  bool extensions = true;       // RFC 7306 operations may be sent (immediate data, atomics)
  bool short_reads = false;     // a read moves min(remote, local) instead of failing with kLength
  uint64_t rnr_timeout_us = 0;  // wait for a receive that long, then Terminate 1/2/2; 0: no limit
  uint64_t fin_grace_us = 1000000;  // the peer closed while data wait for a receive: wait that long
  // Payloads of at least this size are read directly to their destination. Shorter ones are copied
  // there, which costs less than a system call to read them separately.
  size_t direct_payload = 16 * 1024;
};

// The longest message or RDMA operation, in bytes. The IA announces it, and posts allow it. DDP's
// message offset has 32 bits (RFC 5041 §4.2).
inline constexpr uint64_t kMaxMessage = uint64_t{1} << 31;
// Messages up to this size are copied behind their headers.
inline constexpr size_t kInlineMessage = 2048;
// So are the segments up to this size of longer ones, and of responses to reads.
inline constexpr size_t kInlinePayload = 512;
// After this much a confirmation is asked for although more is queued. Its cost is little beside
// that of so many bytes, and the program can post more before all that is queued has arrived.
inline constexpr uint64_t kBulkToConfirm = uint64_t{2} << 20;
// The most confirmations under way at a time.
inline constexpr uint32_t kMostConfirmations = 4;

// What the driver is to do now.
struct alignas(16) StreamActions {
  Notices notices;
  bool transmit = false;     // TransmitVector has something to do (bytes, or a bind)
  bool owes = false;         // owes() holds: PayOwed() at the first turn that finds nothing else
  bool established = false;  // the first FPDU of the peer has arrived (reported once)
  bool stalled = false;  // stalled() became true: no receive is posted. With an SRQ: register as
                         // a waiter, then call OnReceivePosted() once more
  bool resumed = false;  // stalled() became false: reading goes on
  bool timer = false;    // timer() changed: start it, or stop the one running
  bool ended = false;    // the connection is over and end() valid; all flushes are in the rings
  bool close_write = false;  // all that had to be sent is sent: shutdown(SHUT_WR), then drain and
                             // discard input until the peer's FIN or a bounded wait, then close
  bool abort = false;        // close with RST; nothing more to send
  uint8_t unused[3] = {};

  // Checked after each operation, as two words.
  bool any() const {
    const auto words = std::bit_cast<std::array<uint64_t, 2>>(*this);
    return (words[0] | words[1]) != 0;
  }
};
static_assert(sizeof(StreamActions) == 2 * sizeof(uint64_t));

// How the connection ended.
struct StreamEnd {
  transport::EndReason reason = transport::EndReason::kDisconnected;
  std::string why;       // one sentence for log and reason chain
  bool by_peer = false;  // the peer closed, terminated or vanished first
  bool abrupt = false;   // by our consumer: the peer need not deliver what it still holds
  // The Terminate sent or received, for logs and counters; kAccept when there was none.
  iwarp::TerminateCode terminate = iwarp::kAccept;
};

// A timeout that the stream asks for. `id` is 0 when it asks for none.
struct StreamTimer {
  uint32_t id = 0;
  uint64_t delay_us = 0;
};

// Counters of one connection, for tests and info tools.
struct StreamCounters {
  uint64_t fpdus_sent = 0, fpdus_received = 0;
  uint64_t posted_short = 0, taken_short = 0;  // messages that went the short way
  uint64_t taken_in_place = 0;                 // of these, those that the link had lent
  uint64_t bytes_sent = 0, bytes_received = 0;
  uint64_t bytes_copied_in = 0;  // payload copied by us, from staging or from what the link lent
  uint64_t bytes_direct_in = 0;  // payload received straight into its destination
  uint64_t bytes_inlined = 0;    // payload copied behind its header on the way out
  uint64_t stalls = 0;           // how often no receive was posted
  uint64_t remote_accesses_refused = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_CONFIG_H_
