// SPDX-License-Identifier: BSD-3-Clause
// Placement of data that a program may poll (semantics 10.3).
#ifndef SOFTDAT_PROVIDER_SOFTNET_MEMORY_POLLED_COPY_H_
#define SOFTDAT_PROVIDER_SOFTNET_MEMORY_POLLED_COPY_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace softdat::softnet {

// Copies a payload that is usually of a few dozen bytes. These need neither a call nor a string
// instruction, whose start costs more than the copy. Whole words of 4 and 8 bytes are copied as
// such, as std::memcpy() does.
[[gnu::always_inline]] inline void CopyBrief(uint8_t* to, const uint8_t* from, size_t size) {
  constexpr size_t kUnit = 16;
  constexpr size_t kBrief = 256;
  if (size > kBrief) {
    asm("" : "+r"(size));  // so that the compiler does not know a bound, and calls it
    std::memcpy(to, from, size);
  } else if (size >= kUnit) {
    size_t done = 0;
    do {
      std::memcpy(to + done, from + done, kUnit);
      done += kUnit;
    } while (done + kUnit <= size);
    std::memcpy(to + size - kUnit, from + size - kUnit, kUnit);
  } else if (size >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + size - 4, from + size - 4, 4);
  } else {
    for (size_t i = 0; i < size; ++i) to[i] = from[i];
  }
}

// Copies the end of a message or an RDMA write so that its last bytes become visible last, and
// after everything before them. The last unit is one store of up to 8 bytes.
[[gnu::hot]] inline void CopyPolledEnd(uint8_t* to, const uint8_t* from, size_t size) {
  if (size == 0) return;
  const uintptr_t end = reinterpret_cast<uintptr_t>(to) + size;
  const size_t unit = end % 8 == 0 && size >= 8 ? 8 : end % 4 == 0 && size >= 4 ? 4 : 1;
  const size_t rest = size - unit;
  CopyBrief(to, from, rest);
  to += rest;
  from += rest;
  if (unit == 8) {
    uint64_t v;
    std::memcpy(&v, from, sizeof v);
    __atomic_store_n(reinterpret_cast<uint64_t*>(to), v, __ATOMIC_RELEASE);
  } else if (unit == 4) {
    uint32_t v;
    std::memcpy(&v, from, sizeof v);
    __atomic_store_n(reinterpret_cast<uint32_t*>(to), v, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(to, *from, __ATOMIC_RELEASE);
  }
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_MEMORY_POLLED_COPY_H_
