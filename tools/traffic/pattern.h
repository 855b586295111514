// SPDX-License-Identifier: BSD-3-Clause
// Test data that can be recognised: to which transfer a byte belongs, and its place there. Pure.
#ifndef SOFTDAT_TOOLS_TRAFFIC_PATTERN_H_
#define SOFTDAT_TOOLS_TRAFFIC_PATTERN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace softdat::tools {

// The byte at `offset` of transfer `sequence`. Neighbours differ in both directions.
constexpr uint8_t PatternByte(uint64_t sequence, size_t offset) {
  const uint64_t mixed = sequence * 37 + offset * 11 + (offset >> 8) * 3 + (offset >> 16) * 5;
  return static_cast<uint8_t>(mixed);
}

void FillPattern(uint64_t sequence, std::span<uint8_t> bytes);

// The offset at which the bytes first differ from the pattern.
std::optional<size_t> FindMismatch(uint64_t sequence, std::span<const uint8_t> bytes);

// The byte that marks transfer `sequence` as arrived, if only memory tells. It is never 0, and
// differs from those of the transfers before and after.
constexpr uint8_t ArrivalMark(uint64_t sequence) {
  return static_cast<uint8_t>(1 + sequence % 255);
}

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_TRAFFIC_PATTERN_H_
