// SPDX-License-Identifier: BSD-3-Clause
// DAT calls as steps of a tool. A failure becomes an outcome, with names and reasons.
#ifndef SOFTDAT_TOOLS_COMMON_DAT_CALLS_H_
#define SOFTDAT_TOOLS_COMMON_DAT_CALLS_H_

#include <dat2/udat.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "dat/client/ia.h"
#include "dat/client/memory.h"
#include "dat/client/result.h"
#include "tools/common/outcome.h"

namespace softdat::tools {

// Returns success also for a warning, else the failure of a call with its names and reasons.
// `detail` tells several calls apart: "CALL(DETAIL)".
Outcome CheckFailure(const client::Result& result, std::string_view detail);
inline Outcome Check(const client::Result& result, std::string_view detail = {}) {
  if (result == DAT_SUCCESS) [[likely]]
    return {};
  return CheckFailure(result, detail);
}
inline Outcome Check(const char* call, DAT_RETURN value) { return Check({call, value}); }

Outcome OpenIa(const std::string& name, client::Ia* ia);

// Makes zero-filled memory, registered for everything that the adapter has.
Outcome Allocate(const client::Ia& ia, const client::Pz& pz, size_t bytes, client::Memory* memory);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_COMMON_DAT_CALLS_H_
