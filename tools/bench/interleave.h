// SPDX-License-Identifier: BSD-3-Clause
// Measures units in turn, in short slices, so that every disturbance of the machine disturbs all of
// them.
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
  // Slices are many and short. A shared machine changes its speed by the second, and both sides of
  // a ratio must see the same speeds.
  int slices = 41;        // of each unit
  double seconds = 0.05;  // of each slice
};

// The samples of one unit, slice by slice.
struct Series {
  Samples seconds;  // per iteration
  Samples cpu;      // processor time of both ends per iteration, in seconds
};

// The number of iterations that take about `seconds`, if `iterations` took `elapsed`. At least 1,
// and at most a thousand times `iterations`, or 10^12.
uint64_t ScaleIterations(uint64_t iterations, double elapsed, double seconds);

using Runnable = std::function<Outcome(uint64_t iterations, JobResult* result)>;

// Runs all units in turn. The first one changes from slice to slice. Trial runs find the numbers of
// iterations. Returns one series for each unit, in their order.
Outcome RunInterleaved(const std::vector<Runnable>& units, const SlicePlan& plan,
                       std::vector<Series>* series);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_INTERLEAVE_H_
