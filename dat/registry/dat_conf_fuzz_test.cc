// SPDX-License-Identifier: BSD-3-Clause
// Parses any bytes as a dat.conf. Each line must be an entry, a diagnostic, or nothing.
#include <stdint.h>
#include <stdlib.h>

#include <set>
#include <string_view>

#include "dat/registry/dat_conf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const softdat::registry::ParsedConf parsed = softdat::registry::ParseDatConf(text);
  std::set<int> lines;
  for (const auto& entry : parsed.entries) {
    if (!lines.insert(entry.line).second) abort();
    if (entry.ia_name.empty() || entry.ia_name.size() > 255 || entry.library.empty()) abort();
    if (entry.ia_name.find('\0') != std::string::npos) abort();
  }
  for (const auto& diagnostic : parsed.diagnostics) {
    if (!lines.insert(diagnostic.line).second) abort();
    if (diagnostic.column < 1 || diagnostic.message.empty()) abort();
    for (char c : softdat::registry::DescribeDiagnostic("f", diagnostic)) {
      if (c < 0x20 || c == 0x7F) abort();
    }
  }
  return 0;
}
