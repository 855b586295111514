// SPDX-License-Identifier: BSD-3-Clause
// Units measured in turn, in short slices, so that what disturbs the machine disturbs all of them.
#ifndef SOFTDAT_TOOLS_BENCH_INTERLEAVE_H_
#define SOFTDAT_TOOLS_BENCH_INTERLEAVE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tools/bench/statistics.h"
#include "tools/common/outcome.h"
#include "tools/traffic/job.h"

namespace softdat::tools {

struct SlicePlan {
  // Many and short: a shared machine changes its speed by the second, and the sides of a ratio are
  // to see the same of it.
  int slices = 41;        // of each unit
  double seconds = 0.05;  // of each slice
};

// Of one unit, slice by slice.
struct Series {
  Samples seconds;  // per iteration
  Samples cpu;      // processor time of both ends per iteration, in seconds
};

// How many iterations take about `seconds`, after a run of `iterations` took `elapsed`. At least 1,
// at most a thousandfold more.
uint64_t ScaleIterations(uint64_t iterations, double elapsed, double seconds);

using Runnable = std::function<Outcome(uint64_t iterations, JobResult* result)>;

// Runs all in turn; who is first changes from slice to slice. Iterations are found by trial runs.
// One series for each, in their order.
Outcome RunInterleaved(const std::vector<Runnable>& units, const SlicePlan& plan,
                       std::vector<Series>* series);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_INTERLEAVE_H_
