// SPDX-License-Identifier: BSD-3-Clause
// SendBuffer.
#include "provider_softnet/iwarp/send_buffer.h"

#include <algorithm>
#include <new>

#include "provider_softnet/iwarp/stream_config.h"
#include "wire/iwarp/fpdu.h"
#include "wire/iwarp/rdmap.h"

namespace softdat::softnet {

namespace {

// The most room in the arena that one FPDU takes: head, copied payload, trailer.
constexpr size_t kFpduRoom = iwarp::kUntaggedFpduHeaderSize +
                             std::max(kInlineMessage, iwarp::kAtomicRequestSize) +
                             iwarp::kFpduMaxTrailer;

}  // namespace

SendBuffer::SendBuffer(StreamBlocks* blocks, const void* user, bool crc)
    : blocks_(blocks), user_(user), crc_(crc) {}

bool SendBuffer::Take() {
  uint8_t* const block = blocks_->sending.Take(user_);
  if (block == nullptr) return false;
  // New() and Pin() start the lifetimes of the elements.
  ring_ = reinterpret_cast<TxFpdu*>(block);
  pins_ = reinterpret_cast<softnet::Pin*>(ring_ + kRing);
  arena_ = reinterpret_cast<uint8_t*>(pins_ + kPins);
  arena_used_ = 0;
  one_piece_ = true;
  return true;
}

void SendBuffer::GiveBack() {
  if (arena_ == nullptr) return;
  ReleasePins();
  blocks_->sending.Give(user_, reinterpret_cast<uint8_t*>(std::exchange(ring_, nullptr)));
  arena_ = nullptr;
}

[[gnu::hot]] TxFpdu* SendBuffer::New() {
  if (back_ - front_ == kRing) return nullptr;
  const size_t room = kFpduRoom + (crc_ ? kCopiedResponse : 0);
  if (kArena - arena_used_ < room) return nullptr;
  TxFpdu* fpdu = &ring_[back_ % kRing];
  new (fpdu) TxFpdu();
  fpdu->head = static_cast<uint32_t>(arena_used_);
  return fpdu;
}

[[gnu::hot]] void SendBuffer::Commit(TxFpdu* fpdu, size_t ulpdu, uint32_t crc_state) {
  uint8_t* trailer = arena_ + fpdu->head + fpdu->head_size;
  const size_t size = crc_ ? iwarp::StoreFpduTrailer(trailer, ulpdu, crc_state)
                           : iwarp::StoreFpduTrailerWithoutCrc(trailer, ulpdu);
  fpdu->trailer_size = static_cast<uint32_t>(size);
  arena_used_ = fpdu->head + fpdu->head_size + fpdu->trailer_size;
  one_piece_ &= fpdu->payload == 0;
  ++back_;
}

[[gnu::hot]] void SendBuffer::CommitCopied(TxFpdu* fpdu) {
  uint32_t state = kCrc32cInit;
  if (crc_) state = Crc32cExtend(state, arena_ + fpdu->head, fpdu->head_size);
  Commit(fpdu, fpdu->head_size - iwarp::kFpduLengthSize, state);
}

SendBuffer::Access SendBuffer::Pin(MemoryTable& memory, const AccessRequest& request,
                                   uint8_t** address, AccessError* error) {
  const size_t look_back = std::min<size_t>(pin_count_, 4);
  for (size_t i = 1; i <= look_back; ++i) {
    if (pins_[pin_count_ - i].Covers(request, address)) return Access::kGranted;
  }
  if (pin_count_ == kPins) return Access::kNoRoom;
  softnet::Pin* const pin = new (&pins_[pin_count_]) softnet::Pin();
  *error = memory.Acquire(request, pin);
  if (*error != AccessError::kNone) return Access::kRefused;
  *address = pin->address();
  ++pin_count_;
  return Access::kGranted;
}

}  // namespace softdat::softnet
