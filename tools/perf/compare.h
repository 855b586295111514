// SPDX-License-Identifier: BSD-3-Clause
// dat_perf compare, and dat_perf targets.
#ifndef SOFTDAT_TOOLS_PERF_COMPARE_H_
#define SOFTDAT_TOOLS_PERF_COMPARE_H_

#include "tools/common/outcome.h"
#include "tools/perf/options.h"

namespace softdat::tools {

Outcome RunCompare(const PerfOptions& options);
Outcome RunTargets(const PerfOptions& options);
Outcome RunScale(const PerfOptions& options);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_PERF_COMPARE_H_
