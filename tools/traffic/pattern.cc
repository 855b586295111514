// SPDX-License-Identifier: BSD-3-Clause
// Test data that can be recognised.
#include "tools/traffic/pattern.h"

namespace softdat::tools {

void FillPattern(uint64_t sequence, std::span<uint8_t> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = PatternByte(sequence, i);
}

std::optional<size_t> FindMismatch(uint64_t sequence, std::span<const uint8_t> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != PatternByte(sequence, i)) return i;
  }
  return std::nullopt;
}

}  // namespace softdat::tools
