// SPDX-License-Identifier: BSD-3-Clause
// One iWARP connection after its start-up: MPA framing, DDP placement and RDMAP operations for a queue
// pair, without I/O. No socket, clock, thread or random source inside; bytes, posts and events go in,
// buffers to fill, bytes to send, completions and actions come out.
//
// The caller holds the queue pair's lock around every call. A driver's turn looks like this:
//
//   lock; code = s.PostSend(request);                                     // or PostReceive, Disconnect
//   for (;;) { b = s.TransmitVector(iov, 64, 1 << 20); if (b.count == 0) break;
//              n = sendmsg(iov, b.count); s.OnTransmitted(max(n, 0)); if (n < b.bytes) break; }
//   a = s.TakeActions(); unlock; act on a
//
//   lock; c = s.ReceiveVector(iov, 16); if (c > 0) { n = recvmsg(iov, c); s.OnReceived(max(n, 0)); }
//         n == 0: s.OnPeerFin(); error: s.OnPeerReset(text); then transmit as above (responses), actions
//
// Between ReceiveVector and OnReceived, and between TransmitVector and OnTransmitted, memory regions are
// pinned: nothing but the one non-blocking system call belongs there, and no thread cancellation. Each
// ReceiveVector and TransmitVector that returned buffers must be followed by its On... call, with 0 if
// nothing moved.
//
// Data path costs: no allocation, no virtual call, no system call. Payloads below kInlinePayload are copied
// behind their header and leave as one buffer with their neighbours; longer ones leave from the consumer's
// memory. Arriving payloads of a page or more go straight to their destination; smaller ones are read many
// at a time and copied once. With CRC an FPDU is checked whole before any of it touches registered memory.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_H_

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "dat/transport/transport.h"
#include "provider_softnet/iwarp/mpa_handshake.h"
#include "provider_softnet/memory/memory_table.h"
#include "provider_softnet/queue/completion_ring.h"
#include "provider_softnet/queue/work_queue.h"
#include "wire/iwarp/terminate_code.h"

namespace softdat::softnet {

struct StreamConfig {
  // The queue pair. All pointers are borrowed and outlive the stream.
  void* context = nullptr;                     // goes into completions
  MemoryTable* memory = nullptr;
  SendQueue* send_queue = nullptr;
  ReceiveQueue* receive_queue = nullptr;       // one of these two
  SharedReceiveQueue* shared_receives = nullptr;
  CompletionRing* send_completions = nullptr;  // null: dropped
  CompletionRing* receive_completions = nullptr;
  uint32_t pd = 0;
  uint32_t qp = 0;

  // The connection.
  bool initiator = false;
  MpaAgreement agreement;
  size_t mulpdu = 1460;              // largest DDP segment to send: iwarp::Mulpdu(EMSS, false)

  // Policy.
  bool extensions = true;            // RFC 7306 operations may be sent (immediate data, atomics)
  bool short_reads = false;          // a read moves min(remote, local) instead of failing with kLength
  uint64_t rnr_timeout_us = 0;       // wait for a receive that long, then Terminate 1/2/2; 0: no limit
  uint64_t fin_grace_us = 1000000;   // the peer closed while data wait for a receive: wait that long
  size_t staging_size = 80 * 1024;   // receive buffer; at least kMinStaging
};

inline constexpr size_t kInlinePayload = 512;
inline constexpr size_t kDirectPayload = 4096;
inline constexpr size_t kMinStaging = 72 * 1024;

// Bits of TakeActions().
enum : uint32_t {
  kActTransmit = 1u << 0,            // TransmitVector has something (or a bind to carry out)
  kActNotifySend = 1u << 1,          // send_completions->Notify(), without locks
  kActNotifyReceive = 1u << 2,       // receive_completions->Notify()
  kActSharedLimit = 1u << 3,         // the SRQ fell below its limit: SharedReceiveSink::OnLimit
  kActEstablished = 1u << 4,         // the first FPDU of the peer arrived (once)
  kActStalled = 1u << 5,             // stalled() became true: no receive is posted. With an SRQ: register as
                                     // a waiter, then call OnReceivePosted() once more
  kActResumed = 1u << 6,             // stalled() became false: reading goes on
  kActTimer = 1u << 7,               // timer() changed: start it, or stop the one running
  kActEnded = 1u << 8,               // the connection is over and end() valid; all flushes are in the rings
  kActCloseWrite = 1u << 9,          // all that had to be sent is sent: shutdown(SHUT_WR), then drain and
                                     // discard input until the peer's FIN or a bounded wait, then close
  kActAbort = 1u << 10,              // close with RST; nothing more to send
};

// How the connection ended.
struct StreamEnd {
  transport::EndReason reason = transport::EndReason::kDisconnected;
  std::string why;                   // one sentence for log and reason chain
  bool by_peer = false;              // the peer closed, terminated or vanished first
  // The Terminate sent or received, for logs and counters; kAccept when there was none.
  iwarp::TerminateCode terminate = iwarp::kAccept;
};

// A timeout that the stream wants. `id` is 0 when it wants none.
struct StreamTimer {
  uint32_t id = 0;
  uint64_t delay_us = 0;
};

// Counters of one connection, for tests and info tools.
struct StreamCounters {
  uint64_t fpdus_sent = 0, fpdus_received = 0;
  uint64_t bytes_sent = 0, bytes_received = 0;
  uint64_t bytes_copied_in = 0;      // payload that went through the staging buffer
  uint64_t bytes_direct_in = 0;      // payload received straight into its destination
  uint64_t bytes_inlined = 0;        // payload copied behind its header on the way out
  uint64_t stalls = 0;               // times that no receive was posted
  uint64_t remote_accesses_refused = 0;
};

class Stream {
 public:
  explicit Stream(const StreamConfig& config);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // ---- posts (contract: transport::QueuePair) ----

  // kQueueFull; kInvalidArgument (too many segments); kProtection, kPrivileges, kOutOfBounds for local
  // segments and binds; kLength (semantics 10.1); kNoResources for reads when none may be outstanding;
  // kNotSupported for RFC 7306 operations that are switched off; kInvalidState while draining. After the
  // end it succeeds without any check and completes as flushed. A failed post leaves nothing behind.
  Code PostSend(const transport::SendRequest& request);
  // Into receive_queue. Resumes a stalled stream; after the end it is flushed at once.
  Code PostReceive(const transport::ReceiveRequest& request);
  // A shared receive was posted: resumes a stalled stream. Harmless at any time.
  void OnReceivePosted();
  // Graceful: posted sends complete, own responses leave, then kActEnded and kActCloseWrite. Abrupt:
  // flushes everything now. A no-op after the end; abrupt overtakes a graceful one that still drains.
  void Disconnect(transport::DisconnectMode mode);

  // ---- receive side ----

  // Where the next bytes go: fills up to `max` (at least 4) entries and returns how many; 0 while nothing is
  // to be read (stalled, ended).
  size_t ReceiveVector(iovec* iov, size_t max);
  // `size` bytes are there. Places them, pushes completions, queues responses.
  void OnReceived(size_t size);
  // recv() returned 0: the peer closed, and everything before it was given to OnReceived.
  void OnPeerFin();
  // The peer closed, but unread bytes are left because this stream is stalled (POLLRDHUP).
  void OnPeerHangup();
  // The connection broke; `why` is the system's text.
  void OnPeerReset(const std::string& why);
  // Reading is paused because no receive is posted.
  bool stalled() const { return stalled_; }

  // ---- transmit side ----

  struct Batch {
    size_t count = 0;  // iovec entries
    size_t bytes = 0;
  };
  // Gathers what can be sent now: at most `max_iov` (at least 4) entries and about `max_bytes` bytes
  // (more only to finish one buffer). Carries out binds on its way; an empty batch may have completed work.
  Batch TransmitVector(iovec* iov, size_t max_iov, size_t max_bytes);
  // The first `size` bytes of the batch were taken by TCP. The rest is offered again.
  void OnTransmitted(size_t size);
  // Whether TransmitVector would have something to do.
  bool wants_transmit() const;

  // ---- events ----

  // What to do now, kAct bits; cleared by the call.
  uint32_t TakeActions();
  const StreamTimer& timer() const { return timer_; }
  void OnTimer(uint32_t id);
  bool ended() const { return phase_ == Phase::kEnded; }
  const StreamEnd& end() const { return end_; }
  const StreamCounters& counters() const { return counters_; }

 private:
  enum class Phase : uint8_t {
    kOpen,
    kDraining,  // graceful disconnect asked for: no new sends
    kEnded,     // flushed; at most a Terminate or the rest of an FPDU is still to be sent
  };

  Phase phase_ = Phase::kOpen;
  bool stalled_ = false;
  StreamTimer timer_;
  StreamEnd end_;
  StreamCounters counters_;
};

// ---- without a stream: a queue pair that is not connected ----

// Judges local segments: key, domain, rights, bounds. kOk, kProtection, kPrivileges, kOutOfBounds.
Code CheckLocalSegments(const MemoryTable& memory, uint32_t pd, Access access,
                        std::span<const Segment> segments);
// Completes every posted receive as flushed. Returns true when ring->Notify() is due.
bool FlushReceives(ReceiveQueue* queue, CompletionRing* ring, void* context);
// Pushes the flushed completion of a request that is posted after the end. The same return value.
bool FlushPostedSend(const transport::SendRequest& request, CompletionRing* ring, void* context);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_H_
