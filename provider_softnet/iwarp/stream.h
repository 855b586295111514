// SPDX-License-Identifier: BSD-3-Clause
// One iWARP connection after its start-up: MPA framing, DDP placement and RDMAP operations for a
// queue pair, without I/O. No socket, clock, thread or random source inside; bytes, posts and
// events go in, buffers to fill, bytes to send, completions and actions come out.
//
// The caller holds the queue pair's lock around every call. A driver's turn looks like this:
//
//   lock
//   code = s.PostSend(request)  or PostReceive, Disconnect
//   for (;;) { b = s.TransmitVector(iov, 64, 1 << 20); if (b.count == 0) break;
//              n = sendmsg(iov, b.count); s.OnTransmitted(max(n, 0)); if (n < b.bytes) break; }
//   a = s.TakeActions(); unlock; act on a
//
//   lock
//   c = s.ReceiveVector(iov, 16); if (c > 0) { n = recvmsg(iov, c); s.OnReceived(max(n, 0)); }
//   n == 0: s.OnPeerFin(); error: s.OnPeerReset(text)
//   then transmit as above (responses), actions
//
// Between ReceiveVector and OnReceived, and between TransmitVector and OnTransmitted, memory
// regions are pinned: nothing but the one non-blocking system call belongs there, and no thread
// cancellation. Each ReceiveVector and TransmitVector that returned buffers must be followed by its
// On... call, with 0 if nothing moved.
//
// Data path costs: no allocation, no virtual call, no system call. Payloads below kInlinePayload
// are copied behind their header and leave as one buffer with their neighbours; longer ones leave
// from the consumer's memory.
//
// The parts, each with a floor under it and none that calls upwards:
//
//   Stream                              conducts: posts, what is over, breaking, ending, timers
//   Sender          Receiver            FPDUs out; FPDUs in
//   SendBuffer      Staging             their bytes
//   OwnRequests  PeerRequests  Confirmation     what is not answered, here and there
//   WorkLedger  StreamState             the posted work; what all parts have in common
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_H_

#include <sys/uio.h>

#include <cstdint>
#include <string>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/iwarp/receiver.h"
#include "provider_softnet/iwarp/sender.h"
#include "provider_softnet/iwarp/stream_config.h"
#include "provider_softnet/iwarp/stream_state.h"

namespace softdat::softnet {

class Stream {
 public:
  explicit Stream(const StreamConfig& config);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // ---- posts (contract: transport::QueuePair) ----

  // kQueueFull; kInvalidArgument (too many segments); kProtection, kPrivileges, kOutOfBounds for
  // local segments and binds; kLength (semantics 10.1); kNoResources for reads when none may be
  // outstanding; kNotSupported for RFC 7306 operations that are switched off; kInvalidState while
  // draining; kNoMemory. After the end it succeeds without any check and completes as flushed. A
  // failed post leaves nothing behind.
  Code PostSend(const transport::SendRequest& request);
  // Into receive_queue. Resumes a stalled stream; after the end it is flushed at once.
  Code PostReceive(const transport::ReceiveRequest& request);
  // A shared receive was posted: resumes a stalled stream. Harmless at any time.
  void OnReceivePosted();
  // The watermarks were set: what exceeds them already counts at once.
  void OnWatermarksSet();
  // Graceful: posted sends complete, own responses leave, then `ended` and `close_write`.
  // Abrupt: flushes everything now. A no-op after the end; abrupt overtakes a graceful one that
  // still drains.
  void Disconnect(transport::DisconnectMode mode);

  // ---- receive side ----

  // Where the next bytes go: fills up to `max` (at least 4) entries and returns how many; 0 while
  // nothing is to be read (stalled, ended). It may end the connection: a destination can have been
  // deregistered, or memory be short.
  size_t ReceiveVector(iovec* iov, size_t max);
  // `size` bytes are there. Places them, pushes completions, queues responses.
  void OnReceived(size_t size);
  // recv() returned 0: the peer closed, and everything before it was given to OnReceived.
  void OnPeerFin();
  // The peer closed, but unread bytes are left because this stream is stalled (POLLRDHUP). Wants to
  // send: a peer that has gone altogether answers with a reset (OnPeerGone).
  void OnPeerHangup();
  // The peer left, and its system says that nobody is there any more: a reset, with or without a
  // FIN in front of it. That is a disconnection, as InfiniBand's connection manager and siw make of
  // a process that ends. What a stalled stream has not read is dropped.
  void OnPeerGone();
  // The connection broke, and no end of the peer's is the cause; `why` is the system's text.
  void OnPeerReset(const std::string& why);
  // A message waits because no receive is posted.
  bool stalled() const { return receiver_.stalled() && state_.phase != Phase::kEnded; }
  // Whether ReceiveVector wants bytes. A stalled stream reads on as long as answers that it waits
  // for may stand behind the message that stalls it.
  bool reads() const { return state_.open() && receiver_.reads(); }

  // ---- transmit side ----

  struct Batch {
    size_t count = 0;  // iovec entries
    size_t bytes = 0;
  };
  // Gathers what can be sent now: at most `max_iov` (at least 4) entries and about `max_bytes`
  // bytes (more only to finish one buffer). Carries out binds on its way; an empty batch may have
  // completed work.
  Batch TransmitVector(iovec* iov, size_t max_iov, size_t max_bytes);
  // The first `size` bytes of the batch were taken by TCP. The rest is offered again.
  void OnTransmitted(size_t size);
  // Whether TransmitVector would have something to do.
  bool wants_transmit() const {
    if (state_.phase == Phase::kEnded) return last_words_sent_ < last_words_.size();
    return sender_.wants_transmit();
  }
  // Something small is to be sent for which nobody waits in a hurry: an answer to the peer's
  // confirmation, or the request for an own one. It rides on whatever is sent next.
  bool owes() const { return sender_.owes(); }
  // It has waited long enough: TransmitVector offers it now.
  void PayOwed() { sender_.Pay(); }

  // ---- events ----

  // Whether TakeActions() would return any: most posts and messages leave nothing to do.
  bool has_actions() const {
    return actions_.any() || ledger_.notices().any() || state_.established_due ||
           wants_transmit() || owes();
  }
  // What to do now; cleared by the call.
  [[gnu::always_inline]] StreamActions TakeActions() {
    StreamActions actions = actions_;
    actions_ = {};
    actions.notices = ledger_.TakeNotices();
    actions.established = state_.established_due;
    state_.established_due = false;
    actions.owes = owes();
    actions.transmit = wants_transmit();
    return actions;
  }
  const StreamTimer& timer() const { return timer_; }
  void OnTimer(uint32_t id);
  bool ended() const { return state_.phase == Phase::kEnded; }
  const StreamEnd& end() const { return end_; }
  // Whether the peer can be asked to confirm sends and writes.
  bool can_confirm() const { return confirmation_.possible(); }
  const StreamCounters& counters() const { return state_.counters; }
  // Receives taken by a message that has not completed: what a pair holds of its SRQ.
  uint32_t held_receives() const { return ledger_.held_receives(); }

 private:
  // stream.cc
  void Process();
  void LookBehind();
  // Acts on what a part has left in state_: completes what is over, breaks, ends.
  void Settle();
  void OnStalled();
  void CompleteSends();
  // Ends a graceful disconnect, or what precedes a Terminate, when nothing is left to do.
  void MaybeDone() {
    if (state_.phase == Phase::kDraining) EndIfDrained();
    if (state_.phase == Phase::kTerminating) EndIfAnswered();
  }
  void EndIfDrained();

  // stream_end.cc. What ends a connection is marked cold: it stays out of the way of what does not.
  [[gnu::cold]] void ActOn(const SendProblem& problem);
  [[gnu::cold]] void ActOnFailure();
  [[gnu::cold]] void ActOnTerminate(ByteSpan payload);
  [[gnu::cold]] void FailSend(transport::WorkStatus status, std::string why);
  [[gnu::cold]] void BreakIfAllInFrontIsOver();
  [[gnu::cold]] void RefuseResponse(AccessError error);
  [[gnu::cold]] void Break(iwarp::TerminateCode code, ByteSpan ulpdu, size_t ulpdu_size,
                           const Blame& blame, const std::string& what);
  [[gnu::cold]] void EndIfAnswered();
  [[gnu::cold]] void FinishTerminating();
  [[gnu::cold]] void Finish(transport::EndReason reason, std::string why, bool by_peer,
                            const Blame& blame);
  [[gnu::cold]] void Abort(const std::string& why, const Blame& blame);
  void KeepLastWords();
  void KeepLastAnswers();
  void SetTimer(uint64_t delay_us);
  void StopTimer();

  StreamState state_;
  WorkLedger ledger_;
  OwnRequests own_;
  PeerRequests peer_;
  const AdmissionRules rules_;
  Confirmation confirmation_;
  Sender sender_;
  Receiver receiver_;
  size_t tx_offered_ = 0;
  StreamActions actions_;  // without what the parts know
  StreamTimer timer_;
  uint32_t last_timer_ = 0;
  StreamEnd end_;

  // The work at sender_.next() has failed here: the connection breaks when all in front of it is
  // over.
  transport::WorkStatus failing_status_ = transport::WorkStatus::kSuccess;
  std::string failing_why_;

  // Phase::kTerminating.
  Blame terminating_blame_;
  std::vector<uint8_t> terminate_;   // the FPDU
  std::vector<uint8_t> last_words_;  // after the end: rest of an FPDU, answers, Terminate
  size_t last_words_sent_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_H_
