// SPDX-License-Identifier: BSD-3-Clause
// Received bytes that are not worked through yet: FPDU headers, small payloads, the ends of large
// ones. The memory is borrowed from the adapter while bytes are in it; while a message waits for
// its receive, and answers may stand behind it, it may grow on the heap.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_STAGING_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_STAGING_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "provider_softnet/iwarp/stream_blocks.h"

namespace softdat::softnet {

class Staging {
 public:
  // `user` is who borrows (BlockPool).
  Staging(StreamBlocks* blocks, const void* user) : blocks_(blocks), user_(user) {}
  ~Staging() { GiveBack(); }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  bool empty() const { return begin_ == end_; }
  size_t size() const { return end_ - begin_; }
  const uint8_t* front() const { return data_ + begin_; }

  // Room for `wanted` more bytes or less, behind what is there; `grow`: from the heap if it must
  // be. Returns how much, 0 without memory.
  size_t MakeRoom(size_t wanted, bool grow);
  uint8_t* room() { return data_ + end_; }
  void Add(size_t size) { end_ += size; }
  void Consume(size_t size) { begin_ += size; }

  // What the frame in front must have before it is looked at again; 0: anything.
  size_t needed() const { return needed_; }
  // Whether there are `total` bytes; if not, that many are asked for.
  bool Need(size_t total) {
    needed_ = total;
    if (size() < total) return false;
    needed_ = 0;
    return true;
  }

  // ---- behind a message that waits ----

  // Bytes behind `seen_to` that were not looked at, and where they begin.
  size_t unseen() {
    seen_ = std::max(seen_, begin_);
    return end_ - seen_;
  }
  const uint8_t* unseen_front() const { return data_ + seen_; }
  void Skip(size_t size) { seen_ += size; }
  // Makes what is unseen the front, until PutBack(): what was in front before, to be kept.
  size_t BringForward() { return std::exchange(begin_, seen_); }
  // The `size` bytes that were brought forward are taken out, and `begin` is the front again.
  void PutBack(size_t begin, size_t size) {
    begin_ = begin;
    std::memmove(data_ + seen_, data_ + seen_ + size, end_ - seen_ - size);
    end_ -= size;
  }

  // Nothing is in it.
  void GiveBackIfEmpty() {
    if (empty()) GiveBack();
  }
  bool full_grown() const { return size() >= kMostHeld; }

  static constexpr size_t kBlock = 80 * 1024;  // an FPDU at least
  // What is read and kept at most while a message waits for its receive.
  static constexpr size_t kMostHeld = 8 << 20;

 private:
  bool Grow();
  void GiveBack();

  StreamBlocks* const blocks_;
  const void* const user_;
  uint8_t* data_ = nullptr;          // borrowed while bytes are in it, or held_
  std::unique_ptr<uint8_t[]> held_;  // while more than a block is kept
  size_t capacity_ = kBlock;
  size_t begin_ = 0, end_ = 0;  // bytes that are not worked through
  size_t seen_ = 0;             // up to here what waits has been looked at for answers
  size_t needed_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_STAGING_H_
