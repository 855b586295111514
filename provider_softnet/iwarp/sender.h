// SPDX-License-Identifier: BSD-3-Clause
// The sending half of a stream. It turns work of the send queue, answers to the peer, and
// confirmations into FPDUs, and offers them to the driver. Responses to the peer's reads and our
// own send queue take turns, message by message.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_SENDER_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_SENDER_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "provider_softnet/iwarp/confirmation.h"
#include "provider_softnet/iwarp/iov_writer.h"
#include "provider_softnet/iwarp/own_requests.h"
#include "provider_softnet/iwarp/parting_word.h"
#include "provider_softnet/iwarp/peer_requests.h"
#include "provider_softnet/iwarp/send_buffer.h"
#include "provider_softnet/iwarp/stream_state.h"
#include "wire/iwarp/ddp.h"

namespace softdat::softnet {

// What could not be sent. Nothing is offered then.
struct SendProblem {
  enum class Kind : uint8_t {
    kNone,
    kMemory,    // that of the request whose turn it is
    kBind,      // the bind failed
    kHalfSent,  // the memory was freed in the middle of an FPDU
    kResponse,  // the source of the peer's oldest request
    kNoBlock,   // there is no memory for FPDUs
  } kind = Kind::kNone;
  AccessError error = AccessError::kNone;
  std::optional<uint64_t> position;  // kHalfSent: that of the request, if it is one
};

class Sender {
 public:
  // All pointers are borrowed and must outlive it.
  Sender(StreamState* state, WorkLedger* ledger, OwnRequests* own, PeerRequests* peer,
         Confirmation* confirmation);

  // ---- posts ----

  // Whether a message that is posted now has nothing in front of it that is not gathered yet.
  bool IsFree() const {
    return state_.phase == Phase::kOpen && next_ == sends_.back() && !peer_.Due() &&
           turn_ == Turn::kNone && !rtr_due_ && MaySpeak();
  }
  // Whether the request may go the short way (sender_short.cc).
  bool IsShort(const transport::SendRequest& request) const {
    constexpr uint8_t kPlain = transport::kSuppress | transport::kEchoed;
    return request.local.size() <= 1 && (request.flags & ~kPlain) == 0 &&
           (request.op == transport::Op::kSend || request.op == transport::Op::kRdmaWrite) &&
           !state_.config.agreement.crc && IsFree();
  }
  // Posts and gathers a request that IsShort(). Returns false when it must go the general way after
  // all. Then nothing has changed, but the buffer may have been taken.
  bool PostShort(const transport::SendRequest& request, bool confirm);
  // A message of one small segment with nothing in front of it becomes an FPDU in the post itself.
  // Its memory is looked up once, and nothing is left to look up when it is transmitted.
  bool GathersAtOnce(const SendWork& work) const {
    return work.length <= kInlineMessage &&
           work.length + iwarp::kMaxDdpHeaderSize <= state_.mulpdu && IsFree() &&
           (work.flags & transport::kFence) == 0 &&
           (IsSendOp(work.op) || work.op == transport::Op::kRdmaWrite);
  }
  // Gathers the work that was just committed. Returns false and does nothing when its memory cannot
  // be read, or there is no room for it now.
  bool GatherPosted(SendWork* work) { return GatherData(work, /*alone=*/false); }
  bool HaveBuffer() { return buffer_.taken() || buffer_.Take(); }
  void KeepBuffer(bool keep) { buffer_.Keep(keep); }

  // ---- what is to be sent ----

  // The position of the work that is being gathered, or of the next work.
  uint64_t next() const { return next_; }
  // Whether a part of the work at `position` was gathered.
  bool HasBegun(uint64_t position) const {
    if (position != next_) return position < next_;
    return offset_ > 0 || stage_ == WriteStage::kImmediate;
  }
  bool InMiddleOfRequest() const { return turn_ == Turn::kSend; }
  bool empty() const { return buffer_.empty(); }
  bool rtr_due() const { return rtr_due_; }
  // Whether there is work or a response that is not wholly gathered and may be gathered now.
  bool CanGather() const {
    return (next_ != sends_.back() || peer_.Due() || turn_ != Turn::kNone || rtr_due_) &&
           MayGather();
  }
  // Whether there is nothing to send, urgent or not. This is so after most posts and messages, and
  // costs less to find out than what would be sent.
  bool idle() const { return buffer_.empty() && AllIsGathered(); }
  bool wants_transmit() const { return !buffer_.empty() || CanGather() || (PaysNow() && owes()); }
  // Something small and not urgent: an answer to the peer's confirmation, or our own request for
  // one. It travels with whatever is sent next.
  // Our request travels with what is gathered already, if there is something.
  bool owes() const { return Owes(/*confirmation=*/buffer_.empty()); }
  bool PaysNow() const { return pay_ || state_.phase != Phase::kOpen; }
  void Pay() { pay_ = true; }

  // Gathers and offers up to about `max_bytes`, and carries out binds on the way. If something
  // cannot go on, TakeProblem() tells it, and nothing is offered.
  void Offer(IovWriter* out, size_t max_bytes);
  bool has_problem() const { return problem_.kind != SendProblem::Kind::kNone; }
  SendProblem TakeProblem() { return std::exchange(problem_, {}); }
  void ReleasePins() { buffer_.ReleasePins(); }
  void GiveBufferBackIfEmpty() {
    if (buffer_.empty()) buffer_.GiveBackUnlessKept();
  }
  // TCP took `size` bytes of what was offered. Returns true when that completed work.
  bool OnTransmitted(size_t size);

  // ---- the end ----

  // The work at next() has failed. Nothing after it is sent.
  void Stop() {
    stopped_ = true;
    AbandonRequest();
  }
  bool stopped() const { return stopped_; }
  // The rest of the request that is being gathered is not sent.
  void AbandonRequest() {
    if (turn_ == Turn::kSend) turn_ = Turn::kNone;
  }
  void AbandonResponse() { turn_ = Turn::kNone; }
  // Asks whether a peer that closed is still there, with the zero-length write of RFC 6581.
  void ProbePeer() { rtr_due_ = true; }
  void ForgetRtr() { rtr_due_ = false; }
  // Says what was carried out of the peer's messages, although the connection goes on for a moment.
  void SayPartingWord(const TransferCounts& carried_out) { parting_word_ = carried_out; }
  // How far the peer has carried out what was sent, by its parting word.
  uint64_t CarriedOut(const TransferCounts& by_peer) const;
  // Asks to confirm everything that was sent or is under way.
  void ConfirmAll() {
    if (confirmation_.possible() && own_.Have()) confirmation_.WantAll();
  }
  // Appends the rest of an FPDU whose first bytes are sent. Without it the peer could not read on.
  // Returns false when its memory is gone.
  [[nodiscard]] bool AppendRest(std::vector<uint8_t>* words);
  // Answers of which nothing was sent may follow the rest, from the `first`-th oldest on. Returns
  // nothing when an answer is half gathered.
  std::optional<uint32_t> FirstUnsentAnswer() const;
  // Nothing more is sent.
  void End() {
    buffer_.DropAll();
    buffer_.GiveBack();
    rtr_due_ = false;
    next_ = sends_.back();
  }

 private:
  enum class Turn : uint8_t { kNone, kSend, kResponse };
  // The part of an RDMA write that is gathered next.
  enum class WriteStage : uint8_t { kData, kImmediate };
  enum class Emitted : uint8_t { kAll, kNoRoom, kLost };
  // The place in a payload of the next piece to send.
  struct Cursor {
    uint32_t segment = 0;
    uint32_t segment_offset = 0;
    size_t done = 0;  // bytes
  };

  // A responder sends nothing before the initiator's first FPDU (RFC 5044 §7.1.2).
  bool MaySpeak() const { return state_.config.initiator || state_.first_fpdu_seen; }
  bool MayGather() const;
  // Whether there is work at next_ that need not wait.
  bool HasSend() const { return next_ != sends_.back() && !Blocked(); }
  // Whether the work at next_ has to wait: for unanswered reads or atomics, or because nothing is
  // sent after a failure.
  bool Blocked() const { return stopped_ || (!own_.empty() && WaitsForReads()); }
  bool WaitsForReads() const;
  bool AllIsGathered() const {
    return next_ == sends_.back() && turn_ == Turn::kNone && !rtr_due_ && !peer_.AnyToGather() &&
           !confirmation_.Wanted() && !parting_word_;
  }
  bool RoomForRequest() const;
  bool Owes(bool confirmation) const {
    return (peer_.AnyToGather() || (confirmation && WantsConfirmation()) || parting_word_) &&
           turn_ == Turn::kNone && MaySpeak() && state_.phase != Phase::kEnded;
  }
  bool WantsConfirmation() const { return confirmation_.Wanted() && MayConfirm(); }
  bool MayConfirm() const;

  // sender_gather.cc
  bool Gather(bool alone);  // only if CanGather()
  bool GatherRtr();
  bool GatherResponse(bool alone);
  bool GatherSend(bool alone);
  TxFpdu* NewFpdu();
  void EndOfWork(const SendWork& work);
  void EndOfWork(const SendWork& work, TxFpdu* fpdu);
  void NextStage(const SendWork& work, TxFpdu* fpdu);
  bool CopyInOne(const TxFpdu& fpdu, size_t payload, uint8_t* to);
  bool FillData(TxFpdu* fpdu, size_t payload, bool alone, uint32_t* crc_state);
  bool GatherData(SendWork* work, bool alone);
  void MoveOn(size_t payload);
  bool GatherImmediate(SendWork* work);
  bool GatherRead(SendWork* work);
  bool GatherAtomic(SendWork* work);
  bool GatherBind(SendWork* work, bool alone);
  bool GatherConfirmation();
  bool GatherPartingWord();
  void GatherOwed(IovWriter* out);
  void AddRequest(SendWork* work);

  // sender.cc
  bool OnAllTransmitted();
  void NextPiece(const TxFpdu& fpdu, Cursor* cursor, size_t want, AccessRequest* request) const;
  Emitted EmitPayload(const TxFpdu& fpdu, size_t skip, IovWriter* out, AccessError* error);
  bool EmitCopied(const TxFpdu& fpdu, IovWriter* out) const;
  Emitted Emit(const TxFpdu& fpdu, IovWriter* out, AccessError* error);
  bool EmitAt(uint32_t position, IovWriter* out);
  [[gnu::cold]] void LoseOldest(AccessError error);
  [[gnu::cold]] void TakeBackWork(uint64_t position);
  [[gnu::cold]] void Report(SendProblem::Kind kind, AccessError error) {
    problem_ = {kind, error, std::nullopt};
  }

  StreamState& state_;
  WorkLedger& ledger_;
  SendQueue& sends_;
  OwnRequests& own_;
  PeerRequests& peer_;
  Confirmation& confirmation_;
  SendBuffer buffer_;
  bool rtr_due_;
  Turn turn_ = Turn::kNone;     // whose message is being gathered
  bool response_next_ = false;  // fairness between messages
  bool pay_ = false;            // what is owed has waited long enough
  bool stopped_ = false;
  WriteStage stage_ = WriteStage::kData;
  uint64_t next_;        // the work being gathered, or the next
  uint64_t offset_ = 0;  // how many of its bytes are gathered
  uint32_t segment_ = 0, segment_offset_ = 0;
  uint32_t send_msn_ = iwarp::kFirstMsn, read_msn_ = iwarp::kFirstMsn;
  uint32_t writes_ = 0;  // RDMA Writes that were gathered; wraps
  uint32_t atomic_response_msn_ = iwarp::kFirstMsn;
  uint32_t next_request_id_ = 1;
  std::optional<TransferCounts> parting_word_;  // is to be said
  SendProblem problem_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_SENDER_H_
