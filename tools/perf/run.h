// SPDX-License-Identifier: BSD-3-Clause
// One test between a client and a server: dat_perf TEST.
#ifndef SOFTDAT_TOOLS_PERF_RUN_H_
#define SOFTDAT_TOOLS_PERF_RUN_H_

#include "tools/common/outcome.h"
#include "tools/perf/options.h"

namespace softdat::tools {

Outcome RunPerfServer(const PerfOptions& options);
Outcome RunPerfClient(const PerfOptions& options);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_PERF_RUN_H_
