// SPDX-License-Identifier: BSD-3-Clause
// A message that waits for its receive holds back what stands behind it on the stream. Answers to
// own requests must not wait with it: the consumer may wait for them before it posts the receive.
// So the stream reads on, takes answers out, and keeps the rest in order until the receive comes.
#include <cstring>
#include <new>

#include "provider_softnet/iwarp/stream.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::softnet {

using iwarp::Opcode;

// Twice the room, from the heap. False without memory, or when that would be too much.
bool Stream::HoldMore() {
  const size_t size = staging_size_ * 2;
  if (staging_size_ >= kMostHeld) return false;
  std::unique_ptr<uint8_t[]> larger(new (std::nothrow) uint8_t[size]);
  if (larger == nullptr) return false;
  const size_t kept = end_of_staging_ - begin_;
  std::memcpy(larger.get(), staging_ + begin_, kept);
  looked_to_ -= std::min(looked_to_, begin_);
  GiveStagingBack();
  held_ = std::move(larger);
  staging_ = held_.get();
  staging_size_ = size;
  begin_ = 0;
  end_of_staging_ = kept;
  return true;
}

void Stream::LookBehind() {
  looked_to_ = std::max(looked_to_, begin_);
  while (phase_ <= Phase::kDraining && stalled_) {
    const size_t left = end_of_staging_ - looked_to_;
    if (left < iwarp::kFpduLengthSize) return;
    const uint8_t* fpdu = staging_ + looked_to_;
    const size_t size = iwarp::FpduSize(LoadBe16(fpdu));
    if (left < size) return;
    if (!IsAnswer(fpdu, size)) {
      looked_to_ += size;
    } else if (!TakeAnswer(looked_to_, size)) {
      return;
    }
  }
}

// An FPDU that is damaged is none: its turn to end the connection comes.
bool Stream::IsAnswer(const uint8_t* fpdu, size_t size) const {
  const size_t ulpdu = LoadBe16(fpdu);
  iwarp::DdpHeader h;
  if (iwarp::ParseDdpHeader(
          {fpdu + iwarp::kFpduLengthSize, std::min(ulpdu, iwarp::kMaxDdpHeaderSize)}, &h) !=
      iwarp::DdpParse::kOk) {
    return false;
  }
  if (h.opcode != Opcode::kReadResponse && h.opcode != Opcode::kAtomicResponse &&
      h.opcode != Opcode::kTerminate) {
    return false;
  }
  return !config_.agreement.crc || iwarp::FpduCrcOk({fpdu, size});
}

// Takes the FPDU at `at` of staging as if it were the next, and out of what is kept. False when
// that ended the connection.
bool Stream::TakeAnswer(size_t at, size_t size) {
  const size_t begin = std::exchange(begin_, at);
  const bool write_in_front = write_in_front_;
  // Of the message that waits, which a Terminate may have to name.
  const iwarp::DdpHeader header = rx_header_;
  const size_t ulpdu = rx_ulpdu_;
  if (!ProcessHeader() || !ProcessPayload()) return false;
  rx_phase_ = RxPhase::kHeader;
  rx_trailer_left_ = 0;
  write_in_front_ = write_in_front;
  rx_header_ = header;
  rx_ulpdu_ = ulpdu;
  begin_ = begin;
  std::memmove(staging_ + at, staging_ + at + size, end_of_staging_ - at - size);
  end_of_staging_ -= size;
  return true;
}

}  // namespace softdat::softnet
