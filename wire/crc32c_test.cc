// SPDX-License-Identifier: BSD-3-Clause
// CRC32c against the vectors (RFC 3720 §B.4) and a bit-by-bit reference.

#include "wire/crc32c.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "wire/test_support.h"

namespace softdat {
namespace {

using wire_test::Bytes;
using wire_test::FromHex;
using wire_test::TestRandom;

// The definition: reflected polynomial 0x82f63b78, one bit at a time.
uint32_t Reference(const Bytes& bytes) {
  uint32_t crc = 0xffffffffu;
  for (const uint8_t b : bytes) {
    crc ^= b;
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

TEST(Crc32cTest, Vectors) {
  const auto json = wire_test::ReadJson("wire/testdata/crc.json");
  int checked = 0;
  for (const auto& v : json.at("vectors")) {
    if (v.at("alg") != "crc32c") continue;
    const Bytes input = FromHex(v.at("input_hex"));
    const uint32_t crc = Crc32c(input.data(), input.size());
    EXPECT_EQ(crc, std::stoul(v.at("value").get<std::string>(), nullptr, 16));
    Bytes wire(kCrc32cSize);
    StoreCrc32c(wire.data(), crc);
    EXPECT_EQ(wire_test::ToHex(wire), v.at("bytes_little_endian"));
    EXPECT_EQ(LoadCrc32c(wire.data()), crc);
    ++checked;
  }
  EXPECT_EQ(checked, 5);
}

TEST(Crc32cTest, NothingIsNeutral) {
  EXPECT_EQ(Crc32cExtend(0x12345678u, nullptr, 0), 0x12345678u);
  EXPECT_EQ(Crc32c(nullptr, 0), 0u);
}

TEST(Crc32cTest, AnySplitAndAlignmentGivesTheReference) {
  TestRandom random;
  for (size_t size = 0; size < 700; size += 1 + random.Below(9)) {
    const size_t shift = random.Below(16);
    const Bytes buffer = random.Octets(size + shift);
    const uint8_t* p = buffer.data() + shift;
    const uint32_t expected = Reference(Bytes(p, p + size));
    ASSERT_EQ(Crc32c(p, size), expected) << size;
    const size_t cut = random.Below(size + 1);
    const size_t cut2 = cut + random.Below(size - cut + 1);
    const std::array<ByteSpan, 4> pieces = {
        ByteSpan(p, cut), ByteSpan(), ByteSpan(p + cut, p + cut2), ByteSpan(p + cut2, p + size)};
    ASSERT_EQ(Crc32cFinish(Crc32cExtend(kCrc32cInit, pieces)), expected)
        << size << " cut at " << cut << " and " << cut2;
  }
}

}  // namespace
}  // namespace softdat
