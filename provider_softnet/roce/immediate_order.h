// SPDX-License-Identifier: BSD-3-Clause
// The byte order of immediate data. A program's 32 bits go to the wire as they lie in its memory,
// because verbs, and so Debian's provider and ours over verbs, put them there unconverted.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_IMMEDIATE_ORDER_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_IMMEDIATE_ORDER_H_

#include <bit>
#include <cstdint>

namespace softdat::softnet {

// Between a program's 32 bits and the number that the header holds, which is big-endian; the same
// in both directions.
constexpr uint32_t ImmediateOrder(uint32_t value) {
  return std::endian::native == std::endian::little ? __builtin_bswap32(value) : value;
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_IMMEDIATE_ORDER_H_
