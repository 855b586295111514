// SPDX-License-Identifier: BSD-3-Clause
// The table of targets: how much DAT over a back end may cost in comparison with the same loop over
// plain sockets (target_rows.h).
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
  // The slices of a row are shared out among so many pairs of processes, one after the other. The
  // pages of memory that a process happens to get decide much of the speed of large messages, and
  // it keeps them.
  int processes = 5;
  std::function<void(const std::string& what)> progress;  // may be empty
};

// Measures each row that is asked for. If this machine has too few CPUs for a row, the row says so.
Outcome MeasureTargets(const TargetPlan& plan, std::vector<Comparison>* rows);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_TARGETS_H_
