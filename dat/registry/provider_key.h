// SPDX-License-Identifier: BSD-3-Clause
// The key of a registry entry, and which entry answers a request (semantics 2.1).
#ifndef SOFTDAT_DAT_REGISTRY_PROVIDER_KEY_H_
#define SOFTDAT_DAT_REGISTRY_PROVIDER_KEY_H_

#include <cstdint>
#include <string>
#include <vector>

namespace softdat::registry {

struct ProviderKey {
  std::string name;
  uint32_t major = 0;
  uint32_t minor = 0;
  bool thread_safe = false;

  bool operator==(const ProviderKey&) const = default;
};

// "softnet-lo 2.0 nonthreadsafe".
std::string DescribeKey(const ProviderKey& key);

// What the best entry lacked if none fits.
enum class KeyMismatch : uint8_t { kNone, kName, kMajor, kMinor, kThreadSafety };

struct KeyMatch {
  KeyMismatch mismatch = KeyMismatch::kName;
  size_t index = 0;  // of the entry, if mismatch is kNone
};

// Picks the entry for a request. Name and major must be equal. The exact minor is preferred to the
// smallest larger one. A thread-safe entry also serves a request that does not ask for thread
// safety, but an entry that is not thread-safe is preferred for it. Among equals the first wins. If
// none fits, `mismatch` is the last of name, major, minor and thread safety that some entry failed
// on.
KeyMatch FindKey(const std::vector<ProviderKey>& entries, const ProviderKey& request);

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_PROVIDER_KEY_H_
