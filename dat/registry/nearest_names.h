// SPDX-License-Identifier: BSD-3-Clause
// Names that a mistyped one may have meant.
#ifndef SOFTDAT_DAT_REGISTRY_NEAREST_NAMES_H_
#define SOFTDAT_DAT_REGISTRY_NEAREST_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace softdat::registry {

// Up to three of `names` that are not far from `wanted`, each once, the nearest first. The distance
// is the number of characters that must be changed, added or left out. Upper and lower case count
// as the same. A name is too far when the distance is more than a third of the longer of the two.
std::vector<std::string> NearestNames(const std::vector<std::string>& names,
                                      std::string_view wanted);

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_NEAREST_NAMES_H_
