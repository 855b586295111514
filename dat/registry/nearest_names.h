// SPDX-License-Identifier: BSD-3-Clause
// Names that a mistyped one may have meant.
#ifndef SOFTDAT_DAT_REGISTRY_NEAREST_NAMES_H_
#define SOFTDAT_DAT_REGISTRY_NEAREST_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace softdat::registry {

// Up to three of `names` that are not far from `wanted`, the nearest first and each once: by how
// many characters must be changed, added or left out, upper or lower case being the same, at most
// a third of the longer one.
std::vector<std::string> NearestNames(const std::vector<std::string>& names,
                                      std::string_view wanted);

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_NEAREST_NAMES_H_
