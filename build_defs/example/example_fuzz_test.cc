// SPDX-License-Identifier: BSD-3-Clause
// A fuzz target through build_defs/fuzz.bzl: a word needs at least one byte.
#include <cstdint>
#include <cstdlib>

#include "build_defs/example/example.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const size_t words = softdat_example_words(reinterpret_cast<const char*>(data), size);
  if (words > size) std::abort();
  return 0;
}
