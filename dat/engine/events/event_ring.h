// SPDX-License-Identifier: BSD-3-Clause
// Bounded FIFO of events. It is not thread-safe, because its EVD's mutex protects it.
#ifndef SOFTDAT_DAT_ENGINE_EVENTS_EVENT_RING_H_
#define SOFTDAT_DAT_ENGINE_EVENTS_EVENT_RING_H_

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "dat2/udat.h"

namespace softdat::engine {

class EventRing {
 public:
  // calloc, so that the pages of a deep queue cost nothing until events reach them.
  explicit EventRing(size_t capacity)
      : slots_(static_cast<DAT_EVENT*>(std::calloc(capacity, sizeof(DAT_EVENT)))),
        capacity_(capacity) {}

  bool valid() const { return slots_ != nullptr; }
  size_t capacity() const { return capacity_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == capacity_; }

  // The slot of the next event, for the caller to fill in. Null when the ring is full.
  DAT_EVENT* Push() {
    if (full()) return nullptr;
    const size_t index = Wrap(head_ + size_);
    ++size_;
    return &slots_.get()[index];
  }

  // The ring must not be empty.
  void Pop(DAT_EVENT* out) {
    *out = slots_.get()[head_];
    head_ = Wrap(head_ + 1);
    --size_;
    if (size_ == 0) head_ = 0;  // keeps a shallow queue on its first pages
  }

 private:
  struct Free {
    void operator()(DAT_EVENT* p) const { std::free(p); }
  };

  size_t Wrap(size_t i) const { return i < capacity_ ? i : i - capacity_; }

  std::unique_ptr<DAT_EVENT, Free> slots_;
  size_t capacity_;
  size_t head_ = 0;
  size_t size_ = 0;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EVENTS_EVENT_RING_H_
