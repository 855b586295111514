// SPDX-License-Identifier: BSD-3-Clause
// A copy past the caches, for bytes that another processor will read.
//
// A line that one processor has changed and another one fetches passes from cache to cache, each by
// itself. Between processors without a common cache that makes 2 GB/s. Memory delivers lines ahead
// of their use, so that bytes which go there first come at several times that rate.
#ifndef SOFTDAT_PROVIDER_SOFTNET_SHM_STREAMING_COPY_H_
#define SOFTDAT_PROVIDER_SOFTNET_SHM_STREAMING_COPY_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace softdat::softnet {

#if defined(__x86_64__)

// Copies `size` bytes. Stores that follow may become visible before them: OrderStreamed().
inline void StreamingCopy(uint8_t* to, const uint8_t* from, size_t size) {
  constexpr size_t kLine = 64;
  const size_t before = (kLine - reinterpret_cast<uintptr_t>(to) % kLine) % kLine;
  if (size < before + kLine) {
    std::memcpy(to, from, size);
    return;
  }
  std::memcpy(to, from, before);
  size_t done = before;
  for (; done + kLine <= size; done += kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from + done);
    auto* target = reinterpret_cast<__m128i*>(to + done);
    const __m128i first = _mm_loadu_si128(source), second = _mm_loadu_si128(source + 1),
                  third = _mm_loadu_si128(source + 2), fourth = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, first);
    _mm_stream_si128(target + 1, second);
    _mm_stream_si128(target + 2, third);
    _mm_stream_si128(target + 3, fourth);
  }
  std::memcpy(to + done, from + done, size - done);
}

// What has been copied before is visible before what is stored from now on.
inline void OrderStreamed() { _mm_sfence(); }

#else

inline void StreamingCopy(uint8_t* to, const uint8_t* from, size_t size) {
  std::memcpy(to, from, size);
}

inline void OrderStreamed() {}

#endif

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_SHM_STREAMING_COPY_H_
