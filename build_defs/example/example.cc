// SPDX-License-Identifier: BSD-3-Clause
// The example library: one exported function, one that stays inside, and abseil within.
#include "build_defs/example/example.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

#define EXAMPLE_EXPORT __attribute__((visibility("default")))

// Not in the version script, so it stays local although its visibility is default.
extern "C" EXAMPLE_EXPORT size_t softdat_example_hidden(absl::string_view text);

size_t softdat_example_hidden(absl::string_view text) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  return words.size();
}

extern "C" EXAMPLE_EXPORT size_t softdat_example_words(const char* text, size_t size) {
  return softdat_example_hidden(absl::string_view(text, size));
}
