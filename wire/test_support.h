// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the codecs share: vector files, hex, a printed random seed.

#ifndef SOFTDAT_WIRE_TEST_SUPPORT_H_
#define SOFTDAT_WIRE_TEST_SUPPORT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "wire/bytes.h"

namespace softdat::wire_test {

using Bytes = std::vector<uint8_t>;

/// Octets of a string of hex digits. Any other character fails the calling test.
Bytes FromHex(const std::string& hex);

std::string ToHex(ByteSpan bytes);

/// A test data file by its path from the repository root. Fails the calling test when the file
/// cannot be read.
std::string ReadTestFile(const std::string& path);
nlohmann::json ReadJson(const std::string& path);

/// A number that a vector states as 5 or as "0x00000005".
uint64_t Number(const nlohmann::json& fields, const char* name);

/// Whether the vector states the field and it is not 0.
bool Flag(const nlohmann::json& fields, const char* name);

/// Random numbers of one test. The seed is printed, and SOFTDAT_TEST_SEED sets it.
class TestRandom {
 public:
  TestRandom();
  uint64_t Next() { return engine_(); }
  uint64_t Below(uint64_t bound) { return engine_() % bound; }
  bool Coin() { return (engine_() & 1) != 0; }
  /// Random, but often one of the values at which fields wrap.
  uint64_t Edgy64();
  uint32_t Edgy32() { return static_cast<uint32_t>(Edgy64()); }
  Bytes Octets(size_t size);

 private:
  std::mt19937_64 engine_;
};

}  // namespace softdat::wire_test

#endif  // SOFTDAT_WIRE_TEST_SUPPORT_H_
