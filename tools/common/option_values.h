// SPDX-License-Identifier: BSD-3-Clause
// Option values that several tools share. They are checked and converted to decimal.
#ifndef SOFTDAT_TOOLS_COMMON_OPTION_VALUES_H_
#define SOFTDAT_TOOLS_COMMON_OPTION_VALUES_H_

#include <CLI/CLI.hpp>
#include <cstdint>

namespace softdat::tools {

// Bytes, 0 to `most`: "64", "4K", "1M".
CLI::Validator SizeValue(int64_t most);

// A connection qualifier, 64 bits, decimal or 0x hexadecimal.
CLI::Validator ConnQualValue();

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_COMMON_OPTION_VALUES_H_
