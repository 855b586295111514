// SPDX-License-Identifier: BSD-3-Clause
// CRC-32 against the vectors and a bit-by-bit reference.

#include "wire/crc32.h"

#include <gtest/gtest.h>

#include "wire/test_support.h"

namespace softdat {
namespace {

using wire_test::Bytes;
using wire_test::FromHex;
using wire_test::TestRandom;

// The definition: reflected polynomial 0xedb88320, one bit at a time.
uint32_t Reference(const Bytes& bytes) {
  uint32_t crc = 0xffffffffu;
  for (const uint8_t b : bytes) {
    crc ^= b;
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
  }
  return ~crc;
}

TEST(Crc32Test, Vectors) {
  const auto json = wire_test::ReadJson("wire/testdata/crc.json");
  int checked = 0;
  for (const auto& v : json.at("vectors")) {
    if (v.at("alg") != "crc32") continue;
    const Bytes input = FromHex(v.at("input_hex"));
    EXPECT_EQ(Crc32(input.data(), input.size()), wire_test::Number(v, "value"));
    ++checked;
  }
  EXPECT_EQ(checked, 1);
}

TEST(Crc32Test, NothingIsNeutral) {
  EXPECT_EQ(Crc32Extend(0x12345678u, nullptr, 0), 0x12345678u);
  EXPECT_EQ(Crc32(nullptr, 0), 0u);
}

TEST(Crc32Test, AnySplitAndAlignmentGivesTheReference) {
  TestRandom random;
  for (size_t size = 0; size < 700; size += 1 + random.Below(9)) {
    const size_t shift = random.Below(16);
    const Bytes buffer = random.Octets(size + shift);
    const uint8_t* p = buffer.data() + shift;
    const uint32_t expected = Reference(Bytes(p, p + size));
    ASSERT_EQ(Crc32(p, size), expected) << size;
    const size_t cut = random.Below(size + 1);
    const uint32_t state = Crc32Extend(Crc32Extend(kCrc32Init, p, cut), p + cut, size - cut);
    ASSERT_EQ(Crc32Finish(state), expected) << size << " " << cut;
  }
}

}  // namespace
}  // namespace softdat
