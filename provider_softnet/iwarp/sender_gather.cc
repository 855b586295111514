// SPDX-License-Identifier: BSD-3-Clause
// Sender: gathers work and responses into FPDUs, one at a time.
#include <algorithm>
#include <cstring>

#include "provider_softnet/iwarp/sender.h"
#include "provider_softnet/memory/brief_access.h"
#include "provider_softnet/queue/work_kinds.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::softnet {

using iwarp::Opcode;
using transport::Op;

namespace {

Opcode SendOpcode(const SendWork& work) {
  const bool solicited = (work.flags & transport::kSolicited) != 0;
  if (work.op == Op::kSendInvalidate) {
    return solicited ? Opcode::kSendSolicitedInvalidate : Opcode::kSendInvalidate;
  }
  return solicited ? Opcode::kSendSolicited : Opcode::kSend;
}

// The payload of the next segment of a message with `left` bytes that are not gathered.
size_t SegmentPayload(size_t mulpdu, size_t header, uint64_t left) {
  if (left <= mulpdu - header) return static_cast<size_t>(left);
  return iwarp::FullSegmentPayload(mulpdu, header);
}

}  // namespace

bool Sender::Gather(bool alone) {
  if (rtr_due_) return GatherRtr();
  if (turn_ == Turn::kResponse) return GatherResponse(alone);
  if (turn_ == Turn::kSend) return GatherSend(alone);
  if (peer_.Due() && (response_next_ || state_.phase == Phase::kTerminating || !HasSend())) {
    response_next_ = false;
    return GatherResponse(alone);
  }
  response_next_ = true;
  return GatherSend(alone);
}

// A free descriptor. Null when there is no room, and when there is no memory.
TxFpdu* Sender::NewFpdu() {
  if (HaveBuffer()) [[likely]]
    return buffer_.New();
  Report(SendProblem::Kind::kNoBlock, AccessError::kNone);
  return nullptr;
}

// Gathers the zero-length message that lets a peer-to-peer responder send (RFC 6581 §4), or that
// asks whether a peer that closed is still there.
bool Sender::GatherRtr() {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  uint8_t* head = buffer_.head_of(*fpdu);
  if (state_.config.agreement.rtr == Rtr::kRead && !state_.peer_closing) {
    OwnRequest& request = own_.Prepare();
    request.position = kNoWork;
    request.covers = next_;
    request.msn = read_msn_;
    request.read.source_stag = kNoStag;
    iwarp::EncodeReadRequestFpduHead(head, read_msn_++, request.read);
    fpdu->head_size = iwarp::kReadRequestFpduHeadSize;
    own_.Add();
  } else {
    iwarp::EncodeTaggedFpduHeader(head, Opcode::kWrite, /*last=*/true, kNoStag, 0, 0);
    fpdu->head_size = iwarp::kTaggedFpduHeaderSize;
    ++writes_;
  }
  buffer_.CommitCopied(fpdu);
  rtr_due_ = false;
  return true;
}

bool Sender::GatherResponse(bool alone) {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  PeerRequest& r = peer_.gathering();
  uint8_t* head = buffer_.head_of(*fpdu);
  if (r.atomic) {
    iwarp::EncodeUntaggedFpduHeader(head, Opcode::kAtomicResponse, /*last=*/true, 0,
                                    iwarp::kQnAtomicResponse, atomic_response_msn_++, 0,
                                    iwarp::kAtomicResponseSize);
    iwarp::EncodeAtomicResponse(head + iwarp::kUntaggedFpduHeaderSize, r.answer);
    fpdu->head_size = iwarp::kUntaggedFpduHeaderSize + iwarp::kAtomicResponseSize;
    fpdu->ends_response = true;
    buffer_.CommitCopied(fpdu);
    peer_.Gathered();
    return true;
  }
  const bool crc = state_.config.agreement.crc;
  const uint32_t left = r.read.size - r.gathered;
  size_t payload = SegmentPayload(state_.mulpdu, iwarp::kTaggedHeaderSize, left);
  const bool copied = crc || payload <= kInlinePayload;
  if (copied) payload = std::min(payload, SendBuffer::kCopiedResponse);
  const bool last = payload == left;
  fpdu->source = copied ? TxFpdu::Source::kArena : TxFpdu::Source::kResponse;
  fpdu->key = r.read.source_stag;
  fpdu->offset = r.read.source_to + r.gathered;
  iwarp::EncodeTaggedFpduHeader(head, Opcode::kReadResponse, last, r.read.sink_stag,
                                r.read.sink_to + r.gathered, payload);
  fpdu->head_size = iwarp::kTaggedFpduHeaderSize;
  if (payload > 0) {
    const AccessRequest piece =
        state_.Access(fpdu->key, Access::kRemoteRead, fpdu->offset, payload);
    uint8_t* address = nullptr;
    AccessError error = AccessError::kNone;
    const SendBuffer::Access got = buffer_.Pin(state_.memory(), piece, &address, &error);
    if (got == SendBuffer::Access::kRefused && alone) Report(SendProblem::Kind::kResponse, error);
    if (got != SendBuffer::Access::kGranted) return false;
    if (copied) {
      std::memcpy(head + fpdu->head_size, address, payload);
      fpdu->head_size += static_cast<uint32_t>(payload);
      state_.counters.bytes_inlined += payload;
    } else {
      fpdu->payload = static_cast<uint32_t>(payload);
    }
  }
  fpdu->ends_response = last;
  if (copied) {
    buffer_.CommitCopied(fpdu);
  } else {
    buffer_.Commit(fpdu, iwarp::kTaggedHeaderSize + payload, 0);
  }
  r.gathered += static_cast<uint32_t>(payload);
  turn_ = last ? Turn::kNone : Turn::kResponse;
  if (last) peer_.Gathered();
  return true;
}

bool Sender::GatherSend(bool alone) {
  SendWork& work = sends_.at(next_);
  switch (work.op) {
    case Op::kBind:
      return GatherBind(&work, alone);
    case Op::kRdmaRead:
      return GatherRead(&work);
    case Op::kFetchAdd:
    case Op::kCompareSwap:
      return GatherAtomic(&work);
    case Op::kRdmaWriteImmediate:
      // The immediate data are their own message. Even an empty write goes before it, because the
      // receiver takes the length that it reports from the write directly in front.
    case Op::kRdmaWrite:
      if (stage_ == WriteStage::kImmediate) return GatherImmediate(&work);
      return GatherData(&work, alone);
    default:
      return GatherData(&work, alone);
  }
}

// `work`, at next_, is wholly gathered.
[[gnu::hot]] void Sender::EndOfWork(const SendWork& work) {
  confirmation_.NoteGathered(sends_, next_, work);
  if (state_.phase == Phase::kDraining && IsUnanswered(work.op)) ConfirmAll();
  ++next_;
  offset_ = 0;
  segment_ = segment_offset_ = 0;
  stage_ = WriteStage::kData;
  turn_ = Turn::kNone;
}

// The same for work that is complete when `fpdu`, its last one, is sent.
[[gnu::hot]] void Sender::EndOfWork(const SendWork& work, TxFpdu* fpdu) {
  fpdu->ends_work = true;
  fpdu->position = next_;
  EndOfWork(work);
}

// The data or the immediate data of the write at next_ are gathered, the latter in `fpdu`.
void Sender::NextStage(const SendWork& work, TxFpdu* fpdu) {
  if (stage_ != WriteStage::kData || work.op != Op::kRdmaWriteImmediate) {
    return EndOfWork(work, fpdu);
  }
  stage_ = WriteStage::kImmediate;
  turn_ = Turn::kSend;  // nothing may come between: the immediate data belong to this write
}

// Copies a payload that lies in one segment. Returns false when it does not, or cannot be read now.
[[gnu::hot]] bool Sender::CopyInOne(const TxFpdu& fpdu, size_t payload, uint8_t* to) {
  if (payload == 0) return true;
  const Segment& s = sends_.segments(fpdu.position)[fpdu.segment];
  if (payload > s.segment_length - fpdu.segment_offset) return false;
  const BriefAccess from(state_.memory(),
                         state_.Access(s.lmr_context, Access::kLocalRead,
                                       s.virtual_address + fpdu.segment_offset, payload));
  if (!from.granted()) return false;
  std::memcpy(to, from.address(), payload);
  return true;
}

// Brings the payload of a send or write into `fpdu`. Copies small ones. Returns false when it
// cannot be read now.
[[gnu::hot]] bool Sender::FillData(TxFpdu* fpdu, size_t payload, bool alone, uint32_t* crc_state) {
  const bool crc = state_.config.agreement.crc;
  const bool copied = payload <= kInlinePayload || sends_.at(next_).length <= kInlineMessage;
  uint8_t* head = buffer_.head_of(*fpdu);
  if (crc) *crc_state = Crc32cExtend(kCrc32cInit, head, fpdu->head_size);
  if (copied && !crc && CopyInOne(*fpdu, payload, head + fpdu->head_size)) {
    fpdu->head_size += static_cast<uint32_t>(payload);
  } else if (copied || crc) {
    Cursor cursor{fpdu->segment, fpdu->segment_offset, 0};
    Pin pin;
    while (cursor.done < payload) {
      AccessRequest piece;
      NextPiece(*fpdu, &cursor, payload - cursor.done, &piece);
      uint8_t* address = nullptr;
      if (!pin.Covers(piece, &address)) {
        pin.Release();
        const AccessError error = state_.memory().Acquire(piece, &pin);
        if (error != AccessError::kNone) {
          if (alone) Report(SendProblem::Kind::kMemory, error);
          return false;
        }
        address = pin.address();
      }
      if (copied) std::memcpy(head + fpdu->head_size, address, piece.length);
      if (copied) fpdu->head_size += static_cast<uint32_t>(piece.length);
      if (crc) *crc_state = Crc32cExtend(*crc_state, address, piece.length);
    }
  }
  if (copied) {
    fpdu->source = TxFpdu::Source::kArena;
    state_.counters.bytes_inlined += payload;
  } else {
    fpdu->payload = static_cast<uint32_t>(payload);
  }
  return true;
}

[[gnu::hot]] bool Sender::GatherData(SendWork* work, bool alone) {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  const bool write = IsWrite(work->op);
  const size_t header = write ? iwarp::kTaggedHeaderSize : iwarp::kUntaggedHeaderSize;
  const uint64_t left = work->length - offset_;
  const size_t payload = SegmentPayload(state_.mulpdu, header, left);
  const bool last = payload == left;
  uint8_t* head = buffer_.head_of(*fpdu);
  if (write) {
    work->msn = writes_;
    const bool as_parting_word = work->remote.key == kPartingStag && work->length == 0;
    iwarp::EncodeTaggedFpduHeader(head, Opcode::kWrite, last,
                                  as_parting_word ? kNoStag : work->remote.key,
                                  work->remote.address + offset_, payload);
  } else {
    work->msn = send_msn_;
    const uint32_t invalidate = work->op == Op::kSendInvalidate ? work->key : 0;
    iwarp::EncodeUntaggedFpduHeader(head, SendOpcode(*work), last, invalidate, iwarp::kQnSend,
                                    send_msn_, static_cast<uint32_t>(offset_), payload);
  }
  fpdu->head_size = static_cast<uint32_t>(iwarp::kFpduLengthSize + header);
  fpdu->source = TxFpdu::Source::kSend;
  fpdu->of_work = true;
  fpdu->position = next_;
  fpdu->segment = segment_;
  fpdu->segment_offset = segment_offset_;
  uint32_t crc_state = 0;
  if (!FillData(fpdu, payload, alone, &crc_state)) return false;
  buffer_.Commit(fpdu, header + payload, crc_state);
  if (!last) {
    MoveOn(payload);
  } else if (write) {
    ++writes_;
    NextStage(*work, fpdu);
  } else {
    ++send_msn_;
    EndOfWork(*work, fpdu);
  }
  return true;
}

// `payload` bytes of the work at next_ are gathered, and more of it is left.
void Sender::MoveOn(size_t payload) {
  turn_ = Turn::kSend;
  offset_ += payload;
  TxFpdu here;
  here.source = TxFpdu::Source::kSend;
  here.position = next_;
  Cursor cursor{segment_, segment_offset_, 0};
  AccessRequest unused;
  while (cursor.done < payload) NextPiece(here, &cursor, payload - cursor.done, &unused);
  segment_ = cursor.segment;
  segment_offset_ = cursor.segment_offset;
}

bool Sender::GatherImmediate(SendWork* work) {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  const bool solicited = (work->flags & transport::kSolicited) != 0;
  const bool as_message = (work->flags & transport::kAsMessage) != 0;
  const Opcode immediate = solicited ? Opcode::kImmediateSolicited : Opcode::kImmediate;
  const size_t payload = as_message ? sizeof(work->key) : iwarp::kImmediateSize;
  work->msn = send_msn_;
  uint8_t* head = buffer_.head_of(*fpdu);
  iwarp::EncodeUntaggedFpduHeader(head, as_message ? SendOpcode(*work) : immediate, /*last=*/true,
                                  0, iwarp::kQnSend, send_msn_++, 0, payload);
  uint8_t* const value = head + iwarp::kUntaggedFpduHeaderSize;
  if (as_message) {
    std::memcpy(value, &work->key, sizeof(work->key));
  } else {
    iwarp::EncodeImmediate(value, work->key);
  }
  fpdu->head_size = static_cast<uint32_t>(iwarp::kUntaggedFpduHeaderSize + payload);
  fpdu->of_work = true;
  buffer_.CommitCopied(fpdu);
  NextStage(*work, fpdu);
  return true;
}

// The prepared request of `work` is gathered.
void Sender::AddRequest(SendWork* work) {
  own_.Add();
  confirmation_.Asked(next_);
  ++work->reads_pending;
}

// Gathers one request per local segment, since a request has one sink. An empty read is one request
// of size 0.
bool Sender::GatherRead(SendWork* work) {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  OwnRequest& request = own_.Prepare();
  request.position = request.covers = next_;
  request.msn = read_msn_;
  request.read.source_stag = work->remote.key;
  request.read.source_to = work->remote.address + offset_;
  const uint64_t left = work->length - offset_;
  if (left > 0) {
    const Segment& s = sends_.segments(next_)[segment_++];
    request.read.sink_stag = s.lmr_context;
    request.read.sink_to = s.virtual_address;
    request.read.size = static_cast<uint32_t>(std::min<uint64_t>(left, s.segment_length));
  }
  iwarp::EncodeReadRequestFpduHead(buffer_.head_of(*fpdu), read_msn_++, request.read);
  fpdu->head_size = iwarp::kReadRequestFpduHeadSize;
  fpdu->of_work = fpdu->asks = true;
  buffer_.CommitCopied(fpdu);
  AddRequest(work);
  offset_ += request.read.size;
  if (offset_ == work->length) {
    work->all_sent = true;
    EndOfWork(*work);
  }
  return true;
}

bool Sender::GatherAtomic(SendWork* work) {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  iwarp::AtomicRequest atomic;
  atomic.request_id = next_request_id_++;
  atomic.stag = work->remote.key;
  atomic.to = work->remote.address;
  atomic.add_or_swap = work->remote.swap_or_add;
  if (work->op == Op::kCompareSwap) {
    atomic.op = iwarp::kAtomicCmpSwap;
    atomic.add_or_swap_mask = atomic.compare_mask = ~uint64_t{0};
    atomic.compare = work->remote.compare;
  }
  OwnRequest& request = own_.Prepare();
  request.position = request.covers = next_;
  request.msn = read_msn_;
  request.atomic = true;
  request.request_id = atomic.request_id;
  uint8_t* head = buffer_.head_of(*fpdu);
  iwarp::EncodeUntaggedFpduHeader(head, Opcode::kAtomicRequest, /*last=*/true, 0,
                                  iwarp::kQnReadRequest, read_msn_++, 0, iwarp::kAtomicRequestSize);
  iwarp::EncodeAtomicRequest(head + iwarp::kUntaggedFpduHeaderSize, atomic);
  fpdu->head_size = iwarp::kUntaggedFpduHeaderSize + iwarp::kAtomicRequestSize;
  fpdu->of_work = fpdu->asks = true;
  buffer_.CommitCopied(fpdu);
  AddRequest(work);
  work->all_sent = true;
  EndOfWork(*work);
  return true;
}

// Binds are carried out in send-queue order: later posts are gathered later (semantics 7.3,
// implicit barrier). A bind waits until pins are released, so this thread may hold none. Therefore
// it is carried out only when nothing is offered.
bool Sender::GatherBind(SendWork* work, bool alone) {
  if (!alone) return false;
  buffer_.ReleasePins();
  const AccessError error = ledger_.CarryOutBind(*work);
  if (error != AccessError::kNone) {
    Report(SendProblem::Kind::kBind, error);
    return false;
  }
  work->done = true;
  EndOfWork(*work);
  state_.unsettled = true;
  return true;
}

// Gathers a read of nothing. Its keys name nothing, since a size of 0 is not checked.
bool Sender::GatherConfirmation() {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  OwnRequest& request = own_.Prepare();
  request.position = kNoWork;
  request.covers = next_;
  request.msn = read_msn_;
  request.confirmation = true;
  request.read.source_stag = kNoStag;
  iwarp::EncodeReadRequestFpduHead(buffer_.head_of(*fpdu), read_msn_++, request.read);
  fpdu->head_size = iwarp::kReadRequestFpduHeadSize;
  fpdu->of_work = fpdu->asks = true;
  buffer_.CommitCopied(fpdu);
  own_.Add();
  confirmation_.Asked(next_);
  return true;
}

void Sender::GatherOwed(IovWriter* out) {
  pay_ = false;
  peer_.MakeAllDue();
  while (peer_.Due()) {
    const uint32_t before = buffer_.back();
    if (!GatherResponse(/*alone=*/out->bytes() == 0) || !EmitAt(before, out)) return;
  }
  uint32_t before = buffer_.back();
  if (WantsConfirmation() && GatherConfirmation() && !EmitAt(before, out)) return;
  before = buffer_.back();
  if (parting_word_ && GatherPartingWord()) EmitAt(before, out);
}

bool Sender::GatherPartingWord() {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  iwarp::EncodeTaggedFpduHeader(buffer_.head_of(*fpdu), Opcode::kWrite, /*last=*/true, kPartingStag,
                                PartingOffset(*parting_word_), 0);
  fpdu->head_size = iwarp::kTaggedFpduHeaderSize;
  buffer_.CommitCopied(fpdu);
  parting_word_.reset();
  return true;
}

}  // namespace softdat::softnet
