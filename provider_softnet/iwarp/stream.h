// SPDX-License-Identifier: BSD-3-Clause
// One iWARP connection after its start-up, without I/O: MPA framing, DDP placement and RDMAP
// operations for a queue pair. It contains no socket, clock, thread or random source. Bytes, posts
// and events go in. Buffers to fill, bytes to send, completions and actions come out.
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
// Memory regions are pinned between ReceiveVector and OnReceived, and between TransmitVector and
// OnTransmitted. Only the one non-blocking system call may be made there, and the thread must not
// be cancelled there. Each ReceiveVector and TransmitVector that returned buffers must be followed
// by its On... call, with 0 if nothing moved.
//
// The data path makes no allocation, no virtual call and no system call. Messages up to
// kInlineMessage are copied behind their header and leave as one buffer with their neighbours.
// Longer ones leave from the consumer's memory.
//
// These are its parts. Each uses the parts below it, and none calls upwards:
//
//   Stream                              directs: posts, what is over, breaking, ending, timers
//   Sender          Receiver            FPDUs out; FPDUs in; each with a short way (*_short.cc)
//   SendBuffer      Staging             their bytes
//   OwnRequests  PeerRequests  Confirmation     what is not answered, on either side
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

  // Whether the stream keeps the blocks that it has borrowed, if any, between messages. Otherwise
  // it gives them back as soon as they are empty.
  void KeepBlocks(bool keep) {
    sender_.KeepBuffer(keep);
    receiver_.KeepStaging(keep);
  }

  // ---- posts (contract: transport::QueuePair) ----

  // kQueueFull; kInvalidArgument (too many segments); kProtection, kPrivileges, kOutOfBounds for
  // local segments and binds; kLength (semantics 10.1); kNoResources for reads when none may be
  // outstanding; kNotSupported for RFC 7306 operations that are switched off; kInvalidState while
  // draining; kNoMemory. After the end a post succeeds without any check and completes as flushed.
  // A failed post leaves nothing behind.
  Code PostSend(const transport::SendRequest& request);
  // Posts into receive_queue. Resumes a stalled stream. After the end the receive is flushed at
  // once.
  Code PostReceive(const transport::ReceiveRequest& request);
  // A shared receive was posted. Resumes a stalled stream. Harmless at any time.
  void OnReceivePosted();
  // The watermarks were set. Buffers that already exceed them count at once.
  void OnWatermarksSet();
  // Graceful: posted sends complete, our own responses leave, then come `ended` and `close_write`.
  // Abrupt: flushes everything now. Does nothing after the end. An abrupt disconnect overtakes a
  // graceful one that still drains.
  void Disconnect(transport::DisconnectMode mode);
  // The process exits. What comes now is not carried out any more, so the peer is told how far it
  // got (parting_word.h).
  void SayPartingWord();

  // ---- receive side ----

  // Where the next bytes go. Fills up to `max` (at least 4) entries and returns how many. Returns 0
  // while nothing is to be read (stalled, ended). May end the connection, because a destination was
  // deregistered or memory is short.
  size_t ReceiveVector(iovec* iov, size_t max);
  // How much of a payload the last ReceiveVector asked for, if it is a large one.
  size_t payload_missing() const { return receiver_.payload_missing(); }
  // `size` bytes have arrived. Places them, pushes completions, queues responses.
  void OnReceived(size_t size);
  // Instead of both: `bytes` can be read next where they are. Returns how many were used, and has
  // done with them what OnReceived does. 0: it is better to read them. They may change at any time.
  size_t TakeInPlace(ByteSpan bytes);
  // recv() returned 0: the peer closed, and everything before that was given to OnReceived.
  void OnPeerFin();
  // The peer closed, but bytes are unread because this stream is stalled (POLLRDHUP). The stream
  // then wants to send. A peer that has gone altogether answers with a reset (OnPeerGone).
  void OnPeerHangup();
  // The peer left, and its system says that nobody is there any more: a reset, with or without a
  // FIN in front of it. This counts as a disconnection, as InfiniBand's connection manager and siw
  // treat the end of a process. Bytes that a stalled stream has not read are dropped.
  void OnPeerGone();
  // The connection broke, and not because the peer ended it. `why` is the system's text.
  void OnPeerReset(const std::string& why);
  // A message waits because no receive is posted.
  bool stalled() const { return receiver_.stalled() && state_.phase != Phase::kEnded; }
  // Whether ReceiveVector wants bytes. A stalled stream reads on as long as answers that it waits
  // for may come after the message that stalls it.
  bool reads() const { return state_.open() && receiver_.reads(); }

  // ---- transmit side ----

  struct Batch {
    size_t count = 0;  // iovec entries
    size_t bytes = 0;
  };
  // Gathers what can be sent now: at most `max_iov` (at least 4) entries and about `max_bytes`
  // bytes (more only to finish one buffer). Carries out binds on the way. So even an empty batch
  // may have completed work.
  Batch TransmitVector(iovec* iov, size_t max_iov, size_t max_bytes);
  // TCP took the first `size` bytes of the batch. The rest is offered again.
  void OnTransmitted(size_t size);
  // Whether TransmitVector would have something to do.
  bool wants_transmit() const {
    if (state_.phase == Phase::kEnded) return last_words_sent_ < last_words_.size();
    return sender_.wants_transmit();
  }
  // Whether something small and not urgent is to be sent: an answer to the peer's confirmation, or
  // our own request for one. It travels with whatever is sent next.
  bool owes() const { return sender_.owes(); }
  // What is owed has waited long enough. TransmitVector now offers it.
  void PayOwed() { sender_.Pay(); }

  // ---- events ----

  // Whether TakeActions() would return any, apart from those that the caller does not ask for.
  // Most posts and messages leave nothing to do.
  bool has_actions(bool transmit, bool owed) const {
    if (actions_.any() || ledger_.notices().any() || state_.established_due) return true;
    if (sender_.idle() && state_.phase != Phase::kEnded) return false;
    return (transmit && wants_transmit()) || (owed && owes());
  }
  // Returns what to do now, and clears it.
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
  // Receives that were taken by a message which has not completed: the buffers of its SRQ that the
  // pair holds.
  uint32_t held_receives() const { return ledger_.held_receives(); }

 private:
  // stream.cc
  void TakeIn(size_t size);
  // What came in is worked through. `owed` and `fpdus`: owes(), and how many FPDUs had come,
  // before.
  void PayIfWaiting(bool owed, uint64_t fpdus);
  void Process();
  void LookBehind();
  // Acts on what a part has left in state_: completes finished work, breaks, ends.
  void Settle();
  void OnStalled();
  void CompleteSends();
  // Ends a graceful disconnect, or the phase before a Terminate, when nothing is left to do.
  void MaybeDone() {
    if (state_.phase == Phase::kDraining) EndIfDrained();
    if (state_.phase == Phase::kTerminating) EndIfAnswered();
  }
  void EndIfDrained();

  // stream_end.cc. Code that ends a connection is marked cold, to keep it out of the way of other
  // code.
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
  void KeepPartingWord();
  void KeepEmpty(iwarp::Opcode opcode, uint32_t stag, uint64_t offset);
  void SetTimer(uint64_t delay_us);
  void StopTimer();

  StreamState state_;
  WorkLedger ledger_;
  OwnRequests own_;
  PeerRequests peer_;
  const AdmissionRules rules_;
  const bool confirms_all_;  // each send and write completes when it is confirmed
  Confirmation confirmation_;
  Sender sender_;
  Receiver receiver_;
  size_t tx_offered_ = 0;
  StreamActions actions_;  // without those that the parts know
  StreamTimer timer_;
  uint32_t last_timer_ = 0;
  StreamEnd end_;

  // The work at sender_.next() has failed here. The connection breaks when everything in front of
  // it is over.
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
