// SPDX-License-Identifier: BSD-3-Clause
// Gathering: turns work and responses into FPDUs, one at a time. Responses of the peer's reads and
// the own send queue take turns, message by message.
#include <algorithm>
#include <cstring>
#include <new>

#include "provider_softnet/iwarp/stream.h"
#include "provider_softnet/iwarp/work_kinds.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::softnet {

using iwarp::Opcode;
using transport::Op;

namespace {

// Arena room that one FPDU takes at most: head, copied payload, trailer.
constexpr size_t kFpduRoom = iwarp::kUntaggedFpduHeaderSize +
                             std::max(kInlinePayload, iwarp::kAtomicRequestSize) +
                             iwarp::kFpduMaxTrailer;
// With CRC, read responses are copied before they are summed: their memory may change at any time,
// and a sum that no longer fits would kill the connection.
constexpr size_t kCopiedResponse = 16 * 1024;

Opcode SendOpcode(const SendWork& work) {
  const bool solicited = (work.flags & transport::kSolicited) != 0;
  if (work.op == Op::kSendInvalidate) {
    return solicited ? Opcode::kSendSolicitedInvalidate : Opcode::kSendInvalidate;
  }
  return solicited ? Opcode::kSendSolicited : Opcode::kSend;
}

// Payload of the next segment of a message of which `left` bytes are not gathered.
size_t SegmentPayload(size_t mulpdu, size_t header, uint64_t left) {
  if (left <= mulpdu - header) return static_cast<size_t>(left);
  return iwarp::FullSegmentPayload(mulpdu, header);
}

}  // namespace

// False without memory. Nothing is gathered yet.
bool Stream::TakeArena() {
  uint8_t* const block = config_.blocks->sending.Take(this);
  if (block == nullptr) return false;
  // Elements begin their lives in NewFpdu() and AcquireTx().
  tx_ring_ = reinterpret_cast<TxFpdu*>(block);
  tx_pins_ = reinterpret_cast<Pin*>(tx_ring_ + kTxRing);
  arena_ = reinterpret_cast<uint8_t*>(tx_pins_ + kTxPins);
  arena_used_ = 0;
  return true;
}

// Nothing is gathered any more.
void Stream::GiveArenaBack() {
  if (arena_ == nullptr) return;
  ReleaseTxPins();
  config_.blocks->sending.Give(this, reinterpret_cast<uint8_t*>(std::exchange(tx_ring_, nullptr)));
  arena_ = nullptr;
}

// A free descriptor, or null while there is no room.
Stream::TxFpdu* Stream::NewFpdu() {
  if (tx_back_ - tx_front_ == kTxRing) return nullptr;
  const size_t room = kFpduRoom + (config_.agreement.crc ? kCopiedResponse : 0);
  if (kArena - arena_used_ < room) return nullptr;
  TxFpdu* fpdu = &tx_ring_[tx_back_ % kTxRing];
  new (fpdu) TxFpdu();
  fpdu->head = static_cast<uint32_t>(arena_used_);
  return fpdu;
}

// Adds the trailer and puts the FPDU in the ring. `crc_state` covers all but the pad.
void Stream::CommitFpdu(TxFpdu* fpdu, size_t ulpdu, uint32_t crc_state) {
  uint8_t* trailer = arena_ + fpdu->head + fpdu->head_size;
  const size_t size = config_.agreement.crc ? iwarp::StoreFpduTrailer(trailer, ulpdu, crc_state)
                                            : iwarp::StoreFpduTrailerWithoutCrc(trailer, ulpdu);
  fpdu->trailer_size = static_cast<uint32_t>(size);
  arena_used_ = fpdu->head + fpdu->head_size + fpdu->trailer_size;
  ++tx_back_;
}

// For FPDUs that lie in the arena as a whole.
void Stream::CommitCopied(TxFpdu* fpdu) {
  uint32_t state = kCrc32cInit;
  if (config_.agreement.crc) {
    state = Crc32cExtend(state, arena_ + fpdu->head, fpdu->head_size);
  }
  CommitFpdu(fpdu, fpdu->head_size - iwarp::kFpduLengthSize, state);
}

bool Stream::Gather(bool alone) {
  if (rtr_due_) return GatherRtr();
  if (turn_ == Turn::kResponse) return GatherResponse(alone);
  if (turn_ == Turn::kSend) return GatherSend(alone);
  const bool response = ResponseDue();
  const bool send =
      phase_ != Phase::kTerminating && send_next_ != config_.send_queue->back() && !SendBlocked();
  if (response && (response_next_ || !send)) {
    response_next_ = false;
    return GatherResponse(alone);
  }
  if (!send) return false;
  response_next_ = true;
  return GatherSend(alone);
}

// The zero-length message that lets a peer-to-peer responder send (RFC 6581 §4), or that asks
// whether a peer which closed is still there.
bool Stream::GatherRtr() {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  uint8_t* head = arena_ + fpdu->head;
  if (config_.agreement.rtr == Rtr::kRead && !peer_closing_) {
    PendingRead& read = pending_[pending_back_ & pending_mask_];
    read = {};
    read.position = kNoWork;
    read.covers = send_next_;
    read.msn = read_msn_;
    read.read.source_stag = 1;
    iwarp::EncodeReadRequestFpduHead(head, read_msn_++, read.read);
    fpdu->head_size = iwarp::kReadRequestFpduHeadSize;
    ++pending_back_;
  } else {
    iwarp::EncodeTaggedFpduHeader(head, Opcode::kWrite, /*last=*/true, 1, 0, 0);
    fpdu->head_size = iwarp::kTaggedFpduHeaderSize;
  }
  CommitCopied(fpdu);
  rtr_due_ = false;
  return true;
}

bool Stream::GatherResponse(bool alone) {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  Response& r = responses_[response_gather_ & response_mask_];
  uint8_t* head = arena_ + fpdu->head;
  if (r.atomic) {
    iwarp::EncodeUntaggedFpduHeader(head, Opcode::kAtomicResponse, /*last=*/true, 0,
                                    iwarp::kQnAtomicResponse, atomic_response_msn_++, 0,
                                    iwarp::kAtomicResponseSize);
    iwarp::EncodeAtomicResponse(head + iwarp::kUntaggedFpduHeaderSize, r.answer);
    fpdu->head_size = iwarp::kUntaggedFpduHeaderSize + iwarp::kAtomicResponseSize;
    fpdu->ends_response = true;
    CommitCopied(fpdu);
    ++response_gather_;
    return true;
  }
  const uint32_t left = r.read.size - r.gathered;
  size_t payload = SegmentPayload(mulpdu_, iwarp::kTaggedHeaderSize, left);
  const bool copied = config_.agreement.crc || payload <= kInlinePayload;
  if (copied) payload = std::min(payload, kCopiedResponse);
  const bool last = payload == left;
  fpdu->source = copied ? TxFpdu::Source::kArena : TxFpdu::Source::kResponse;
  fpdu->key = r.read.source_stag;
  fpdu->offset = r.read.source_to + r.gathered;
  iwarp::EncodeTaggedFpduHeader(head, Opcode::kReadResponse, last, r.read.sink_stag,
                                r.read.sink_to + r.gathered, payload);
  fpdu->head_size = iwarp::kTaggedFpduHeaderSize;
  if (payload > 0) {
    const AccessRequest piece{fpdu->key,           config_.pd,   config_.qp,
                              Access::kRemoteRead, fpdu->offset, payload};
    uint8_t* address = nullptr;
    AccessError error = AccessError::kNone;
    const Emitted got = AcquireTx(piece, &address, &error);
    if (got == Emitted::kLost && alone) RefuseResponse(error);
    if (got != Emitted::kAll) return false;
    if (copied) {
      std::memcpy(head + fpdu->head_size, address, payload);
      fpdu->head_size += static_cast<uint32_t>(payload);
      counters_.bytes_inlined += payload;
    } else {
      fpdu->payload = static_cast<uint32_t>(payload);
    }
  }
  fpdu->ends_response = last;
  if (copied) {
    CommitCopied(fpdu);
  } else {
    CommitFpdu(fpdu, iwarp::kTaggedHeaderSize + payload, 0);
  }
  r.gathered += static_cast<uint32_t>(payload);
  turn_ = last ? Turn::kNone : Turn::kResponse;
  if (last) ++response_gather_;
  return true;
}

bool Stream::GatherSend(bool alone) {
  SendWork& work = config_.send_queue->at(send_next_);
  switch (work.op) {
    case Op::kBind:
      return CarryOutBind(&work, alone);
    case Op::kRdmaRead:
      return GatherRead(&work);
    case Op::kFetchAdd:
    case Op::kCompareSwap:
      return GatherAtomic(&work);
    case Op::kRdmaWriteImmediate:
      // The immediate data are a message of their own. An empty write goes before it all the same:
      // the receiver takes the length it reports from the write directly in front.
    case Op::kRdmaWrite:
      if (send_stage_ == WriteStage::kImmediate) return GatherImmediate(&work);
      return GatherData(&work, alone);
    default:
      return GatherData(&work, alone);
  }
}

// The work at send_next_ is wholly gathered; `fpdu` is its last, null if it has none.
void Stream::EndOfWork(TxFpdu* fpdu, bool completes) {
  if (fpdu != nullptr && completes) {
    fpdu->ends_work = true;
    fpdu->position = send_next_;
  }
  NoteGathered(config_.send_queue->at(send_next_));
  ++send_next_;
  send_offset_ = 0;
  send_segment_ = send_segment_offset_ = 0;
  send_stage_ = WriteStage::kData;
  turn_ = Turn::kNone;
}

// The data or the immediate data of the write at send_next_ are gathered, the latter in `fpdu`.
void Stream::NextStage(const SendWork& work, TxFpdu* fpdu) {
  if (send_stage_ == WriteStage::kData && work.op == Op::kRdmaWriteImmediate) {
    send_stage_ = WriteStage::kImmediate;
  } else {
    return EndOfWork(fpdu, /*completes=*/true);
  }
  turn_ = Turn::kSend;  // nothing may come between: the immediate speaks of this write
}

// Brings the payload of a send or write into `fpdu`: small ones by copy. False when it cannot be
// read now.
bool Stream::FillData(TxFpdu* fpdu, size_t payload, bool alone, uint32_t* crc_state) {
  const bool copied = payload <= kInlinePayload;
  uint8_t* head = arena_ + fpdu->head;
  if (config_.agreement.crc) *crc_state = Crc32cExtend(kCrc32cInit, head, fpdu->head_size);
  if (copied || config_.agreement.crc) {
    TxCursor cursor{fpdu->segment, fpdu->segment_offset, 0};
    Pin pin;
    while (cursor.done < payload) {
      AccessRequest piece;
      NextTxPiece(*fpdu, &cursor, payload - cursor.done, &piece);
      uint8_t* address = nullptr;
      if (!pin.Covers(piece, &address)) {
        pin.Release();
        const AccessError error = config_.memory->Acquire(piece, &pin);
        if (error != AccessError::kNone) {
          if (alone) RefuseSend(error);
          return false;
        }
        address = pin.address();
      }
      if (copied) std::memcpy(head + fpdu->head_size, address, piece.length);
      if (copied) fpdu->head_size += static_cast<uint32_t>(piece.length);
      if (config_.agreement.crc) *crc_state = Crc32cExtend(*crc_state, address, piece.length);
    }
  }
  if (copied) {
    fpdu->source = TxFpdu::Source::kArena;
    counters_.bytes_inlined += payload;
  } else {
    fpdu->payload = static_cast<uint32_t>(payload);
  }
  return true;
}

bool Stream::GatherData(SendWork* work, bool alone) {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  const bool write = IsWrite(work->op);
  const size_t header = write ? iwarp::kTaggedHeaderSize : iwarp::kUntaggedHeaderSize;
  const uint64_t left = work->length - send_offset_;
  const size_t payload = SegmentPayload(mulpdu_, header, left);
  const bool last = payload == left;
  uint8_t* head = arena_ + fpdu->head;
  if (write) {
    iwarp::EncodeTaggedFpduHeader(head, Opcode::kWrite, last, work->remote_key,
                                  work->remote_address + send_offset_, payload);
  } else {
    work->msn = send_msn_;
    const uint32_t invalidate = work->op == Op::kSendInvalidate ? work->key : 0;
    iwarp::EncodeUntaggedFpduHeader(head, SendOpcode(*work), last, invalidate, iwarp::kQnSend,
                                    send_msn_, static_cast<uint32_t>(send_offset_), payload);
  }
  fpdu->head_size = static_cast<uint32_t>(iwarp::kFpduLengthSize + header);
  fpdu->source = TxFpdu::Source::kSend;
  fpdu->of_work = true;
  fpdu->position = send_next_;
  fpdu->segment = send_segment_;
  fpdu->segment_offset = send_segment_offset_;
  uint32_t crc_state = 0;
  if (!FillData(fpdu, payload, alone, &crc_state)) return false;
  CommitFpdu(fpdu, header + payload, crc_state);
  if (last) {
    if (!write) ++send_msn_;
    if (write) {
      NextStage(*work, fpdu);
    } else {
      EndOfWork(fpdu, /*completes=*/true);
    }
    return true;
  }
  turn_ = Turn::kSend;
  send_offset_ += payload;
  TxCursor cursor{send_segment_, send_segment_offset_, 0};
  while (cursor.done < payload) {
    AccessRequest unused;
    TxFpdu here;
    here.source = TxFpdu::Source::kSend;
    here.position = send_next_;
    NextTxPiece(here, &cursor, payload - cursor.done, &unused);
  }
  send_segment_ = cursor.segment;
  send_segment_offset_ = cursor.segment_offset;
  return true;
}

bool Stream::GatherImmediate(SendWork* work) {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  const bool solicited = (work->flags & transport::kSolicited) != 0;
  const bool as_message = (work->flags & transport::kAsMessage) != 0;
  const Opcode immediate = solicited ? Opcode::kImmediateSolicited : Opcode::kImmediate;
  const size_t payload = as_message ? sizeof(work->key) : iwarp::kImmediateSize;
  work->msn = send_msn_;
  uint8_t* head = arena_ + fpdu->head;
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
  CommitCopied(fpdu);
  NextStage(*work, fpdu);
  return true;
}

// One request per local segment, as a request has one sink; an empty read is one request of size 0.
bool Stream::GatherRead(SendWork* work) {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  PendingRead& read = pending_[pending_back_ & pending_mask_];
  read = {};
  read.position = read.covers = send_next_;
  read.msn = read_msn_;
  read.read.source_stag = work->remote_key;
  read.read.source_to = work->remote_address + send_offset_;
  const uint64_t left = work->length - send_offset_;
  if (left > 0) {
    const Segment& s = config_.send_queue->segments(send_next_)[send_segment_++];
    read.read.sink_stag = s.lmr_context;
    read.read.sink_to = s.virtual_address;
    read.read.size = static_cast<uint32_t>(std::min<uint64_t>(left, s.segment_length));
  }
  iwarp::EncodeReadRequestFpduHead(arena_ + fpdu->head, read_msn_++, read.read);
  fpdu->head_size = iwarp::kReadRequestFpduHeadSize;
  fpdu->of_work = fpdu->asks = true;
  CommitCopied(fpdu);
  ++pending_back_;
  ++reads_out_;
  asked_ = std::max(asked_, send_next_);
  ++work->reads_pending;
  send_offset_ += read.read.size;
  if (send_offset_ == work->length) {
    work->all_sent = true;
    EndOfWork(fpdu, /*completes=*/false);
  }
  return true;
}

bool Stream::GatherAtomic(SendWork* work) {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  iwarp::AtomicRequest request;
  request.request_id = next_request_id_++;
  request.stag = work->remote_key;
  request.to = work->remote_address;
  request.add_or_swap = work->swap_or_add;
  if (work->op == Op::kCompareSwap) {
    request.op = iwarp::kAtomicCmpSwap;
    request.add_or_swap_mask = request.compare_mask = ~uint64_t{0};
    request.compare = work->compare;
  }
  PendingRead& read = pending_[pending_back_ & pending_mask_];
  read = {};
  read.position = read.covers = send_next_;
  read.msn = read_msn_;
  read.atomic = true;
  read.request_id = request.request_id;
  uint8_t* head = arena_ + fpdu->head;
  iwarp::EncodeUntaggedFpduHeader(head, Opcode::kAtomicRequest, /*last=*/true, 0,
                                  iwarp::kQnReadRequest, read_msn_++, 0, iwarp::kAtomicRequestSize);
  iwarp::EncodeAtomicRequest(head + iwarp::kUntaggedFpduHeaderSize, request);
  fpdu->head_size = iwarp::kUntaggedFpduHeaderSize + iwarp::kAtomicRequestSize;
  fpdu->of_work = fpdu->asks = true;
  CommitCopied(fpdu);
  ++pending_back_;
  ++reads_out_;
  asked_ = std::max(asked_, send_next_);
  work->reads_pending = 1;
  work->all_sent = true;
  EndOfWork(fpdu, /*completes=*/false);
  return true;
}

}  // namespace softdat::softnet
