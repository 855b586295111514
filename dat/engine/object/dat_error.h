// SPDX-License-Identifier: BSD-3-Clause
// Turns internal failures into DAT_RETURN: class, type and subtype in one place (semantics 1).
#ifndef SOFTDAT_DAT_ENGINE_OBJECT_DAT_ERROR_H_
#define SOFTDAT_DAT_ENGINE_OBJECT_DAT_ERROR_H_

#include <string_view>

#include "dat/base/reason.h"
#include "dat/base/status.h"
#include "dat2/udat.h"

namespace softdat::engine {

// An error value with its class bits.
constexpr DAT_RETURN Error(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE) {
  return static_cast<DAT_RETURN>(DAT_CLASS_ERROR) | static_cast<DAT_RETURN>(type) |
         static_cast<DAT_RETURN>(subtype);
}

// The same, with the sentence that dat_info --why and the log show.
DAT_RETURN Error(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype, std::string_view reason);

// The n-th argument of the consumer's call (counted from 1) is bad.
constexpr DAT_RETURN BadArgument(int n) {
  return Error(DAT_INVALID_PARAMETER, static_cast<DAT_RETURN_SUBTYPE>(DAT_INVALID_ARG1 + (n - 1)));
}
DAT_RETURN BadArgument(int n, std::string_view reason);

// A handle is NULL, stale, junk or of the wrong kind. `subtype` names the kind that was expected.
constexpr DAT_RETURN BadHandle(DAT_RETURN_SUBTYPE subtype) {
  return Error(DAT_INVALID_HANDLE, subtype);
}

// The call is not allowed in this EP state (semantics 8.3 note 5).
DAT_RETURN WrongEpState(DAT_EP_STATE state);

// What the failed operation worked on. The DAT subtype of some codes depends on it.
enum class Subject { kNone, kEp, kEvd, kMemory, kPz, kSrq, kQualifier };

// The one table from Code to DAT_RETURN; kOk is DAT_SUCCESS.
DAT_RETURN ToDat(Code code, Subject subject = Subject::kNone);

// Records the status's reason for the calling thread, and converts its code.
DAT_RETURN Fail(const Status& status, Subject subject = Subject::kNone);

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_OBJECT_DAT_ERROR_H_
