// SPDX-License-Identifier: BSD-3-Clause
// Receiver: where the next bytes go, and the steps through FPDUs.
#include "provider_softnet/iwarp/receiver.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "wire/iwarp/fpdu.h"

namespace softdat::softnet {

using iwarp::Opcode;

namespace {

// How much to read ahead of large payloads: a trailer, the next header, a small message. Any part
// of the next large payload that lands there must be copied, so the amount is small. Small messages
// make it grow again.
constexpr size_t kMinReadAhead = 256;
constexpr size_t kMaxReadAhead = 64 * 1024;
// The end of a message or an RDMA write always goes through staging, so that its last bytes can be
// stored last. Programs poll them (semantics 10.3).
constexpr size_t kPolledTail = 64;

}  // namespace

Receiver::Receiver(StreamState* state, WorkLedger* ledger, OwnRequests* own, PeerRequests* peer,
                   Confirmation* confirmation)
    : state_(*state),
      ledger_(*ledger),
      own_(*own),
      peer_(*peer),
      confirmation_(*confirmation),
      staging_(state->config.blocks, state) {}

// -------------------------------------------------------------------------------------------------
// Bytes

[[gnu::hot]] size_t Receiver::Offer(iovec* iov, size_t max) {
  size_t count = 0;
  direct_offered_ = 0;
  if (phase_ == RxPhase::kPayload && payload_size_ >= state_.config.direct_payload &&
      staging_.empty() && !OfferDirect(iov, max, &count)) {
    return 0;
  }
  const size_t staged = staging_.size();
  const size_t missing = staging_.needed() > staged ? staging_.needed() - staged : 0;
  staging_offered_ = staging_.MakeRoom(std::max(read_ahead_, missing), stalled_);
  if (staging_offered_ > 0) {
    iov[count++] = {staging_.room(), staging_offered_};
  } else if (count == 0) {
    state_.FailWithReset(Blame::Nobody(), "no memory for what arrives");
  }
  segment_was_large_ = false;
  return count;
}

// Offers the destination of the rest of a large payload, and leaves one entry free. Offers nothing
// when there is no memory for the pins. Returns false when nothing of it can be written.
bool Receiver::OfferDirect(iovec* iov, size_t max, size_t* count) {
  if (pins_ == nullptr) pins_.reset(new (std::nothrow) Pin[kRxPins]);
  if (pins_ == nullptr) return true;
  size_t want = payload_left_ - (EndIsPolled() ? std::min(payload_left_, kPolledTail) : 0);
  Cursor cursor = cursor_;
  while (want > 0 && *count + 1 < max && *count < kRxPins) {
    AccessRequest piece;
    if (!NextPiece(&cursor, want, &piece)) break;
    const AccessError error = state_.memory().Acquire(piece, &pins_[*count]);
    if (error != AccessError::kNone) {
      if (*count > 0) break;  // the pieces before it come first
      RefusePlacement(error);
      return false;
    }
    iov[(*count)++] = {pins_[pin_count_++].address(), piece.length};
    direct_offered_ += piece.length;
    want -= piece.length;
  }
  return true;
}

[[gnu::hot]] void Receiver::Take(size_t size) {
  state_.counters.bytes_received += size;
  const size_t direct = std::min(size, direct_offered_);
  if (direct > 0) TakeDirect(direct);
  const size_t staged = std::min(size - direct, staging_offered_);
  staging_.Add(staged);
  filled_ = staged == staging_offered_;
}

// This many bytes have arrived at their destination.
void Receiver::TakeDirect(size_t size) {
  state_.counters.bytes_direct_in += size;
  size_t left = size;
  AccessRequest piece;
  while (left > 0 && NextPiece(&cursor_, left, &piece)) left -= piece.length;
  payload_left_ -= size;
  direct_offered_ = 0;
}

// If the length changes meanwhile, staging has more or less than an FPDU, which the steps find out.
size_t Receiver::StageOneFpdu(ByteSpan bytes) {
  const size_t staged = staging_.size();
  size_t whole = 0;  // of the FPDU in front, from the first staged byte on
  if (phase_ != RxPhase::kHeader) {
    if (payload_size_ >= state_.config.direct_payload) return 0;
    whole = payload_left_ + trailer_left_;
  } else {
    if (staged + bytes.size() < iwarp::kFpduLengthSize) return 0;
    uint8_t length[iwarp::kFpduLengthSize];
    for (size_t i = 0; i < sizeof length; ++i) {
      length[i] = i < staged ? staging_.front()[i] : bytes[i - staged];
    }
    const size_t ulpdu = LoadBe16(length);
    if (ulpdu >= state_.config.direct_payload) return 0;
    whole = iwarp::FpduSize(ulpdu);
  }
  if (whole <= staged) return 0;
  const size_t size = std::min(whole - staged, bytes.size());
  if (staging_.MakeRoom(size, /*grow=*/false) < size) return 0;
  std::memcpy(staging_.room(), bytes.data(), size);
  staging_.Add(size);
  return size;
}

[[gnu::hot]] void Receiver::AdaptReadAhead() {
  if (segment_was_large_) {
    read_ahead_ = kMinReadAhead;
  } else if (filled_) {
    read_ahead_ = std::min(read_ahead_ * 4, kMaxReadAhead);
  }
}

// -------------------------------------------------------------------------------------------------
// Steps

[[gnu::hot]] bool Receiver::StepHeader() {
  const uint8_t* fpdu = staging_.front();
  const size_t ulpdu = LoadBe16(fpdu);
  const size_t total = iwarp::FpduSize(ulpdu);
  const bool crc = state_.config.agreement.crc;
  // With CRC, nothing in an FPDU is trusted before all of it has arrived (RFC 5044 §4.4).
  const size_t front = std::min(ulpdu, iwarp::kMaxDdpHeaderSize);
  if (!staging_.Need(crc ? total : iwarp::kFpduLengthSize + front)) return false;
  ulpdu_ = ulpdu;
  if (crc && !iwarp::FpduCrcOk({fpdu, total})) {
    state_.Fail(iwarp::kTermMpaCrc, {}, 0, Blame::Nobody(), "an FPDU with a wrong CRC arrived");
    return false;
  }
  const iwarp::DdpParse parsed =
      iwarp::ParseDdpHeader({fpdu + iwarp::kFpduLengthSize, front}, &header_);
  if (parsed != iwarp::DdpParse::kOk) {
    state_.Fail(iwarp::TerminateFor(parsed), {fpdu + iwarp::kFpduLengthSize, front}, ulpdu,
                Blame::Nobody(), "bad DDP segment: ", iwarp::DdpParseText(parsed));
    return false;
  }
  const size_t payload = ulpdu - header_.size;
  if (IsFixedForm(header_) && !CheckForm(payload)) return false;
  if (StartSegment(payload) != Verdict::kGo) return false;
  ++state_.counters.fpdus_received;
  payload_size_ = payload_left_ = payload;
  segment_was_large_ |= payload >= state_.config.direct_payload;
  trailer_left_ = iwarp::FpduTrailerSize(ulpdu);
  staging_.Consume(iwarp::kFpduLengthSize + header_.size);
  if (IsFixedForm(header_)) {  // taken whole already
    staging_.Consume(payload);
    payload_left_ = 0;
  }
  phase_ = RxPhase::kPayload;
  return true;
}

bool Receiver::CheckForm(size_t payload) {
  const iwarp::TerminateCode form = iwarp::CheckFixedForm(header_, payload);
  // A Terminate is evidence, never a reason to fail.
  if (form.ok() || header_.opcode == Opcode::kTerminate) return true;
  FailSegment(form, Blame::Nobody(), "a message of fixed form with a wrong length");
  return false;
}

[[gnu::hot]] bool Receiver::StepPayload() {
  size_t now = std::min(payload_left_, staging_.size());
  // The last bytes stay here until they can be stored in one piece.
  if (now < payload_left_ && EndIsPolled()) {
    now = std::min(now, payload_left_ - std::min<size_t>(payload_left_, sizeof(uint64_t)));
  }
  if (now > 0) {
    if (!Place(staging_.front(), now)) return false;
    staging_.Consume(now);
    payload_left_ -= now;
    state_.counters.bytes_copied_in += now;
  }
  if (payload_left_ > 0) return false;
  phase_ = RxPhase::kTrailer;
  FinishSegment();
  return true;
}

// -------------------------------------------------------------------------------------------------
// Behind a message that waits

// A message that waits for its receive holds back everything after it on the stream. Answers to our
// own requests must not wait with it, because the consumer may wait for them before it posts the
// receive. So the stream reads on, takes answers out, and keeps the rest in order until the receive
// comes.
bool Receiver::StepBehind() {
  while (true) {
    const size_t left = staging_.unseen();
    if (left < iwarp::kFpduLengthSize) return false;
    const uint8_t* const fpdu = staging_.unseen_front();
    const size_t size = iwarp::FpduSize(LoadBe16(fpdu));
    if (left < size) return false;
    if (IsAnswer(fpdu, size)) {
      // The answer is handled as if it were the next FPDU.
      const size_t begin = staging_.BringForward();
      const bool write_in_front = write_in_front_;
      // The header of the message that waits. A Terminate may have to name it.
      const iwarp::DdpHeader header = header_;
      const size_t ulpdu = ulpdu_;
      if (!StepHeader() || !StepPayload()) return false;
      phase_ = RxPhase::kHeader;
      trailer_left_ = 0;
      write_in_front_ = write_in_front;
      header_ = header;
      ulpdu_ = ulpdu;
      staging_.PutBack(begin, size);
      return true;
    }
    staging_.Skip(size);
  }
}

// A damaged FPDU does not count as an answer. It ends the connection when its turn comes.
bool Receiver::IsAnswer(const uint8_t* fpdu, size_t size) const {
  const size_t ulpdu = LoadBe16(fpdu);
  iwarp::DdpHeader h;
  if (iwarp::ParseDdpHeader(
          {fpdu + iwarp::kFpduLengthSize, std::min(ulpdu, iwarp::kMaxDdpHeaderSize)}, &h) !=
      iwarp::DdpParse::kOk) {
    return false;
  }
  if (h.opcode != Opcode::kReadResponse && h.opcode != Opcode::kAtomicResponse &&
      h.opcode != Opcode::kTerminate && !IsPartingWord(h, ulpdu - h.size)) {
    return false;
  }
  return !state_.config.agreement.crc || iwarp::FpduCrcOk({fpdu, size});
}

void Receiver::FailSegment(iwarp::TerminateCode code, const Blame& blame, std::string_view what,
                           std::string_view detail) {
  uint8_t front[iwarp::kMaxDdpHeaderSize];
  const iwarp::DdpHeader& h = header_;
  if (h.tagged) {
    iwarp::EncodeTagged(front, h.opcode, h.last, h.stag, h.to);
  } else {
    iwarp::EncodeUntagged(front, h.opcode, h.last, h.stag, h.qn, h.msn, h.mo);
  }
  state_.Fail(code, {front, h.size}, ulpdu_, blame, what, detail);
}

}  // namespace softdat::softnet
