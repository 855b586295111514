// SPDX-License-Identifier: BSD-3-Clause
// StreamingCopy: every alignment, and nothing beside the bytes.
#include "provider_softnet/shm/streaming_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace softdat::softnet {
namespace {

constexpr size_t kLine = 64;
constexpr uint8_t kUntouched = 0xee;

TEST(StreamingCopyTest, CopiesEveryByteAndNoOther) {
  constexpr size_t kMost = 4 * kLine;
  std::vector<uint8_t> from(kMost + kLine);
  std::iota(from.begin(), from.end(), uint8_t{1});
  std::vector<uint8_t> to(kMost + 3 * kLine), expected(to.size());
  for (size_t place = 0; place < kLine; place += 3) {
    for (size_t source = 0; source < kLine; source += 5) {
      for (size_t size = 0; size <= kMost; ++size) {
        std::ranges::fill(to, kUntouched);
        std::ranges::fill(expected, kUntouched);
        std::copy_n(from.begin() + static_cast<ptrdiff_t>(source), size,
                    expected.begin() + static_cast<ptrdiff_t>(kLine + place));
        StreamingCopy(to.data() + kLine + place, from.data() + source, size);
        OrderStreamed();
        ASSERT_EQ(to, expected) << place << ' ' << source << ' ' << size;
      }
    }
  }
}

}  // namespace
}  // namespace softdat::softnet
