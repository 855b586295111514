// SPDX-License-Identifier: BSD-3-Clause
// Option values that several tools share.
#include "tools/common/option_values.h"

#include <fmt/format.h>

#include <string>

#include "dat/base/setting_values.h"
#include "tools/common/address.h"

namespace softdat::tools {

CLI::Validator SizeValue(int64_t most) {
  return CLI::Validator(
      [most](std::string& text) -> std::string {
        const auto bytes = ParseSize(text);
        if (!bytes || *bytes > most)
          return fmt::format("'{}' is no size of 0 to {} bytes (64, 4K, 1M)", Printable(text),
                             most);
        text = std::to_string(*bytes);
        return "";
      },
      "BYTES");
}

CLI::Validator ConnQualValue() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        uint64_t value = 0;
        if (!ParseConnQual(text, &value))
          return fmt::format("'{}' is no connection qualifier (64 bits, decimal or 0x...)",
                             Printable(text));
        text = std::to_string(value);
        return "";
      },
      "QUAL");
}

}  // namespace softdat::tools
