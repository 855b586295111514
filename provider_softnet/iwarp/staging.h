// SPDX-License-Identifier: BSD-3-Clause
// Received bytes that are not worked through yet: FPDU headers, small payloads, the ends of large
// ones. The memory is borrowed from the adapter while bytes are in it. It may grow on the heap
// while a message waits for its receive and answers may come after it.
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
  // `user` identifies the borrower (BlockPool).
  Staging(StreamBlocks* blocks, const void* user) : blocks_(blocks), user_(user) {}
  ~Staging() { GiveBack(); }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  bool empty() const { return begin_ == end_; }
  size_t size() const { return end_ - begin_; }
  const uint8_t* front() const { return data_ + begin_; }

  // Makes room for up to `wanted` more bytes after the present ones. `grow`: takes memory from the
  // heap if needed. Returns how much room there is, 0 without memory.
  size_t MakeRoom(size_t wanted, bool grow);
  uint8_t* room() { return data_ + end_; }
  void Add(size_t size) { end_ += size; }
  void Consume(size_t size) { begin_ += size; }

  // How many bytes the frame in front must have before it is looked at again. 0: any number.
  size_t needed() const { return needed_; }
  // Whether there are `total` bytes. If not, asks for that many.
  bool Need(size_t total) {
    needed_ = total;
    if (size() < total) return false;
    needed_ = 0;
    return true;
  }

  // ---- behind a message that waits ----

  // The bytes that were not looked at, and where they begin.
  size_t unseen() {
    seen_ = std::max(seen_, begin_);
    return end_ - seen_;
  }
  const uint8_t* unseen_front() const { return data_ + seen_; }
  void Skip(size_t size) { seen_ += size; }
  // Makes the unseen bytes the front until PutBack(). Returns the previous front, which the caller
  // keeps.
  size_t BringForward() { return std::exchange(begin_, seen_); }
  // Takes out the `size` bytes that were brought forward, and makes `begin` the front again.
  void PutBack(size_t begin, size_t size) {
    begin_ = begin;
    std::memmove(data_ + seen_, data_ + seen_ + size, end_ - seen_ - size);
    end_ -= size;
  }

  // Returns the memory if nothing is in it and it is not to be kept.
  void GiveBackIfEmpty() {
    if (empty() && (!keep_ || held_ != nullptr)) GiveBack();
  }
  // Whether to keep the block while nothing is in it.
  void Keep(bool keep) {
    keep_ = keep;
    GiveBackIfEmpty();
  }
  bool full_grown() const { return size() >= kMostHeld; }

  static constexpr size_t kBlock = 80 * 1024;  // at least one FPDU
  // The most that is read and kept while a message waits for its receive.
  static constexpr size_t kMostHeld = 8 << 20;

 private:
  bool Grow();
  void GiveBack() {
    if (held_ != nullptr) [[unlikely]] {
      held_.reset();
      data_ = nullptr;
      capacity_ = kBlock;
    }
    if (data_ != nullptr) blocks_->receiving.Give(user_, std::exchange(data_, nullptr));
  }

  StreamBlocks* const blocks_;
  const void* const user_;
  uint8_t* data_ = nullptr;          // borrowed while bytes are in it, or held_
  std::unique_ptr<uint8_t[]> held_;  // while more than a block is kept
  size_t capacity_ = kBlock;
  bool keep_ = false;
  size_t begin_ = 0, end_ = 0;  // the bytes that are not worked through
  size_t seen_ = 0;             // bytes up to here were searched for answers
  size_t needed_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_STAGING_H_
