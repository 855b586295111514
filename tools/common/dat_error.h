// SPDX-License-Identifier: BSD-3-Clause
// Failures of DAT calls as text: names of the return word, and the reason chain behind it.
#ifndef SOFTDAT_TOOLS_COMMON_DAT_ERROR_H_
#define SOFTDAT_TOOLS_COMMON_DAT_ERROR_H_

#include <dat2/udat.h>

#include <string>
#include <string_view>
#include <vector>

#include "tools/common/outcome.h"

namespace softdat::tools {

// "DAT_INVALID_STATE DAT_INVALID_STATE_EP_CONNECTED (0x80070033)".
std::string DescribeReturn(DAT_RETURN value);

// Why the last DAT call of this thread failed, outermost reason first; empty when libdat2 cannot
// tell (another make than SoftDAT has no softdat_last_reason()).
std::vector<std::string> ReasonChain();

// "CALL: RETURN" and one indented line for each reason.
std::string DescribeFailure(std::string_view call, DAT_RETURN value,
                            const std::vector<std::string>& reasons);

// Success or a warning, or the failure of `call` with its names and reasons.
Outcome CheckFailure(const char* call, DAT_RETURN value);
inline Outcome Check(const char* call, DAT_RETURN value) {
  if (value == DAT_SUCCESS) [[likely]]
    return {};
  return CheckFailure(call, value);
}

// "0.1.0", or "unknown" when the libdat2 that is loaded has no softdat_version().
std::string LibraryVersion();

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_COMMON_DAT_ERROR_H_
