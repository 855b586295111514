// SPDX-License-Identifier: BSD-3-Clause
// A queue in one piece of memory, which is kept while elements come and go: in a steady state it
// allocates nothing. A std::deque allocates for each second message.
#ifndef SOFTDAT_RDS_PROTOCOL_RING_H_
#define SOFTDAT_RDS_PROTOCOL_RING_H_

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace softdat::rds {

// References to elements last until the next push_back() or Erase().
template <typename T>
class Ring {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>);

 public:
  Ring() = default;
  Ring(Ring&& other) noexcept { swap(other); }
  Ring& operator=(Ring&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Ring() {
    clear();
    Free();
  }

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // `i`: from the front, less than size().
  T& operator[](size_t i) { return *At(i); }
  const T& operator[](size_t i) const { return *At(i); }
  T& front() { return *At(0); }
  const T& front() const { return *At(0); }

  void push_back(T&& element) {
    if (size_ == places_) Grow();
    std::construct_at(At(size_), std::move(element));
    ++size_;
  }
  void pop_front() {
    std::destroy_at(At(0));
    first_ = (first_ + 1) & (places_ - 1);
    --size_;
    FreeIfEmptied();
  }
  // Those on its shorter side close up.
  void Erase(size_t i) {
    if (i < size_ / 2) {
      for (; i > 0; --i) *At(i) = std::move(*At(i - 1));
      pop_front();
      return;
    }
    for (; i + 1 < size_; ++i) *At(i) = std::move(*At(i + 1));
    std::destroy_at(At(--size_));
    FreeIfEmptied();
  }
  void clear() {
    while (!empty()) pop_front();
  }
  void swap(Ring& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(places_, other.places_);
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
  }

 private:
  static constexpr size_t kFewest = 8, kMostIdle = 256;

  T* At(size_t i) const { return memory_ + ((first_ + i) & (places_ - 1)); }

  void Grow() {
    const size_t places = places_ == 0 ? kFewest : 2 * places_;
    T* const memory = std::allocator<T>().allocate(places);
    for (size_t i = 0; i < size_; ++i) {
      std::construct_at(memory + i, std::move(*At(i)));
      std::destroy_at(At(i));
    }
    if (memory_ != nullptr) std::allocator<T>().deallocate(memory_, places_);
    memory_ = memory;
    places_ = places;
    first_ = 0;
  }
  // A burst does not keep its memory for ever.
  void FreeIfEmptied() {
    if (size_ == 0 && places_ > kMostIdle) Free();
  }
  void Free() {
    if (memory_ != nullptr) std::allocator<T>().deallocate(memory_, places_);
    memory_ = nullptr;
    places_ = first_ = 0;
  }

  T* memory_ = nullptr;
  size_t places_ = 0;  // a power of two, or 0
  size_t first_ = 0;   // place of the front
  size_t size_ = 0;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_PROTOCOL_RING_H_
