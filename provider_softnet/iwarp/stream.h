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
// from the consumer's memory. Arriving payloads of a page or more go straight to their destination;
// smaller ones are read many at a time and copied once. With CRC an FPDU is checked whole before
// any of it touches registered memory.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_H_

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/iwarp/mpa_handshake.h"
#include "provider_softnet/iwarp/stream_blocks.h"
#include "provider_softnet/memory/memory_table.h"
#include "provider_softnet/queue/completion_ring.h"
#include "provider_softnet/queue/raw_array.h"
#include "provider_softnet/queue/work_queue.h"
#include "wire/iwarp/ddp.h"
#include "wire/iwarp/frame_check.h"
#include "wire/iwarp/rdmap.h"
#include "wire/iwarp/terminate.h"
#include "wire/iwarp/terminate_code.h"

namespace softdat::softnet {

struct StreamConfig {
  // The queue pair. All pointers are borrowed and outlive the stream.
  void* context = nullptr;  // goes into completions
  MemoryTable* memory = nullptr;
  SendQueue* send_queue = nullptr;
  ReceiveQueue* receive_queue = nullptr;  // one of these two
  SharedReceiveQueue* shared_receives = nullptr;
  StreamBlocks* blocks = nullptr;
  ReceiveWatermarks* watermarks = nullptr;     // of shared_receives; null: none
  CompletionRing* send_completions = nullptr;  // null: dropped
  CompletionRing* receive_completions = nullptr;
  bool solicited_receives = false;  // transport::QueuePairAttributes
  uint32_t pd = 0;
  uint32_t qp = 0;

  // The connection.
  bool initiator = false;
  MpaAgreement agreement;
  size_t mulpdu = 1460;  // largest DDP segment to send: iwarp::Mulpdu(EMSS, false)

  // Policy.
  // Sends and writes complete when the peer has confirmed them, not when TCP has them: as on
  // InfiniBand. Without effect towards a peer that takes no reads, or knows none of nothing.
  bool confirm = false;
  bool extensions = true;       // RFC 7306 operations may be sent (immediate data, atomics)
  bool short_reads = false;     // a read moves min(remote, local) instead of failing with kLength
  uint64_t rnr_timeout_us = 0;  // wait for a receive that long, then Terminate 1/2/2; 0: no limit
  uint64_t fin_grace_us = 1000000;  // the peer closed while data wait for a receive: wait that long
  // Payloads of that size are read to where they belong; shorter ones are copied there, which costs
  // less than the system call that it takes to read them by themselves.
  size_t direct_payload = 16 * 1024;
};

// The longest message or RDMA operation, in bytes: what the IA announces and the posts allow. DDP's
// message offset has 32 bits (RFC 5041 §4.2).
inline constexpr uint64_t kMaxMessage = uint64_t{1} << 31;
inline constexpr size_t kInlinePayload = 512;
inline constexpr size_t kStaging = 80 * 1024;  // of received bytes; an FPDU at least
// What is read and kept at most while a message waits for its receive and answers may stand behind
// it.
inline constexpr size_t kMostHeld = 8 << 20;
// Under way at a time.
inline constexpr uint32_t kMostConfirmations = 4;

// Bits of TakeActions().
enum : uint32_t {
  kActTransmit = 1u << 0,       // TransmitVector has something (or a bind to carry out)
  kActNotifySend = 1u << 1,     // send_completions->Notify(), without locks
  kActNotifyReceive = 1u << 2,  // receive_completions->Notify()
  kActSharedLimit = 1u << 3,    // the SRQ fell below its limit: SharedReceiveSink::OnLimit
  kActEstablished = 1u << 4,    // the first FPDU of the peer arrived (once)
  kActStalled = 1u << 5,  // stalled() became true: no receive is posted. With an SRQ: register as
                          // a waiter, then call OnReceivePosted() once more
  kActResumed = 1u << 6,  // stalled() became false: reading goes on
  kActTimer = 1u << 7,    // timer() changed: start it, or stop the one running
  kActEnded = 1u << 8,    // the connection is over and end() valid; all flushes are in the rings
  kActCloseWrite = 1u << 9,  // all that had to be sent is sent: shutdown(SHUT_WR), then drain and
                             // discard input until the peer's FIN or a bounded wait, then close
  kActAbort = 1u << 10,      // close with RST; nothing more to send
  kActWatermark = 1u << 11,  // the soft watermark was exceeded: ConnectionSink::OnReceiveWatermark
  kActOwes = 1u << 12,  // owes() holds: PayOwed() at the first turn that finds nothing else to do
};

// How the connection ended.
struct StreamEnd {
  transport::EndReason reason = transport::EndReason::kDisconnected;
  std::string why;       // one sentence for log and reason chain
  bool by_peer = false;  // the peer closed, terminated or vanished first
  bool abrupt = false;   // the own consumer's: the peer need not deliver what it still holds
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
  uint64_t bytes_copied_in = 0;  // payload that went through the staging buffer
  uint64_t bytes_direct_in = 0;  // payload received straight into its destination
  uint64_t bytes_inlined = 0;    // payload copied behind its header on the way out
  uint64_t stalls = 0;           // times that no receive was posted
  uint64_t remote_accesses_refused = 0;
};

class IovWriter;

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
  // Graceful: posted sends complete, own responses leave, then kActEnded and kActCloseWrite.
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
  bool stalled() const { return stalled_; }
  // Whether ReceiveVector wants bytes. A stalled stream reads on as long as answers that it waits
  // for may stand behind the message that stalls it.
  bool reads() const {
    if (phase_ > Phase::kDraining) return false;
    return !stalled_ ||
           (pending_front_ != pending_back_ && !fin_read_ && end_of_staging_ - begin_ < kMostHeld);
  }

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
    if (phase_ == Phase::kEnded) return last_words_sent_ < last_words_.size();
    return tx_front_ != tx_back_ || CanGather() || (PaysNow() && owes());
  }
  // Something small is to be sent for which nobody waits in a hurry: an answer to the peer's
  // confirmation, or the request for an own one. It rides on whatever is sent next.
  bool owes() const {
    return turn_ == Turn::kNone && (config_.initiator || first_fpdu_seen_) &&
           phase_ != Phase::kEnded && (response_gather_ != response_back_ || WantsConfirmation());
  }
  // It has waited long enough: TransmitVector offers it now.
  void PayOwed() { pay_ = true; }

  // ---- events ----

  // Whether TakeActions() would return any: most posts and messages leave nothing to do.
  bool has_actions() const { return actions_ != 0 || wants_transmit() || owes(); }
  // What to do now, kAct bits; cleared by the call.
  uint32_t TakeActions() {
    const uint32_t actions = std::exchange(actions_, 0) | (owes() ? uint32_t{kActOwes} : 0u);
    return wants_transmit() ? actions | kActTransmit : actions;
  }
  const StreamTimer& timer() const { return timer_; }
  void OnTimer(uint32_t id);
  bool ended() const { return phase_ == Phase::kEnded; }
  const StreamEnd& end() const { return end_; }
  // Whether the peer can be asked to confirm sends and writes.
  bool can_confirm() const { return CanConfirm(); }
  const StreamCounters& counters() const { return counters_; }
  // Receives taken by a message that has not completed: what a pair holds of its SRQ.
  uint32_t held_receives() const { return rx_receive_ != nullptr ? 1 : 0; }

 private:
  enum class Phase : uint8_t {
    kOpen,
    kDraining,     // graceful disconnect asked for: no new sends
    kTerminating,  // broken: answers that were due before are sent, then the Terminate
    kEnded,        // flushed; at most a Terminate or the rest of an FPDU is still to be sent
  };

  // An FPDU that was gathered and is not wholly sent yet.
  struct TxFpdu {
    uint32_t head = 0;  // arena offset of length field, DDP header and copied payload
    uint32_t head_size = 0;
    uint32_t payload = 0;       // bytes that leave from the consumer's memory, behind the head
    uint32_t trailer_size = 0;  // pad and CRC, in the arena behind the head
    uint32_t sent = 0;          // bytes of all this that TCP took
    enum class Source : uint8_t { kArena, kSend, kResponse } source = Source::kArena;
    bool ends_work = false;      // its last byte completes the send at `position`
    bool ends_response = false;  // its last byte frees the oldest response
    bool of_work = false;        // of a request in the send queue, or a confirmation of some
    bool asks = false;           // a request with an answer: the next of pending_
    uint64_t position = 0;       // kSend: in the send queue
    uint32_t segment = 0;        // kSend: where the payload begins in the work's segments
    uint32_t segment_offset = 0;
    uint32_t key = 0;  // kResponse: where the payload begins
    uint64_t offset = 0;
    uint32_t size() const { return head_size + payload + trailer_size; }
  };

  // A read or atomic request of the peer, until its response is sent.
  struct Response {
    iwarp::ReadRequest read;  // as asked
    uint32_t msn = 0;         // of the request
    uint32_t gathered = 0;    // bytes
    bool atomic = false;
    iwarp::AtomicResponse answer;
  };

  // An own read or atomic request that was sent and is not answered.
  struct PendingRead {
    uint64_t position = 0;    // in the send queue; kNoWork: the RTR, a confirmation
    uint64_t covers = 0;      // its answer confirms all work in front of this position
    iwarp::ReadRequest read;  // as asked
    uint32_t msn = 0;
    uint32_t placed = 0;  // bytes
    bool atomic = false;
    bool confirmation = false;
    uint32_t request_id = 0;
  };

  // Where the payload of the segment being received goes.
  struct RxCursor {
    uint64_t offset = 0;   // tagged: next TO
    uint32_t segment = 0;  // send: next segment of the receive and offset in it
    uint32_t segment_offset = 0;
  };

  // Where in a payload the next piece to send lies.
  struct TxCursor {
    uint32_t segment = 0;
    uint32_t segment_offset = 0;
    size_t done = 0;  // bytes
  };

  enum class RxPhase : uint8_t { kHeader, kPayload, kTrailer };
  enum class Verdict : uint8_t { kGo, kWait, kStop };
  enum class Emitted : uint8_t { kAll, kNoRoom, kLost };
  enum class Turn : uint8_t { kNone, kSend, kResponse };
  // What of an RDMA write is gathered next.
  enum class WriteStage : uint8_t { kData, kImmediate };

  // Which work a failure belongs to.
  struct Blame {
    static Blame Nobody() { return {}; }
    static Blame Send(uint64_t position, transport::WorkStatus status) {
      return {true, false, position, status};
    }
    static Blame Receive(transport::WorkStatus status) { return {false, true, 0, status}; }
    bool send = false;
    bool receive = false;  // the receive that the current message took
    uint64_t position = 0;
    transport::WorkStatus status = transport::WorkStatus::kSuccess;
  };

  static constexpr uint64_t kNoWork = ~uint64_t{0};

  // The work that a Terminate of the peer speaks about.
  struct Meant {
    uint64_t position = kNoWork;  // none, or no work of the consumer's
    bool named = false;           // beyond doubt; else a guess
  };

  static constexpr uint32_t kTxRing = 128;
  static constexpr size_t kTxPins = 64;
  // Read responses under CRC are copied there, see stream_gather.cc.
  static constexpr size_t kArena = 96 * 1024;
  friend StreamBlocks;
  static constexpr size_t kSendingBlock = kTxRing * sizeof(TxFpdu) + kTxPins * sizeof(Pin) + kArena;
  static constexpr size_t kRxPins = 16;

  // stream_post.cc
  bool GathersAtOnce(const SendWork& work) const;
  Code FillWork(const transport::SendRequest& request, SendWork* work, Segment* segments);
  Code FillTransfer(const transport::SendRequest& request, SendWork* work, Segment* segments);
  Code FillBind(const transport::SendRequest& request, SendWork* work) const;
  bool HavePending() { return pending_.allocated() || pending_.Allocate(pending_mask_ + 1); }

  // stream_confirm.cc
  bool CanConfirm() const { return slots_out_ > 0 && config_.agreement.empty_reads; }
  bool WantsConfirmation() const {
    return confirm_to_ > asked_ && phase_ != Phase::kTerminating && MayConfirm() &&
           (send_next_ == config_.send_queue->back() || SendBlocked());
  }
  // Several may be under way, so that the next messages do not wait for the answer to the ones
  // before. All but the first leave room for a request of the consumer's.
  bool MayConfirm() const {
    const uint32_t out = pending_back_ - pending_front_;
    const uint32_t kept = confirmations_out_ == 0 || config_.agreement.ord == 0 ? 0 : 1;
    return confirmations_out_ < kMostConfirmations && out + kept < slots_out_;
  }
  bool PaysNow() const { return pay_ || phase_ != Phase::kOpen; }
  void NoteGathered(const SendWork& work);
  void ConfirmAll();
  bool GatherConfirmation();
  void GatherOwed(IovWriter* out);
  void Confirmed(uint64_t position) { confirmed_ = std::max(confirmed_, position); }

  // stream_look_behind.cc
  bool HoldMore();
  void LookBehind();
  bool IsAnswer(const uint8_t* fpdu, size_t size) const;
  bool TakeAnswer(size_t at, size_t size);

  // stream_receive.cc
  void Process();
  bool ProcessHeader();
  bool ProcessPayload();
  bool NeedBytes(size_t total);
  bool MakeRoom(size_t wanted);
  void GiveStagingBack();
  void Stall();

  // stream_segment.cc
  static bool IsFixedForm(const iwarp::DdpHeader& h) {
    return !h.tagged && !iwarp::IsSend(h.opcode);
  }
  Verdict StartSegment(size_t ulpdu);
  Verdict StartWrite(size_t payload);
  Verdict StartReadResponse(size_t payload);
  Verdict StartSend(size_t payload);
  Verdict TakeReceive();
  bool WithinWatermarks();
  Verdict TakeFixed(ByteSpan payload);
  bool CheckFirstFpdu(size_t payload) const;
  void FinishSegment();
  void FinishSend();
  void TakeImmediate(ByteSpan payload);
  void CompleteReceive(transport::Op op, uint64_t length, uint32_t key, bool solicited);

  // stream_place.cc
  // Whether a program may poll the last bytes of the segment being received.
  bool EndIsPolled() const {
    return rx_header_.last &&
           (rx_header_.opcode == iwarp::Opcode::kWrite || iwarp::IsSend(rx_header_.opcode));
  }
  bool NextPiece(RxCursor* cursor, size_t want, AccessRequest* request) const;
  [[gnu::cold]] void RefusePlacement(AccessError error);
  bool Place(const uint8_t* data, size_t size);

  // stream_reads.cc: requests of the peer, and answers to own ones
  void TakeReadRequest(ByteSpan payload);
  void TakeAtomicRequest(ByteSpan payload);
  AccessError ExecuteAtomic(const iwarp::AtomicRequest& request, uint64_t* original);
  bool RoomForResponse();
  bool ReadsAllowed();
  void TakeAtomicResponse(ByteSpan payload);
  void FinishOldestRead();

  // stream_transmit.cc
  // Whether there is work or a response that is not wholly gathered, and it may be now.
  bool CanGather() const {
    return (send_next_ != config_.send_queue->back() || ResponseDue() || turn_ != Turn::kNone ||
            rtr_due_) &&
           MayGather();
  }
  // Whether a response is to be sent without waiting for something to ride on.
  bool ResponseDue() const { return static_cast<int32_t>(response_due_ - response_gather_) > 0; }
  bool MayGather() const;
  // Whether the work at send_next_ has to wait: for reads or atomics that are not answered, or
  // because nothing behind a failure is sent.
  bool SendBlocked() const {
    return failing_ || (pending_front_ != pending_back_ && WaitsForReads());
  }
  bool WaitsForReads() const;
  void NextTxPiece(const TxFpdu& fpdu, TxCursor* cursor, size_t want, AccessRequest* request) const;
  Emitted AcquireTx(const AccessRequest& request, uint8_t** address, AccessError* error);
  void ReleaseTxPins() {
    while (tx_pin_count_ > 0) tx_pins_[--tx_pin_count_].~Pin();
  }
  Emitted EmitPayload(const TxFpdu& fpdu, size_t skip, IovWriter* out, AccessError* error);
  Emitted Emit(const TxFpdu& fpdu, IovWriter* out, AccessError* error);
  bool EmitAt(uint32_t position, IovWriter* out);
  void GatherAndEmit(IovWriter* out, size_t max_bytes);
  [[gnu::cold]] void LoseFpdu(AccessError error);
  [[gnu::cold]] void TakeBackWork(uint64_t position);
  void CompleteSends();
  void CompleteOldestSend(transport::WorkStatus status);
  // Ends a graceful disconnect, or what precedes a Terminate, when nothing is left to do.
  void MaybeDone() {
    if (phase_ == Phase::kDraining) EndIfDrained();
    if (phase_ == Phase::kTerminating) EndIfAnswered();
  }
  void EndIfDrained();

  // stream_gather.cc
  bool TakeArena();
  void GiveArenaBack();
  TxFpdu* NewFpdu();
  void CommitFpdu(TxFpdu* fpdu, size_t ulpdu, uint32_t crc_state);
  void CommitCopied(TxFpdu* fpdu);
  bool Gather(bool alone);
  bool GatherRtr();
  bool GatherResponse(bool alone);
  bool GatherSend(bool alone);
  void EndOfWork(TxFpdu* fpdu, bool completes);
  void NextStage(const SendWork& work, TxFpdu* fpdu);
  bool FillData(TxFpdu* fpdu, size_t payload, bool alone, uint32_t* crc_state);
  bool GatherData(SendWork* work, bool alone);
  bool GatherImmediate(SendWork* work);
  bool GatherRead(SendWork* work);
  bool GatherAtomic(SendWork* work);

  // stream_refuse.cc
  bool CarryOutBind(SendWork* work, bool alone);
  [[gnu::cold]] void RefuseSend(AccessError error);
  [[gnu::cold]] void FailSend(transport::WorkStatus status, std::string why);
  [[gnu::cold]] void BreakIfAllInFrontIsOver();
  [[gnu::cold]] void RefuseResponse(AccessError error);

  // stream_finish.cc. What ends a connection is marked cold: it stays out of the way of what does
  // not.
  [[gnu::cold]] void Finish(transport::EndReason reason, std::string why, bool by_peer,
                            Blame blame);
  [[gnu::cold]] void Break(iwarp::TerminateCode code, ByteSpan ulpdu, size_t ulpdu_size,
                           Blame blame, const std::string& what);
  [[gnu::cold]] void BreakSegment(iwarp::TerminateCode code, Blame blame, const std::string& what);
  [[gnu::cold]] void EndIfAnswered();
  [[gnu::cold]] void FinishTerminating();
  void KeepLastWords();
  void KeepLastAnswers();
  void FlushSends(Blame blame);
  void FlushReceivesOf(Blame blame);
  [[gnu::cold]] void Abort(const std::string& why, Blame blame);
  void SetTimer(uint64_t delay_us);
  void StopTimer();

  // stream_terminate.cc
  void TakeTerminate(ByteSpan payload);
  Meant MeantBy(const iwarp::Terminate& terminate) const;
  Meant RequestMeant(const iwarp::Terminate& terminate, const iwarp::DdpHeader* header) const;
  Meant TransferMeant(const iwarp::DdpHeader& header) const;
  Meant OldestBegun() const;
  bool HasBegun(uint64_t position) const;

  void PushReceive(const transport::Completion& completion);
  uint32_t ReceiveDomain() const;

  const StreamConfig config_;
  const size_t mulpdu_;
  // Requests that may be outstanding here, and there, confirmations among them.
  const uint32_t slots_in_;
  const uint32_t slots_out_;
  Phase phase_ = Phase::kOpen;
  uint32_t actions_ = 0;
  StreamTimer timer_;
  uint32_t last_timer_ = 0;
  StreamEnd end_;
  StreamCounters counters_;

  // Receive side.
  uint8_t* staging_ = nullptr;             // borrowed while bytes are in it
  size_t begin_ = 0, end_of_staging_ = 0;  // unparsed bytes in staging_
  std::unique_ptr<uint8_t[]> held_;        // staging_ is here while more than a block is kept
  size_t staging_size_ = kStaging;
  size_t looked_to_ = 0;      // up to here LookBehind has seen what waits behind a stall
  size_t needed_ = 0;         // bytes that the frame at begin_ must have before it is looked at
  size_t read_ahead_ = 4096;  // how much to read into staging_, adapted to the traffic
  size_t staging_offered_ = 0, direct_offered_ = 0;
  bool segment_was_large_ = false;  // since the last read
  Pin rx_pins_[kRxPins];
  size_t rx_pin_count_ = 0;
  RxPhase rx_phase_ = RxPhase::kHeader;
  iwarp::DdpHeader rx_header_;
  size_t rx_ulpdu_ = 0, rx_payload_size_ = 0, rx_payload_left_ = 0, rx_trailer_left_ = 0;
  RxCursor rx_cursor_;  // tagged: of this segment; send: see rx_receive_cursor_
  RxCursor rx_receive_cursor_;
  ReceiveWork* rx_receive_ = nullptr;  // taken by the message on QN 0
  // The RDMA write that arrives or arrived last, for the immediate data that may follow it.
  uint64_t write_length_ = 0;
  bool write_open_ = false;      // its last segment is still to come
  bool write_in_front_ = false;  // it ended with the segment before this one
  std::array<iwarp::UntaggedSequence, iwarp::kQnCount> rx_queues_;
  bool first_fpdu_seen_ = false;
  bool stalled_ = false;
  bool peer_closing_ = false;  // FIN known although data are left
  bool fin_read_ = false;      // FIN read: nothing comes behind what is staged

  // Transmit side.
  // Borrowed while something is gathered, as one block. Heads and trailers are in the arena.
  uint8_t* arena_ = nullptr;
  TxFpdu* tx_ring_ = nullptr;
  Pin* tx_pins_ = nullptr;
  size_t arena_used_ = 0;
  uint32_t tx_front_ = 0, tx_back_ = 0;  // free-running
  size_t tx_pin_count_ = 0;
  size_t tx_offered_ = 0;
  bool rtr_due_ = false;
  Turn turn_ = Turn::kNone;     // whose message is being gathered
  bool response_next_ = false;  // fairness between messages
  uint64_t send_next_;          // work being gathered, or the next to be
  uint64_t send_offset_ = 0;    // its bytes gathered so far
  uint32_t send_segment_ = 0, send_segment_offset_ = 0;
  WriteStage send_stage_ = WriteStage::kData;
  uint32_t send_msn_ = iwarp::kFirstMsn, read_msn_ = iwarp::kFirstMsn;
  uint32_t atomic_response_msn_ = iwarp::kFirstMsn;
  uint32_t next_request_id_ = 1;
  RawArray<Response> responses_;  // at least ird + 1; with the first request
  uint32_t response_mask_ = 0;    // ring of a power of two
  uint32_t response_front_ = 0, response_gather_ = 0, response_back_ = 0;
  uint32_t response_due_ = 0;      // behind the last one that somebody waits for in a hurry
  RawArray<PendingRead> pending_;  // at least slots_out_ + 1; with the first request
  uint32_t pending_mask_ = 0;
  uint32_t pending_front_ = 0, pending_back_ = 0;
  uint32_t reads_out_ = 0;  // of those, without confirmations

  // Confirmation, as positions in the send queue.
  uint64_t confirmed_;              // the peer has carried out all in front of it
  uint64_t asked_;                  // what answers that are due will confirm
  uint64_t confirm_to_;             // what has to be confirmed
  uint64_t transfers_to_;           // behind the last send or write that was gathered
  uint64_t confirmable_to_;         // behind the last one that is over only when confirmed
  uint32_t confirmations_out_ = 0;  // not answered
  bool pay_ = false;                // see PayOwed()

  // The work at send_next_ has failed here: the connection breaks when all in front of it is over.
  bool failing_ = false;
  transport::WorkStatus failing_status_ = transport::WorkStatus::kSuccess;
  std::string failing_why_;

  // kTerminating.
  Blame terminating_blame_;
  std::vector<uint8_t> terminate_;   // the FPDU
  std::vector<uint8_t> last_words_;  // after the end: rest of an FPDU, answers, Terminate
  size_t last_words_sent_ = 0;
};

// ---- without a stream: a queue pair that is not connected ----

// Judges local segments: key, domain, rights, bounds. kOk, kProtection, kPrivileges, kOutOfBounds.
// `qp` may be 0 except for window sinks.
Code CheckLocalSegments(const MemoryTable& memory, uint32_t pd, uint32_t qp, Access access,
                        std::span<const Segment> segments);
// Completes every posted receive as flushed. Returns true when ring->Notify() is due.
bool FlushReceives(ReceiveQueue* queue, CompletionRing* ring, void* context);
// Pushes the flushed completion of a request that is posted after the end. The same return value.
bool FlushPostedSend(const transport::SendRequest& request, CompletionRing* ring, void* context);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_H_
