// SPDX-License-Identifier: BSD-3-Clause
// CRC-32 over ISA-L, which picks the best instructions of the machine at run time.

#include "wire/crc32.h"

#include <isa-l/crc.h>

#include "wire/upper_halves.h"

namespace softdat {

[[gnu::hot]] uint32_t Crc32Extend(uint32_t state, const void* data, size_t size) {
  if (size == 0) return state;
  // crc32_gzip_refl takes and gives finished values, that is inverted states.
  state = ~crc32_gzip_refl(~state, static_cast<const unsigned char*>(data), size);
  wire_internal::ClearUpperHalves();
  return state;
}

}  // namespace softdat
