// SPDX-License-Identifier: BSD-3-Clause
// The base of the tests of private data: how much the IA carries, and bytes of that length.
#ifndef SOFTDAT_TESTS_CONFORMANCE_PRIVATE_DATA_FIXTURE_H_
#define SOFTDAT_TESTS_CONFORMANCE_PRIVATE_DATA_FIXTURE_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {

class PrivateDataTest : public ConformanceTest {
 protected:
  void SetUp() override {
    ConformanceTest::SetUp();
    if (HasFatalFailure()) return;
    DAT_PROVIDER_ATTR attr{};
    ASSERT_OK(dat_ia_query(a_->ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr));
    ASSERT_GT(attr.max_private_data_size, 0);
    most_ = std::min<size_t>(256, static_cast<size_t>(attr.max_private_data_size));
  }
  // The sizes among `sizes` that the IA carries, and its largest ones.
  std::vector<size_t> Carried(std::vector<size_t> sizes) const {
    std::erase_if(sizes, [this](size_t size) { return size + 1 >= most_; });
    sizes.push_back(most_ - 1);
    sizes.push_back(most_);
    return sizes;
  }
  static std::vector<uint8_t> Bytes(size_t n, uint8_t first) {
    std::vector<uint8_t> bytes(n);
    std::iota(bytes.begin(), bytes.end(), first);
    return bytes;
  }
  static std::vector<uint8_t> Of(const DAT_CONNECTION_EVENT_DATA& data) {
    const auto* const bytes = static_cast<const uint8_t*>(data.private_data);
    return {bytes, bytes + data.private_data_size};
  }
  static std::vector<uint8_t> Of(const DAT_CR_PARAM& param) {
    const auto* const bytes = static_cast<const uint8_t*>(param.private_data);
    return {bytes, bytes + param.private_data_size};
  }

  size_t most_ = 0;  // the largest number of bytes that the suite sends
};

}  // namespace softdat::conformance

#endif  // SOFTDAT_TESTS_CONFORMANCE_PRIVATE_DATA_FIXTURE_H_
