// SPDX-License-Identifier: BSD-3-Clause
// The table of targets: what DAT over a back end may cost beside the same loop over plain TCP.
#ifndef SOFTDAT_TOOLS_BENCH_TARGETS_H_
#define SOFTDAT_TOOLS_BENCH_TARGETS_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/bench/comparison.h"
#include "tools/bench/interleave.h"
#include "tools/common/outcome.h"

namespace softdat::tools {

struct TargetPlan {
  std::string ia = "softnet-lo";
  std::string only;  // part of a row's name; empty: all
  SlicePlan slices;
  std::function<void(const std::string& what)> progress;  // may be empty
};

// The names of the rows.
std::vector<std::string> TargetNames();

// Measures each row that is asked for; one for which this machine has too few CPUs says so.
Outcome MeasureTargets(const TargetPlan& plan, std::vector<Comparison>* rows);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_TARGETS_H_
