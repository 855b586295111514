// SPDX-License-Identifier: BSD-3-Clause
// Unit tests of the unaligned loads and stores.

#include "wire/bytes.h"

#include <gtest/gtest.h>

#include <array>

namespace softdat {
namespace {

TEST(BytesTest, LoadsInBothOrders) {
  const std::array<uint8_t, 9> b = {0xff, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08};
  const uint8_t* p = b.data() + 1;  // not aligned for anything
  EXPECT_EQ(LoadBe16(p), 0x0102u);
  EXPECT_EQ(LoadBe32(p), 0x01020304u);
  EXPECT_EQ(LoadBe64(p), 0x0102030405060708u);
  EXPECT_EQ(LoadLe16(p), 0x0201u);
  EXPECT_EQ(LoadLe32(p), 0x04030201u);
  EXPECT_EQ(LoadLe64(p), 0x0807060504030201u);
}

template <typename T>
void ExpectStored(void (*store)(uint8_t*, T), T value, bool big) {
  std::array<uint8_t, 12> b;
  b.fill(0xee);
  store(b.data() + 1, value);
  EXPECT_EQ(b[0], 0xee);
  for (size_t i = 0; i < sizeof(T); ++i) {
    const size_t shift = 8 * (big ? sizeof(T) - 1 - i : i);
    EXPECT_EQ(b[1 + i], static_cast<uint8_t>(value >> shift)) << i;
  }
  EXPECT_EQ(b[1 + sizeof(T)], 0xee);
}

TEST(BytesTest, StoresExactlyItsOctets) {
  ExpectStored<uint16_t>(StoreBe16, 0xa1b2, true);
  ExpectStored<uint32_t>(StoreBe32, 0xa1b2c3d4, true);
  ExpectStored<uint64_t>(StoreBe64, 0xa1b2c3d4e5f60718, true);
  ExpectStored<uint16_t>(StoreLe16, 0xa1b2, false);
  ExpectStored<uint32_t>(StoreLe32, 0xa1b2c3d4, false);
  ExpectStored<uint64_t>(StoreLe64, 0xa1b2c3d4e5f60718, false);
}

}  // namespace
}  // namespace softdat
