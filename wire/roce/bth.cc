// SPDX-License-Identifier: BSD-3-Clause
// Texts of BTH parse results.

#include "wire/roce/bth.h"

namespace softdat::roce {

const char* BthParseText(BthParse result) {
  switch (result) {
    case BthParse::kOk:
      return "ok";
    case BthParse::kTooShort:
      return "packet shorter than its BTH";
    case BthParse::kBadVersion:
      return "transport header version is not 0";
    case BthParse::kUnknownOpcode:
      return "opcode unknown to RC and UD";
  }
  return "unknown BTH parse result";
}

}  // namespace softdat::roce
