// SPDX-License-Identifier: BSD-3-Clause
// FPDUs that are gathered and not wholly sent. Heads, copied payloads and trailers lie in an arena.
// Long payloads stay in the consumer's memory, under pins that are held while TCP looks at them.
// All of it is one block, borrowed from the adapter while something is gathered, or it is to be
// kept.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_SEND_BUFFER_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_SEND_BUFFER_H_

#include <cstdint>
#include <utility>

#include "provider_softnet/iwarp/stream_blocks.h"
#include "provider_softnet/memory/memory_table.h"

namespace softdat::softnet {

struct TxFpdu {
  uint32_t head = 0;  // arena offset of length field, DDP header, copied payload
  uint32_t head_size = 0;
  uint32_t payload = 0;       // bytes sent from the consumer's memory, after the head
  uint32_t trailer_size = 0;  // pad and CRC, in the arena after the head
  uint32_t sent = 0;          // bytes of all this that TCP has taken
  enum class Source : uint8_t { kArena, kSend, kResponse } source = Source::kArena;
  bool ends_work = false;      // its last byte completes the send at `position`
  bool ends_response = false;  // its last byte frees the oldest response
  bool of_work = false;        // belongs to a request in the send queue, or confirms some
  bool asks = false;           // a request with an answer: the next one of OwnRequests
  uint64_t position = 0;       // kSend: the position in the send queue
  uint32_t segment = 0;        // kSend: where the payload begins in the work's segments
  uint32_t segment_offset = 0;
  uint32_t key = 0;  // kResponse: where the payload begins
  uint64_t offset = 0;
  uint32_t size() const { return head_size + payload + trailer_size; }
};

class SendBuffer {
 public:
  // `user` identifies the borrower (BlockPool).
  SendBuffer(StreamBlocks* blocks, const void* user, bool crc);
  ~SendBuffer() { GiveBack(); }
  SendBuffer(const SendBuffer&) = delete;
  SendBuffer& operator=(const SendBuffer&) = delete;

  // Returns false without memory. Nothing is gathered yet.
  [[nodiscard]] bool Take();
  bool taken() const { return arena_ != nullptr; }
  // Forgets everything that is gathered.
  void GiveBack();
  // Nothing is gathered. Starts again at the front of the block, which is warm.
  void GiveBackUnlessKept() {
    ReleasePins();
    front_ = back_ = 0;
    arena_used_ = 0;
    one_piece_ = true;
    if (!keep_) GiveBack();
  }
  // Whether to keep the block while nothing is gathered.
  void Keep(bool keep) {
    keep_ = keep;
    if (!keep && empty()) GiveBack();
  }

  bool empty() const { return front_ == back_; }
  uint32_t count() const { return back_ - front_; }
  // Whether all that was gathered since the buffer was empty lies in the arena, one FPDU behind the
  // other.
  bool in_one_piece() const { return one_piece_ && !empty(); }
  // Then this many bytes of it are not sent.
  size_t unsent() const {
    const TxFpdu& oldest = at(front_);
    return arena_used_ - oldest.head - oldest.sent;
  }
  // Free-running positions of the FPDUs.
  uint32_t front() const { return front_; }
  uint32_t back() const { return back_; }
  TxFpdu& at(uint32_t position) { return ring_[position % kRing]; }
  const TxFpdu& at(uint32_t position) const { return ring_[position % kRing]; }
  TxFpdu& oldest() { return at(front_); }

  // Returns a free descriptor whose head begins at head_of() it, or null while there is no room.
  // The FPDU is gathered when it is committed.
  TxFpdu* New();
  uint8_t* head_of(const TxFpdu& fpdu) const { return arena_ + fpdu.head; }
  // Adds the trailer. `ulpdu` is in bytes. `crc_state` covers everything except the pad.
  void Commit(TxFpdu* fpdu, size_t ulpdu, uint32_t crc_state);
  // For FPDUs that lie completely in the arena.
  void CommitCopied(TxFpdu* fpdu);

  void PopFront() { ++front_; }
  // From now on the ring holds [front, back), and nothing after `back`.
  void CutBack(uint32_t back) {
    back_ = back;
    one_piece_ = false;
  }
  void DropAll() { front_ = back_; }

  enum class Access : uint8_t { kGranted, kNoRoom, kRefused };
  // Pins memory until ReleasePins(). Uses the pin of an earlier piece if it covers the access.
  Access Pin(MemoryTable& memory, const AccessRequest& request, uint8_t** address,
             AccessError* error);
  void ReleasePins() {
    while (pin_count_ > 0) pins_[--pin_count_].~Pin();
  }

  static constexpr uint32_t kRing = 128;
  static constexpr size_t kPins = 64;
  static constexpr size_t kArena = 96 * 1024;
  static constexpr size_t kBlock = kRing * sizeof(TxFpdu) + kPins * sizeof(softnet::Pin) + kArena;
  // With CRC, read responses are copied before they are summed. Their memory may change at any
  // time, and a wrong sum would end the connection.
  static constexpr size_t kCopiedResponse = 16 * 1024;

 private:
  StreamBlocks* const blocks_;
  const void* const user_;
  const bool crc_;
  bool keep_ = false;
  uint8_t* arena_ = nullptr;
  TxFpdu* ring_ = nullptr;
  softnet::Pin* pins_ = nullptr;
  size_t arena_used_ = 0;
  uint32_t front_ = 0, back_ = 0;
  bool one_piece_ = true;  // of all since the buffer was empty
  size_t pin_count_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_SEND_BUFFER_H_
