// SPDX-License-Identifier: BSD-3-Clause
// A queue of fixed capacity. It takes all its memory when it is made, so that posting and
// completing never allocate. Not thread-safe.
#ifndef SOFTDAT_PROVIDER_TOY_RING_H_
#define SOFTDAT_PROVIDER_TOY_RING_H_

#include <cstddef>
#include <utility>
#include <vector>

namespace softdat::toy {

template <typename T>
class Ring {
 public:
  Ring() = default;
  explicit Ring(size_t capacity) : slots_(capacity) {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == slots_.size(); }

  // The ring must not be full.
  void Push(T item) {
    slots_[(head_ + size_) % slots_.size()] = std::move(item);
    ++size_;
  }

  // The ring must not be empty. Releases at once what the slot owned.
  T Pop() {
    T item = std::exchange(slots_[head_], T());
    head_ = (head_ + 1) % slots_.size();
    --size_;
    return item;
  }

  T& front() { return slots_[head_]; }

  // Keeps the queued items. `capacity` must be at least size().
  void Resize(size_t capacity) {
    Ring larger(capacity);
    while (!empty()) larger.Push(Pop());
    *this = std::move(larger);
  }

 private:
  std::vector<T> slots_;
  size_t head_ = 0;
  size_t size_ = 0;
};

}  // namespace softdat::toy

#endif  // SOFTDAT_PROVIDER_TOY_RING_H_
