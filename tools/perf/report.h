// SPDX-License-Identifier: BSD-3-Clause
// Results in the columns of perftest, so that programs that read its columns can read these, and as
// JSON under the names of its --out_json. Pure.
#ifndef SOFTDAT_TOOLS_PERF_REPORT_H_
#define SOFTDAT_TOOLS_PERF_REPORT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/statistics.h"
#include "tools/perf/tests.h"
#include "tools/traffic/job.h"

namespace softdat::tools {

// The results for one size.
struct PerfResult {
  Job job;  // with the iterations that were made
  JobResult total;
  double peak_seconds = 0;  // per iteration, in the fastest stretch; 0: not measured
  Distribution latency;     // microseconds, halves of round trips; only for runs by iterations
};

// How results are shown.
struct PerfStyle {
  std::string ia;
  uint32_t connections = 1;
  bool by_duration = false;
  bool gigabits = false;
  bool cpu = false;
  bool events = false;
};

// The line that perftest draws.
std::string Rule();
// Describes the test and its environment.
std::string Banner(const PerfTest& test, const PerfStyle& style, const Job& job);
// The heads of the columns, and a row of them.
std::string Heads(const PerfTest& test, const PerfStyle& style);
std::string Row(const PerfTest& test, const PerfStyle& style, const PerfResult& result);
nlohmann::ordered_json PerfJson(const PerfTest& test, const PerfStyle& style,
                                const std::vector<PerfResult>& results);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_PERF_REPORT_H_
