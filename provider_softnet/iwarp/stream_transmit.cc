// SPDX-License-Identifier: BSD-3-Clause
// Sending: offers gathered FPDUs to the driver and completes work as TCP takes them, or as the peer
// confirms it.
#include <algorithm>
#include <new>

#include "provider_softnet/iwarp/access_terminate.h"
#include "provider_softnet/iwarp/iov_writer.h"
#include "provider_softnet/iwarp/stream.h"
#include "provider_softnet/iwarp/work_kinds.h"

namespace softdat::softnet {

using transport::WorkStatus;

bool Stream::WaitsForReads() const {
  const SendWork& work = config_.send_queue->at(send_next_);
  const bool waits_for_all = (work.flags & transport::kFence) != 0 && work.reads_pending == 0;
  if (waits_for_all && reads_out_ > 0) return true;
  return TakesReadCredit(work) &&
         (reads_out_ >= config_.agreement.ord || pending_back_ - pending_front_ >= slots_out_);
}

bool Stream::MayGather() const {
  if (phase_ == Phase::kEnded) return false;
  if (phase_ == Phase::kTerminating) return ResponseDue() || turn_ == Turn::kResponse;
  if (rtr_due_ || turn_ != Turn::kNone) return true;
  // A responder sends nothing before the initiator's first FPDU (RFC 5044 §7.1.2).
  if (!config_.initiator && !first_fpdu_seen_) return false;
  if (ResponseDue()) return true;
  return send_next_ != config_.send_queue->back() && !SendBlocked();
}

// The access for the next contiguous piece of an FPDU's payload, of at most `want` bytes.
void Stream::NextTxPiece(const TxFpdu& fpdu, TxCursor* cursor, size_t want,
                         AccessRequest* request) const {
  if (fpdu.source == TxFpdu::Source::kResponse) {
    *request = {fpdu.key, config_.pd, config_.qp, Access::kRemoteRead, fpdu.offset + cursor->done,
                want};
    cursor->done += want;
    return;
  }
  const Segment& s = config_.send_queue->segments(fpdu.position)[cursor->segment];
  const size_t piece = std::min<size_t>(want, s.segment_length - cursor->segment_offset);
  *request = {s.lmr_context,
              config_.pd,
              config_.qp,
              Access::kLocalRead,
              s.virtual_address + cursor->segment_offset,
              piece};
  cursor->done += piece;
  cursor->segment_offset += static_cast<uint32_t>(piece);
  if (cursor->segment_offset == s.segment_length) {
    ++cursor->segment;
    cursor->segment_offset = 0;
  }
}

// Pins a piece until ReleaseTxPins, with the pin of an earlier piece where that covers it.
Stream::Emitted Stream::AcquireTx(const AccessRequest& request, uint8_t** address,
                                  AccessError* error) {
  const size_t look_back = std::min<size_t>(tx_pin_count_, 4);
  for (size_t i = 1; i <= look_back; ++i) {
    if (tx_pins_[tx_pin_count_ - i].Covers(request, address)) return Emitted::kAll;
  }
  if (tx_pin_count_ == kTxPins) return Emitted::kNoRoom;
  Pin* const pin = new (&tx_pins_[tx_pin_count_]) Pin();
  *error = config_.memory->Acquire(request, pin);
  if (*error != AccessError::kNone) return Emitted::kLost;
  *address = pin->address();
  ++tx_pin_count_;
  return Emitted::kAll;
}

Stream::Emitted Stream::EmitPayload(const TxFpdu& fpdu, size_t skip, IovWriter* out,
                                    AccessError* error) {
  TxCursor cursor{fpdu.segment, fpdu.segment_offset, 0};
  while (cursor.done < fpdu.payload) {
    const size_t before = cursor.done;
    AccessRequest piece;
    NextTxPiece(fpdu, &cursor, fpdu.payload - before, &piece);
    if (cursor.done <= skip) continue;
    if (skip > before) {
      piece.offset += skip - before;
      piece.length -= skip - before;
    }
    uint8_t* address = nullptr;
    const Emitted emitted = AcquireTx(piece, &address, error);
    if (emitted != Emitted::kAll) return emitted;
    if (!out->Add(address, piece.length)) return Emitted::kNoRoom;
  }
  return Emitted::kAll;
}

// Offers what is unsent of one FPDU.
Stream::Emitted Stream::Emit(const TxFpdu& fpdu, IovWriter* out, AccessError* error) {
  if (fpdu.payload == 0) {  // head and trailer are neighbours
    return out->Add(arena_ + fpdu.head + fpdu.sent, fpdu.size() - fpdu.sent) ? Emitted::kAll
                                                                             : Emitted::kNoRoom;
  }
  size_t skip = fpdu.sent;
  if (skip < fpdu.head_size) {
    if (!out->Add(arena_ + fpdu.head + skip, fpdu.head_size - skip)) return Emitted::kNoRoom;
    skip = fpdu.head_size;
  }
  skip -= fpdu.head_size;
  if (skip < fpdu.payload) {
    const Emitted emitted = EmitPayload(fpdu, skip, out, error);
    if (emitted != Emitted::kAll) return emitted;
    skip = fpdu.payload;
  }
  skip -= fpdu.payload;
  uint8_t* trailer = arena_ + fpdu.head + fpdu.head_size;
  if (!out->Add(trailer + skip, fpdu.trailer_size - skip)) return Emitted::kNoRoom;
  return Emitted::kAll;
}

Stream::Batch Stream::TransmitVector(iovec* iov, size_t max_iov, size_t max_bytes) {
  ReleaseTxPins();
  tx_offered_ = 0;
  if (arena_ == nullptr && phase_ != Phase::kEnded && (CanGather() || (PaysNow() && owes())) &&
      !TakeArena())
    Abort("no memory for what is to be sent", Blame::Nobody());
  if (phase_ != Phase::kEnded) {
    IovWriter out(iov, max_iov);
    GatherAndEmit(&out, max_bytes);
    if (out.count() > 0) {
      tx_offered_ = out.bytes();
      return {out.count(), out.bytes()};
    }
  }
  // The end may have come while gathering.
  ReleaseTxPins();
  if (tx_front_ == tx_back_) GiveArenaBack();  // a bind has nothing to send
  if (last_words_sent_ == last_words_.size()) return {};
  tx_offered_ = last_words_.size() - last_words_sent_;
  iov[0] = {last_words_.data() + last_words_sent_, tx_offered_};
  return {1, tx_offered_};
}

// Offers the FPDU at `position` of the ring. If its memory is gone, nothing of it is offered, and
// when nothing else is either, the stream ends.
bool Stream::EmitAt(uint32_t position, IovWriter* out) {
  const IovWriter::Mark mark = out->mark();
  AccessError error = AccessError::kNone;
  const Emitted emitted = Emit(tx_ring_[position % kTxRing], out, &error);
  if (emitted == Emitted::kLost) {
    out->Rollback(mark);
    if (out->bytes() == 0) LoseFpdu(error);
  }
  return emitted == Emitted::kAll;
}

void Stream::GatherAndEmit(IovWriter* out, size_t max_bytes) {
  for (uint32_t i = tx_front_; i != tx_back_; ++i) {
    if (out->bytes() >= max_bytes || !EmitAt(i, out)) return;
  }
  // Gathering stops at whatever may end the connection or must wait for pins, unless nothing is
  // offered.
  while (out->bytes() < max_bytes && CanGather()) {
    const uint32_t before = tx_back_;
    if (!Gather(/*alone=*/out->bytes() == 0)) return;
    if (tx_back_ == before) continue;  // a bind was carried out
    if (!EmitAt(before, out)) return;
  }
  if ((out->bytes() > 0 || PaysNow()) && out->bytes() < max_bytes && owes()) GatherOwed(out);
}

// The memory behind the oldest FPDU was deregistered.
void Stream::LoseFpdu(AccessError error) {
  const TxFpdu fpdu = tx_ring_[tx_front_ % kTxRing];
  const std::string text = AccessErrorText(error);
  const bool own = fpdu.source == TxFpdu::Source::kSend;
  if (fpdu.sent > 0) {
    tx_front_ = tx_back_;
    return Abort("memory was freed in the middle of a transfer: " + text,
                 own ? Blame::Send(fpdu.position, WorkStatus::kLocalProtection) : Blame::Nobody());
  }
  if (!own) {
    tx_front_ = tx_back_;
    return RefuseResponse(error);
  }
  TakeBackWork(fpdu.position);
  if (phase_ <= Phase::kDraining) RefuseSend(error);
}

// Of what is gathered and has not left, only answers to the peer stay: the work at `position` and
// what is behind it count as not gathered.
void Stream::TakeBackWork(uint64_t position) {
  uint32_t kept = tx_front_;
  for (uint32_t i = tx_front_; i != tx_back_; ++i) {
    const TxFpdu fpdu = tx_ring_[i % kTxRing];
    if (!fpdu.of_work) tx_ring_[kept++ % kTxRing] = fpdu;
    if (!fpdu.of_work || !fpdu.asks) continue;
    --read_msn_;
    if (pending_back_ == pending_front_) continue;  // a peer that answers what it was not asked
    const PendingRead& read = pending_[--pending_back_ & pending_mask_];
    if (read.confirmation) --confirmations_out_;
    if (read.position != kNoWork) {
      --reads_out_;
      --config_.send_queue->at(read.position).reads_pending;
    }
  }
  tx_back_ = kept;
  if (turn_ == Turn::kSend) turn_ = Turn::kNone;
  send_next_ = position;
  send_offset_ = 0;
  transfers_to_ = std::min(transfers_to_, position);
  confirmable_to_ = std::min(confirmable_to_, position);
  confirm_to_ = std::min(confirm_to_, position);
  asked_ = confirmed_;
  if (pending_front_ != pending_back_) {
    asked_ = std::max(asked_, pending_[(pending_back_ - 1) & pending_mask_].covers);
  }
}

void Stream::OnTransmitted(size_t size) {
  ReleaseTxPins();
  size = std::min(size, tx_offered_);
  tx_offered_ = 0;
  if (size == 0) return;
  counters_.bytes_sent += size;
  if (phase_ == Phase::kEnded) {
    last_words_sent_ += size;
    if (last_words_sent_ == last_words_.size()) actions_ |= kActCloseWrite;
    return;
  }
  if (phase_ == Phase::kTerminating) SetTimer(config_.fin_grace_us);  // somebody reads
  bool work_done = false;
  while (size > 0 && tx_front_ != tx_back_) {
    TxFpdu& fpdu = tx_ring_[tx_front_ % kTxRing];
    const size_t now = std::min<size_t>(size, fpdu.size() - fpdu.sent);
    fpdu.sent += static_cast<uint32_t>(now);
    size -= now;
    // With the last byte of data the peer may count the request as answered, before it sees pad and
    // CRC.
    if (fpdu.ends_response && fpdu.sent >= fpdu.head_size + fpdu.payload) {
      fpdu.ends_response = false;
      ++response_front_;
    }
    if (fpdu.sent < fpdu.size()) break;
    ++counters_.fpdus_sent;
    if (fpdu.ends_work) {
      config_.send_queue->at(fpdu.position).done = true;
      work_done = true;
    }
    ++tx_front_;
  }
  if (tx_front_ == tx_back_) {
    GiveArenaBack();
    tx_front_ = tx_back_ = 0;  // the front of a block is warm
  }
  if (work_done) {
    CompleteSends();
  } else {
    MaybeDone();
  }
}

// Reports what is done, in post order (semantics 10.3).
void Stream::CompleteSends() {
  SendQueue& queue = *config_.send_queue;
  while (!queue.empty() && queue.front() != send_next_) {
    const SendWork& work = queue.at(queue.front());
    if (!work.done || (work.confirm && queue.front() >= confirmed_)) break;
    CompleteOldestSend(work.status);
  }
  if (failing_) BreakIfAllInFrontIsOver();
  MaybeDone();
}

// Takes the oldest send out of its queue and reports it. The slot is free before the completion can
// be seen: a consumer may post from its event at once.
void Stream::CompleteOldestSend(WorkStatus status) {
  SendQueue& queue = *config_.send_queue;
  const SendWork& work = queue.at(queue.front());
  const bool suppressed =
      status == WorkStatus::kSuccess && (work.flags & transport::kSuppress) != 0;
  if (suppressed || config_.send_completions == nullptr) return queue.PopFront();
  transport::Completion c;
  c.context = work.op == transport::Op::kBind ? reinterpret_cast<void*>(work.remote_address)
                                              : config_.context;
  c.cookie = work.cookie;
  c.length = work.length;
  c.op = work.op;
  c.status = status;
  c.flags = work.flags & transport::kEchoed;
  queue.PopFront();
  if (config_.send_completions->Push(c)) actions_ |= kActNotifySend;
}

void Stream::EndIfDrained() {
  if (!config_.send_queue->empty() || confirm_to_ > confirmed_) return;
  if (tx_front_ != tx_back_ || rtr_due_ || response_front_ != response_back_ ||
      pending_front_ != pending_back_) {
    return;
  }
  Finish(transport::EndReason::kDisconnected, "disconnected gracefully by the own consumer", false,
         Blame::Nobody());
}

}  // namespace softdat::softnet
