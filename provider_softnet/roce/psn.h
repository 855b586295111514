// SPDX-License-Identifier: BSD-3-Clause
// Packet sequence numbers. On the wire they have 24 bits and wrap. Inside they are 64 bits wide and
// never wrap, so that they compare as numbers do.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_PSN_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_PSN_H_

#include <cstdint>

#include "wire/roce/bth.h"

namespace softdat::softnet {

using Psn = uint64_t;

// The first number of a direction, as it was agreed on. One whole turn is added, so that a number
// from before the connection is not negative.
constexpr Psn FirstPsn(uint32_t wire) { return (Psn{1} << 24) + (wire & roce::kMask24); }

constexpr uint32_t WirePsn(Psn psn) { return static_cast<uint32_t>(psn) & roce::kMask24; }

// The number that is meant by `wire`: the one nearest to `expected` (IBTA vol. 1 §9.7.1).
constexpr Psn NearestPsn(uint32_t wire, Psn expected) {
  const uint32_t ahead = (wire - static_cast<uint32_t>(expected)) & roce::kMask24;
  constexpr uint32_t kHalf = 1u << 23;
  return ahead < kHalf ? expected + ahead : expected + ahead - (Psn{1} << 24);
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_PSN_H_
