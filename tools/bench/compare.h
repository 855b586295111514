// SPDX-License-Identifier: BSD-3-Clause
// Two units measured in turn, in short slices, so that what disturbs the machine disturbs both.
#ifndef SOFTDAT_TOOLS_BENCH_COMPARE_H_
#define SOFTDAT_TOOLS_BENCH_COMPARE_H_

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/bench/unit.h"
#include "tools/common/outcome.h"

namespace softdat::tools {

struct SlicePlan {
  // Many and short: a shared machine changes its speed by the second, and the two sides of a ratio
  // are to see the same of it.
  int slices = 41;        // of each unit
  double seconds = 0.05;  // of each slice
};

// Seconds per iteration of each slice.
using Samples = std::vector<double>;

// The middle one, or the mean of the two in the middle; 0 for none.
double Median(Samples samples);

// How many iterations take about `seconds`, after a run of `iterations` took `elapsed`. At least 1,
// at most a thousandfold more.
uint64_t ScaleIterations(uint64_t iterations, double elapsed, double seconds);

// Runs both in turn; who is first changes from slice to slice. Iterations are found by a trial run.
Outcome RunInterleaved(Unit* a, Unit* b, const SlicePlan& plan, Samples* samples_a,
                       Samples* samples_b);

enum class Measure : uint8_t {
  kLatency,    // microseconds per iteration; the ratio should be small
  kBandwidth,  // megabytes per second; the ratio should be large
};

// A row of the result.
struct Comparison {
  std::string what;
  Measure measure = Measure::kLatency;
  double target = 1;
  uint64_t bytes_per_iteration = 0;
  std::string floor_name;
  std::string dat_name;
  Samples floor;
  Samples dat;
  std::string impossible;  // why it could not be measured; "" if it was

  // Of the medians, in the sense of the measure: DAT / floor.
  double Ratio() const;
  bool Met() const;
};

std::string RenderComparisons(const std::vector<Comparison>& rows);
nlohmann::ordered_json ComparisonsJson(const std::vector<Comparison>& rows);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_COMPARE_H_
