// SPDX-License-Identifier: BSD-3-Clause
// CRC32c over ISA-L, which picks the best instructions of the machine at run time.

#include "wire/crc32c.h"

#include <isa-l/crc.h>

#include "wire/upper_halves.h"

namespace softdat {
namespace {

// Below this size ISA-L uses the scalar crc32 instruction.
constexpr size_t kWide = 64;

}  // namespace

uint32_t Crc32cExtend(uint32_t state, const void* data, size_t size) {
  // crc32_iscsi inverts neither its input nor its result, so the caller's running state passes
  // straight through. It takes a non-const pointer (though it only reads) and an int length.
  constexpr size_t kMaxStep = size_t{1} << 30;
  const bool wide = size >= kWide;
  auto* p = static_cast<unsigned char*>(const_cast<void*>(data));
  while (size > 0) {
    const size_t step = size < kMaxStep ? size : kMaxStep;
    state = crc32_iscsi(p, static_cast<int>(step), state);
    p += step;
    size -= step;
  }
  if (wide) wire_internal::ClearUpperHalves();
  return state;
}

}  // namespace softdat
