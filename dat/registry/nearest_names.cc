// SPDX-License-Identifier: BSD-3-Clause
// The nearest names by Levenshtein's edit distance.
#include "dat/registry/nearest_names.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace softdat::registry {
namespace {

constexpr size_t kMost = 3;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (Lower(a[i]) == Lower(b[j]) ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({changed, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> NearestNames(const std::vector<std::string>& names,
                                      std::string_view wanted) {
  std::set<std::pair<size_t, std::string_view>> by_distance;
  for (const std::string& name : names) {
    const size_t distance = Distance(name, wanted);
    if (distance * 3 <= std::max(name.size(), wanted.size())) by_distance.insert({distance, name});
  }
  std::vector<std::string> nearest;
  for (const auto& [distance, name] : by_distance) {
    if (nearest.size() == kMost) break;
    nearest.emplace_back(name);
  }
  return nearest;
}

}  // namespace softdat::registry
