// SPDX-License-Identifier: BSD-3-Clause
// Requests in order, by positions that run on for ever. The ring is small at first and doubles when
// it is full, because an agreement allows more requests than most connections ever have at a time:
// an idle end point takes little memory, and a busy one goes round in few cache lines.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_REQUEST_RING_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_REQUEST_RING_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <utility>

#include "provider_softnet/queue/raw_array.h"

namespace softdat::softnet {

template <typename T>
class RequestRing {
 public:
  static constexpr uint32_t kFirst = 4;  // a power of two

  // `most`: the number of requests that there can be at a time. Not 0.
  explicit RequestRing(uint32_t most) : limit_(std::bit_ceil(most)) {}

  T& operator[](uint32_t position) { return ring_[position & (size_ - 1)]; }
  const T& operator[](uint32_t position) const { return ring_[position & (size_ - 1)]; }

  // Makes sure of a place at `back` behind the requests from `front` on. Returns false without
  // memory. References to requests end when the ring was full.
  bool Have(uint32_t front, uint32_t back) {
    if (back - front < size_) [[likely]]
      return true;
    return Grow(front, back);
  }

 private:
  bool Grow(uint32_t front, uint32_t back) {
    const uint32_t size = std::min(size_ == 0 ? kFirst : 2 * size_, limit_);
    RawArray<T> larger;
    if (size == size_ || !larger.Allocate(size)) return false;
    for (uint32_t i = front; i != back; ++i) larger[i & (size - 1)] = (*this)[i];
    ring_ = std::move(larger);
    size_ = size;
    return true;
  }

  const uint32_t limit_;
  uint32_t size_ = 0;  // a power of two, or no memory yet
  RawArray<T> ring_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_REQUEST_RING_H_
