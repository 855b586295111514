// SPDX-License-Identifier: BSD-3-Clause
// Exit statuses that all tools share; each tool's --help lists them.
#ifndef SOFTDAT_TOOLS_COMMON_EXIT_CODES_H_
#define SOFTDAT_TOOLS_COMMON_EXIT_CODES_H_

namespace softdat::tools {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,   // a DAT call or the peer failed, something is unavailable
  kExitUsage = 2,    // a wrong command line
  kExitBadData = 3,  // the transfer went through, the bytes are wrong
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_COMMON_EXIT_CODES_H_
