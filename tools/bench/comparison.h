// SPDX-License-Identifier: BSD-3-Clause
// Compares two units that were measured in turn. Pure.
#ifndef SOFTDAT_TOOLS_BENCH_COMPARISON_H_
#define SOFTDAT_TOOLS_BENCH_COMPARISON_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/bench/interleave.h"
#include "tools/bench/statistics.h"

namespace softdat::tools {

enum class Measure : uint8_t {
  kLatency,    // microseconds per iteration: small is good
  kRate,       // million operations per second: large is good
  kBandwidth,  // megabytes per second: large is good
  kCpu,        // processor time of both ends, microseconds per iteration: small is good
};

// "us", "M/s", "MB/s", "us".
const char* UnitName(Measure measure);
bool SmallIsGood(Measure measure);

// The values of a series in the unit of the measure, slice by slice.
Samples Values(const Series& series, Measure measure, uint64_t bytes_per_iteration);

// The median, and the values between which the middle half lies.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
};
Spread SpreadOf(const Samples& samples);
// "7.35 (7.20..7.61)".
std::string Format(const Spread& spread);

// The ratio of the medians. Its spread is that of the ratios within each slice.
Spread RatioOf(const Samples& values, const Samples& base);

// A row of a comparison with a target: a measured value, and a floor with a limit for the ratio.
struct Comparison {
  std::string what;
  Measure measure = Measure::kLatency;
  double target = 1;  // for the ratio; 0: only `enough` counts
  double enough = 0;  // a value of DAT's own that meets the target, whatever the ratio; 0: none
  uint64_t bytes_per_iteration = 0;
  uint64_t floor_bytes_per_iteration = 0;
  std::string floor_name;
  std::string name;
  Series floor;
  Series series;
  std::string impossible;  // why it could not be measured, or ""

  Spread Ratio() const;
  bool Met() const;
  // ">= 0.80", ">= 0.80 or >= 2500 MB/s".
  std::string TargetText() const;
};

std::string RenderComparisons(const std::vector<Comparison>& rows);
nlohmann::ordered_json ComparisonsJson(const std::vector<Comparison>& rows);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_COMPARISON_H_
