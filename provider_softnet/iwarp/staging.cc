// SPDX-License-Identifier: BSD-3-Clause
// Staging.
#include "provider_softnet/iwarp/staging.h"

#include <new>

namespace softdat::softnet {

[[gnu::hot]] size_t Staging::MakeRoom(size_t wanted, bool grow) {
  if (data_ == nullptr) data_ = blocks_->receiving.Take(user_);
  if (data_ == nullptr) return 0;
  if (begin_ == end_) {
    begin_ = end_ = 0;
    seen_ = 0;
  } else if (begin_ > 0 && capacity_ - end_ < wanted) {
    std::memmove(data_, data_ + begin_, end_ - begin_);
    end_ -= begin_;
    seen_ -= std::min(seen_, begin_);
    begin_ = 0;
  }
  if (grow && capacity_ - end_ < wanted && !Grow()) return 0;
  return std::min(wanted, capacity_ - end_);
}

// Doubles the room, from the heap. Returns false without memory, or when that would be too much.
bool Staging::Grow() {
  const size_t capacity = capacity_ * 2;
  if (capacity_ >= kMostHeld) return false;
  std::unique_ptr<uint8_t[]> larger(new (std::nothrow) uint8_t[capacity]);
  if (larger == nullptr) return false;
  const size_t kept = end_ - begin_;
  std::memcpy(larger.get(), data_ + begin_, kept);
  seen_ -= std::min(seen_, begin_);
  GiveBack();
  held_ = std::move(larger);
  data_ = held_.get();
  capacity_ = capacity;
  begin_ = 0;
  end_ = kept;
  return true;
}

}  // namespace softdat::softnet
