// SPDX-License-Identifier: BSD-3-Clause
// Return values as text.
#include "tests/conformance/returns.h"

#include <cstdio>

namespace softdat::conformance {

std::string Name(DAT_RETURN ret) {
  const char* major = "?";
  const char* minor = "?";
  dat_strerror(ret, &major, &minor);
  char word[16];
  std::snprintf(word, sizeof word, "0x%08x", static_cast<unsigned>(ret));
  return std::string(major) + " " + minor + " (" + word + ")";
}

testing::AssertionResult Is(const char* call, const char*, DAT_RETURN ret, DAT_RETURN expected) {
  if (ret == expected) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << call << "\n  returned " << Name(ret) << "\n  expected " << Name(expected);
}

testing::AssertionResult IsType(const char* call, const char*, DAT_RETURN ret,
                                DAT_RETURN_TYPE expected) {
  const bool error = (static_cast<DAT_UINT32>(ret) & DAT_CLASS_ERROR) != 0;
  if (error && DAT_GET_TYPE(ret) == static_cast<DAT_UINT32>(expected)) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << call << "\n  returned " << Name(ret)
                                     << "\n  expected an error of type " << Name(Error(expected));
}

}  // namespace softdat::conformance
