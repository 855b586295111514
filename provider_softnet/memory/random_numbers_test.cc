// SPDX-License-Identifier: BSD-3-Clause
// The generator of memory keys. A field test covers what a process without getrandom() gets.
#include "provider_softnet/memory/random_numbers.h"

#include <gtest/gtest.h>

#include <set>

namespace softdat::softnet {
namespace {

// RFC 8439 §2.3.2.
TEST(RandomNumbersTest, TheBlockOfTheRfc) {
  const ChaChaKey key = {0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c,
                         0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c};
  const ChaChaBlock expected = {0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3,
                                0xc7f4d1c7, 0x0368c033, 0x9aaa2204, 0x4e6cd4c3,
                                0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9,
                                0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2};
  EXPECT_EQ(ChaCha20(key, 0x09000000'00000001, 0x4a000000), expected);
}

TEST(RandomNumbersTest, NeitherRepeatsNorIsAsAnother) {
  std::set<uint64_t> seen;
  constexpr size_t kDraws = 1000;
  for (int generator = 0; generator < 2; ++generator) {
    const std::function<uint64_t()> next = RandomNumbers().Take();
    for (size_t i = 0; i < kDraws; ++i) seen.insert(next());
  }
  EXPECT_EQ(seen.size(), 2 * kDraws);
}

}  // namespace
}  // namespace softdat::softnet
