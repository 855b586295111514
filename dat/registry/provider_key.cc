// SPDX-License-Identifier: BSD-3-Clause
// Matching of registry keys.
#include "dat/registry/provider_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "dat/base/setting_values.h"

namespace softdat::registry {

std::string DescribeKey(const ProviderKey& key) {
  return fmt::format("{} {}.{} {}", Printable(key.name), key.major, key.minor,
                     key.thread_safe ? "threadsafe" : "nonthreadsafe");
}

KeyMatch FindKey(const std::vector<ProviderKey>& entries, const ProviderKey& request) {
  KeyMatch match;
  std::tuple<uint32_t, bool> best;  // distance of the minor, thread-safe without need
  for (size_t i = 0; i < entries.size(); ++i) {
    const ProviderKey& entry = entries[i];
    KeyMismatch lacks = KeyMismatch::kNone;
    if (entry.name != request.name) {
      lacks = KeyMismatch::kName;
    } else if (entry.major != request.major) {
      lacks = KeyMismatch::kMajor;
    } else if (entry.minor < request.minor) {
      lacks = KeyMismatch::kMinor;
    } else if (request.thread_safe && !entry.thread_safe) {
      lacks = KeyMismatch::kThreadSafety;
    }
    if (lacks != KeyMismatch::kNone) {
      if (match.mismatch != KeyMismatch::kNone) match.mismatch = std::max(match.mismatch, lacks);
      continue;
    }
    const std::tuple<uint32_t, bool> rank(entry.minor - request.minor,
                                          entry.thread_safe != request.thread_safe);
    if (match.mismatch == KeyMismatch::kNone && rank >= best) continue;
    match = {KeyMismatch::kNone, i};
    best = rank;
  }
  return match;
}

}  // namespace softdat::registry
