// SPDX-License-Identifier: BSD-3-Clause
// The line of a failed call.
#include "dat/bridge/logged_call.h"

#include "dat/bridge/one.h"

namespace softdat::bridge {

void LogFailure(const char* call, const std::string& arguments, dat12::DAT_RETURN word) {
  const char* type = "";
  const char* subtype = "";
  static_cast<void>(one_strerror(word, &type, &subtype));
  LogFailedCall(kFailedCallBits, call, arguments, word, type, subtype);
}

}  // namespace softdat::bridge
