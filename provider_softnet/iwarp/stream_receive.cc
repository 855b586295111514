// SPDX-License-Identifier: BSD-3-Clause
// Receiving: where bytes go, and the walk through FPDUs.
#include <algorithm>
#include <cstring>

#include "provider_softnet/iwarp/stream.h"

namespace softdat::softnet {

namespace {

// How much to read ahead of large payloads: a trailer, the next header, a small message. What of
// the next large payload lands there is copied, so it is kept small; small messages make it grow
// again.
constexpr size_t kMinReadAhead = 256;
constexpr size_t kMaxReadAhead = 64 * 1024;
// The end of a message or an RDMA write always goes through staging, so that its last bytes can be
// stored last (semantics 10.3: programs poll them).
constexpr size_t kPolledTail = 64;
// More than a program answers at once: a message, what it announces, confirmation and answer.
constexpr uint64_t kManyFpdus = 12;

}  // namespace

// False without memory.
bool Stream::MakeRoom(size_t wanted) {
  if (staging_ == nullptr) staging_ = config_.blocks->receiving.Take(this);
  if (staging_ == nullptr) return false;
  if (begin_ == end_of_staging_) {
    begin_ = end_of_staging_ = 0;
    looked_to_ = 0;
  } else if (begin_ > 0 && staging_size_ - end_of_staging_ < wanted) {
    std::memmove(staging_, staging_ + begin_, end_of_staging_ - begin_);
    end_of_staging_ -= begin_;
    looked_to_ -= std::min(looked_to_, begin_);
    begin_ = 0;
  }
  if (stalled_ && staging_size_ - end_of_staging_ < wanted && !HoldMore()) return false;
  staging_offered_ = std::min(wanted, staging_size_ - end_of_staging_);
  return true;
}

void Stream::GiveStagingBack() {
  if (held_ != nullptr) {
    held_.reset();
    staging_ = nullptr;
    staging_size_ = kStaging;
  }
  if (staging_ != nullptr) config_.blocks->receiving.Give(this, std::exchange(staging_, nullptr));
}

size_t Stream::ReceiveVector(iovec* iov, size_t max) {
  if (!reads()) return 0;
  size_t count = 0;
  direct_offered_ = 0;
  if (rx_phase_ == RxPhase::kPayload && rx_payload_size_ >= config_.direct_payload &&
      begin_ == end_of_staging_) {
    size_t want = rx_payload_left_ - (EndIsPolled() ? std::min(rx_payload_left_, kPolledTail) : 0);
    RxCursor cursor = rx_cursor_;
    while (want > 0 && count + 1 < max && count < kRxPins) {
      AccessRequest piece;
      if (!NextPiece(&cursor, want, &piece)) break;
      const AccessError error = config_.memory->Acquire(piece, &rx_pins_[count]);
      if (error != AccessError::kNone) {
        if (count > 0) break;  // what comes before it first
        RefusePlacement(error);
        return 0;
      }
      iov[count++] = {rx_pins_[rx_pin_count_++].address(), piece.length};
      direct_offered_ += piece.length;
      want -= piece.length;
    }
  }
  const size_t staged = end_of_staging_ - begin_;
  staging_offered_ = 0;
  if (MakeRoom(std::max(read_ahead_, needed_ > staged ? needed_ - staged : 0))) {
    iov[count++] = {staging_ + end_of_staging_, staging_offered_};
  } else if (count == 0) {
    Abort("no memory for what arrives", Blame::Nobody());
  }
  segment_was_large_ = false;
  return count;
}

void Stream::OnReceived(size_t size) {
  while (rx_pin_count_ > 0) rx_pins_[--rx_pin_count_].Release();
  if (phase_ > Phase::kDraining || size == 0) {
    if (begin_ == end_of_staging_) GiveStagingBack();
    return;
  }
  counters_.bytes_received += size;
  const bool owed = owes();
  const uint64_t fpdus = counters_.fpdus_received;
  const size_t direct = std::min(size, direct_offered_);
  if (direct > 0) {
    counters_.bytes_direct_in += direct;
    size_t left = direct;
    AccessRequest piece;
    while (left > 0 && NextPiece(&rx_cursor_, left, &piece)) left -= piece.length;
    rx_payload_left_ -= direct;
    direct_offered_ = 0;
  }
  const size_t staged = std::min(size - direct, staging_offered_);
  end_of_staging_ += staged;
  const bool filled = staged == staging_offered_;
  if (stalled_) {
    LookBehind();
  } else {
    Process();
  }
  // A peer that keeps sending is answered all the same, and what comes in numbers is a stream, for
  // which no reply is on its way that the answer could ride on.
  if ((owed || counters_.fpdus_received - fpdus >= kManyFpdus) && owes()) PayOwed();
  if (segment_was_large_) {
    read_ahead_ = kMinReadAhead;
  } else if (filled) {
    read_ahead_ = std::min(read_ahead_ * 4, kMaxReadAhead);
  }
  if (begin_ == end_of_staging_) GiveStagingBack();
}

// Works through what is staged until more bytes, a receive or the end are needed.
void Stream::Process() {
  while (phase_ <= Phase::kDraining) {
    if (rx_phase_ == RxPhase::kHeader) {
      if (!ProcessHeader()) break;
    } else if (rx_phase_ == RxPhase::kPayload) {
      if (!ProcessPayload()) break;
    } else {
      const size_t skip = std::min(rx_trailer_left_, end_of_staging_ - begin_);
      begin_ += skip;
      rx_trailer_left_ -= skip;
      if (rx_trailer_left_ > 0) break;
      rx_phase_ = RxPhase::kHeader;
    }
  }
  if (stalled_) LookBehind();
  if (fin_read_ && !stalled_) OnPeerFin();
}

// Whether the frame at begin_ has `total` bytes; if not, that many are asked for.
bool Stream::NeedBytes(size_t total) {
  needed_ = total;
  if (end_of_staging_ - begin_ < total) return false;
  needed_ = 0;
  return true;
}

bool Stream::ProcessHeader() {
  if (!NeedBytes(iwarp::kFpduLengthSize)) return false;
  const uint8_t* fpdu = staging_ + begin_;
  const size_t ulpdu = LoadBe16(fpdu);
  const size_t total = iwarp::FpduSize(ulpdu);
  const bool crc = config_.agreement.crc;
  // With CRC nothing of an FPDU is believed before all of it is there (RFC 5044 §4.4).
  const size_t front = std::min(ulpdu, iwarp::kMaxDdpHeaderSize);
  if (!NeedBytes(crc ? total : iwarp::kFpduLengthSize + front)) return false;
  rx_ulpdu_ = ulpdu;
  if (crc && !iwarp::FpduCrcOk({fpdu, total})) {
    Break(iwarp::kTermMpaCrc, {}, 0, Blame::Nobody(), "an FPDU with a wrong CRC arrived");
    return false;
  }
  const iwarp::DdpParse parsed =
      iwarp::ParseDdpHeader({fpdu + iwarp::kFpduLengthSize, front}, &rx_header_);
  if (parsed != iwarp::DdpParse::kOk) {
    Break(iwarp::TerminateFor(parsed), {fpdu + iwarp::kFpduLengthSize, front}, ulpdu,
          Blame::Nobody(), std::string("bad DDP segment: ") + iwarp::DdpParseText(parsed));
    return false;
  }
  const size_t payload = ulpdu - rx_header_.size;
  const iwarp::TerminateCode form = iwarp::CheckFixedForm(rx_header_, payload);
  if (!form.ok() && rx_header_.opcode != iwarp::Opcode::kTerminate) {
    BreakSegment(form, Blame::Nobody(), "a message of fixed form with a wrong length");
    return false;
  }
  switch (StartSegment(payload)) {
    case Verdict::kGo:
      break;
    case Verdict::kWait:
    case Verdict::kStop:
      return false;
  }
  ++counters_.fpdus_received;
  rx_payload_size_ = rx_payload_left_ = payload;
  segment_was_large_ |= payload >= config_.direct_payload;
  rx_trailer_left_ = iwarp::FpduTrailerSize(ulpdu);
  begin_ += iwarp::kFpduLengthSize + rx_header_.size;
  if (IsFixedForm(rx_header_)) {  // taken already
    begin_ += payload;
    rx_payload_left_ = 0;
  }
  rx_phase_ = RxPhase::kPayload;
  return true;
}

bool Stream::ProcessPayload() {
  size_t now = std::min(rx_payload_left_, end_of_staging_ - begin_);
  // The last bytes stay here until they can be stored in one piece.
  if (now < rx_payload_left_ && EndIsPolled()) {
    now = std::min(now, rx_payload_left_ - std::min<size_t>(rx_payload_left_, sizeof(uint64_t)));
  }
  if (now > 0) {
    if (!Place(staging_ + begin_, now)) return false;
    begin_ += now;
    rx_payload_left_ -= now;
    counters_.bytes_copied_in += now;
  }
  if (rx_payload_left_ > 0) return false;
  rx_phase_ = RxPhase::kTrailer;
  FinishSegment();
  return phase_ <= Phase::kDraining;
}

void Stream::Stall() {
  stalled_ = true;
  ++counters_.stalls;
  actions_ |= kActStalled;
  if (peer_closing_) {
    SetTimer(config_.fin_grace_us);
  } else if (config_.rnr_timeout_us != 0) {
    SetTimer(config_.rnr_timeout_us);
  }
}

void Stream::OnReceivePosted() {
  if (!stalled_ || phase_ > Phase::kDraining) return;
  if (config_.shared_receives != nullptr ? config_.shared_receives->Available() == 0
                                         : config_.receive_queue->empty()) {
    return;
  }
  stalled_ = false;
  StopTimer();
  actions_ &= ~kActStalled;
  Process();
  if (!stalled_) actions_ |= kActResumed;
}

}  // namespace softdat::softnet
