// SPDX-License-Identifier: BSD-3-Clause
// Sender: offers gathered FPDUs to the driver, and notes what TCP took.
#include "provider_softnet/iwarp/sender.h"

#include <algorithm>
#include <cstring>

#include "wire/iwarp/fpdu.h"

namespace softdat::softnet {

Sender::Sender(StreamState* state, WorkLedger* ledger, OwnRequests* own, PeerRequests* peer,
               Confirmation* confirmation)
    : state_(*state),
      ledger_(*ledger),
      sends_(ledger->sends()),
      own_(*own),
      peer_(*peer),
      confirmation_(*confirmation),
      buffer_(state->config.blocks, state, state->config.agreement.crc),
      rtr_due_(state->config.initiator && state->config.agreement.rtr != Rtr::kNone),
      next_(sends_.back()) {}

bool Sender::WaitsForReads() const {
  const SendWork& work = sends_.at(next_);
  const bool waits_for_all = (work.flags & transport::kFence) != 0 && work.reads_pending == 0;
  if (waits_for_all && own_.reads() > 0) return true;
  return TakesReadCredit(work) &&
         (own_.reads() >= state_.config.agreement.ord || !RoomForRequest());
}

// Without memory for more, those that are under way must be answered first.
bool Sender::RoomForRequest() const { return own_.count() < own_.slots() && own_.Have(); }

bool Sender::MayGather() const {
  if (!state_.open()) [[unlikely]]
    return state_.phase == Phase::kTerminating && (peer_.Due() || turn_ == Turn::kResponse);
  return rtr_due_ || turn_ != Turn::kNone || ((peer_.Due() || HasSend()) && MaySpeak());
}

// Whether a confirmation may be asked for now. Several may be under way, so that the next messages
// need not wait for the answer to the previous ones. All but the first leave room for a request of
// the consumer.
bool Sender::MayConfirm() const {
  if (state_.phase == Phase::kTerminating || (HasSend() && !confirmation_.MuchIsUnasked()))
    return false;
  const uint32_t kept = own_.confirmations() == 0 || state_.config.agreement.ord == 0 ? 0 : 1;
  return own_.confirmations() < kMostConfirmations && own_.count() + kept < own_.slots() &&
         own_.Have();
}

// Finds the access for the next contiguous piece of an FPDU's payload, of at most `want` bytes.
void Sender::NextPiece(const TxFpdu& fpdu, Cursor* cursor, size_t want,
                       AccessRequest* request) const {
  if (fpdu.source == TxFpdu::Source::kResponse) {
    *request = state_.Access(fpdu.key, Access::kRemoteRead, fpdu.offset + cursor->done, want);
    cursor->done += want;
    return;
  }
  const Segment& s = sends_.segments(fpdu.position)[cursor->segment];
  const size_t piece = std::min<size_t>(want, s.segment_length - cursor->segment_offset);
  *request = state_.Access(s.lmr_context, Access::kLocalRead,
                           s.virtual_address + cursor->segment_offset, piece);
  cursor->done += piece;
  cursor->segment_offset += static_cast<uint32_t>(piece);
  if (cursor->segment_offset == s.segment_length) {
    ++cursor->segment;
    cursor->segment_offset = 0;
  }
}

Sender::Emitted Sender::EmitPayload(const TxFpdu& fpdu, size_t skip, IovWriter* out,
                                    AccessError* error) {
  Cursor cursor{fpdu.segment, fpdu.segment_offset, 0};
  while (cursor.done < fpdu.payload) {
    const size_t before = cursor.done;
    AccessRequest piece;
    NextPiece(fpdu, &cursor, fpdu.payload - before, &piece);
    if (cursor.done <= skip) continue;
    if (skip > before) {
      piece.offset += skip - before;
      piece.length -= skip - before;
    }
    uint8_t* address = nullptr;
    const SendBuffer::Access access = buffer_.Pin(state_.memory(), piece, &address, error);
    if (access == SendBuffer::Access::kRefused) return Emitted::kLost;
    if (access == SendBuffer::Access::kNoRoom || !out->Add(address, piece.length)) {
      return Emitted::kNoRoom;
    }
  }
  return Emitted::kAll;
}

// Offers the unsent part of an FPDU that lies in the arena as a whole. Returns false when no entry
// is left.
bool Sender::EmitCopied(const TxFpdu& fpdu, IovWriter* out) const {
  return out->Add(buffer_.head_of(fpdu) + fpdu.sent, fpdu.size() - fpdu.sent);
}

// Offers the unsent part of one FPDU.
Sender::Emitted Sender::Emit(const TxFpdu& fpdu, IovWriter* out, AccessError* error) {
  if (fpdu.payload == 0) return EmitCopied(fpdu, out) ? Emitted::kAll : Emitted::kNoRoom;
  uint8_t* const head = buffer_.head_of(fpdu);
  size_t skip = fpdu.sent;
  if (skip < fpdu.head_size) {
    if (!out->Add(head + skip, fpdu.head_size - skip)) return Emitted::kNoRoom;
    skip = fpdu.head_size;
  }
  skip -= fpdu.head_size;
  if (skip < fpdu.payload) {
    const Emitted emitted = EmitPayload(fpdu, skip, out, error);
    if (emitted != Emitted::kAll) return emitted;
    skip = fpdu.payload;
  }
  skip -= fpdu.payload;
  uint8_t* const trailer = head + fpdu.head_size;
  return out->Add(trailer + skip, fpdu.trailer_size - skip) ? Emitted::kAll : Emitted::kNoRoom;
}

// Offers the FPDU at `position` of the ring. If its memory is gone, offers nothing of it. If
// nothing else is offered either, that is a problem.
[[gnu::hot]] bool Sender::EmitAt(uint32_t position, IovWriter* out) {
  const TxFpdu& fpdu = buffer_.at(position);
  if (fpdu.payload == 0) return EmitCopied(fpdu, out);  // no memory to be gone
  const IovWriter::Mark mark = out->mark();
  AccessError error = AccessError::kNone;
  const Emitted emitted = Emit(fpdu, out, &error);
  if (emitted == Emitted::kLost) {
    out->Rollback(mark);
    if (out->bytes() == 0) LoseOldest(error);
  }
  return emitted == Emitted::kAll;
}

[[gnu::hot]] void Sender::Offer(IovWriter* out, size_t max_bytes) {
  if (buffer_.in_one_piece() && out->count() == 0 && buffer_.unsent() <= max_bytes) {
    const TxFpdu& oldest = buffer_.oldest();
    out->Add(buffer_.head_of(oldest) + oldest.sent, buffer_.unsent());
  } else {
    for (uint32_t i = buffer_.front(); i != buffer_.back(); ++i) {
      if (out->bytes() >= max_bytes || !EmitAt(i, out)) return;
    }
  }
  if (AllIsGathered()) return;
  // Gathering stops at anything that may end the connection or must wait for pins, unless nothing
  // is offered.
  while (out->bytes() < max_bytes && CanGather()) {
    const uint32_t before = buffer_.back();
    if (!Gather(/*alone=*/out->bytes() == 0)) return;
    if (buffer_.back() == before) {  // a bind was carried out
      if (state_.unsettled) return;
      continue;
    }
    if (!EmitAt(before, out)) return;
    if (confirmation_.MuchIsUnasked() && turn_ == Turn::kNone && WantsConfirmation()) {
      const uint32_t here = buffer_.back();
      if (GatherConfirmation() && !EmitAt(here, out)) return;
    }
  }
  if ((out->bytes() > 0 || PaysNow()) && out->bytes() < max_bytes && Owes(/*confirmation=*/true)) {
    GatherOwed(out);
  }
}

// The memory behind the oldest FPDU was deregistered.
void Sender::LoseOldest(AccessError error) {
  const TxFpdu fpdu = buffer_.oldest();
  const bool own = fpdu.source == TxFpdu::Source::kSend;
  if (fpdu.sent > 0) {
    buffer_.DropAll();
    Report(SendProblem::Kind::kHalfSent, error);
    if (own) problem_.position = fpdu.position;
  } else if (!own) {
    buffer_.DropAll();
    Report(SendProblem::Kind::kResponse, error);
  } else {
    TakeBackWork(fpdu.position);
    Report(SendProblem::Kind::kMemory, error);
  }
}

// Takes back gathered FPDUs that have not left. Only answers to the peer stay. The work at
// `position` and after it counts as not gathered.
void Sender::TakeBackWork(uint64_t position) {
  uint32_t kept = buffer_.front();
  for (uint32_t i = buffer_.front(); i != buffer_.back(); ++i) {
    const TxFpdu fpdu = buffer_.at(i);
    if (!fpdu.of_work) buffer_.at(kept++) = fpdu;
    if (!fpdu.of_work || !fpdu.asks) continue;
    --read_msn_;
    if (own_.empty()) continue;  // the peer has answered a request that it did not get
    const OwnRequest request = own_.TakeNewestBack();
    if (request.position != kNoWork) --sends_.at(request.position).reads_pending;
  }
  buffer_.CutBack(kept);
  AbandonRequest();
  next_ = position;
  offset_ = 0;
  confirmation_.TakeBack(position, own_.empty() ? 0 : own_.newest().covers);
}

// TCP took the rest of all that was gathered.
[[gnu::hot]] bool Sender::OnAllTransmitted() {
  bool work_done = false;
  for (uint32_t i = buffer_.front(); i != buffer_.back(); ++i) {
    const TxFpdu& fpdu = buffer_.at(i);
    if (fpdu.ends_response) peer_.PopOldest();
    if (!fpdu.ends_work) continue;
    sends_.at(fpdu.position).done = true;
    work_done = true;
  }
  state_.counters.fpdus_sent += buffer_.count();
  buffer_.DropAll();
  buffer_.GiveBackUnlessKept();
  return work_done;
}

[[gnu::hot]] bool Sender::OnTransmitted(size_t size) {
  if (buffer_.in_one_piece() && size == buffer_.unsent()) return OnAllTransmitted();
  bool work_done = false;
  while (size > 0 && !buffer_.empty()) {
    TxFpdu& fpdu = buffer_.oldest();
    const size_t now = std::min<size_t>(size, fpdu.size() - fpdu.sent);
    fpdu.sent += static_cast<uint32_t>(now);
    size -= now;
    // With the last byte of data the peer may count the request as answered, before it sees pad and
    // CRC.
    if (fpdu.ends_response && fpdu.sent >= fpdu.head_size + fpdu.payload) {
      fpdu.ends_response = false;
      peer_.PopOldest();
    }
    if (fpdu.sent < fpdu.size()) break;
    ++state_.counters.fpdus_sent;
    if (fpdu.ends_work) {
      sends_.at(fpdu.position).done = true;
      work_done = true;
    }
    buffer_.PopFront();
  }
  GiveBufferBackIfEmpty();
  return work_done;
}

bool Sender::AppendRest(std::vector<uint8_t>* words) {
  if (buffer_.empty() || buffer_.oldest().sent == 0) return true;
  buffer_.ReleasePins();
  TxFpdu rest = buffer_.oldest();
  // At most as large as the largest FPDU. May allocate, because the data path ends here.
  words->reserve(rest.size() - rest.sent);
  iovec iov[SendBuffer::kPins];
  while (rest.sent < rest.size()) {
    IovWriter parts(iov, SendBuffer::kPins);
    AccessError error = AccessError::kNone;
    Emit(rest, &parts, &error);
    for (size_t i = 0; i < parts.count(); ++i) {
      const auto* const bytes = static_cast<const uint8_t*>(iov[i].iov_base);
      words->insert(words->end(), bytes, bytes + iov[i].iov_len);
      rest.sent += static_cast<uint32_t>(iov[i].iov_len);
    }
    buffer_.ReleasePins();
    if (parts.count() == 0) {  // its memory is gone
      words->clear();
      return false;
    }
  }
  return true;
}

// The peer acts in order. But what it does not answer is not over, and neither is what has not
// left.
uint64_t Sender::CarriedOut(const TransferCounts& by_peer) const {
  uint64_t position = std::max(sends_.front(), confirmation_.confirmed());
  for (; position != next_; ++position) {
    const SendWork& work = sends_.at(position);
    if (work.op == transport::Op::kBind) continue;
    if (!work.done) break;
    if (work.op == transport::Op::kRdmaWrite) {
      if (!IsAmong(work.msn, by_peer.writes)) break;
    } else if (IsUnanswered(work.op)) {
      if (!IsAmong(work.msn - iwarp::kFirstMsn, by_peer.messages)) break;
    }
  }
  return position;
}

std::optional<uint32_t> Sender::FirstUnsentAnswer() const {
  // In the middle of a longer answer nothing else fits. After half an FPDU nothing can be read.
  if (turn_ == Turn::kResponse) return std::nullopt;
  const bool begun = !buffer_.empty() && buffer_.at(buffer_.front()).sent > 0;
  return begun && buffer_.at(buffer_.front()).ends_response ? 1 : 0;
}

}  // namespace softdat::softnet
