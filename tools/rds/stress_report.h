// SPDX-License-Identifier: BSD-3-Clause
// Results of rds-softstress as text and as JSON. Pure.
#ifndef SOFTDAT_TOOLS_RDS_STRESS_REPORT_H_
#define SOFTDAT_TOOLS_RDS_STRESS_REPORT_H_

#include <string>
#include <vector>

#include "tools/rds/stress_counts.h"
#include "tools/rds/stress_job.h"

namespace softdat::tools {

// What one end has seen in a second, or in the whole run.
struct StressInterval {
  double seconds = 0;
  StressCounts counts;
  double cpu = -1;  // percent; -1: not measured
};

struct StressResult {
  bool active = false;
  bool kernel = false;
  std::string address;
  std::string peer;
  StressJob job;
  std::vector<StressInterval> intervals;
  StressInterval total;       // until requests ended
  StressCounts final_counts;  // with the last acks
};

// Lines with their ends.
std::string StressHeading();
std::string StressRow(uint32_t tasks, const StressInterval& interval);
// The line below the rows, and what was unusual, if anything was.
std::string StressAverage(uint32_t tasks, const StressInterval& total,
                          const StressCounts& final_counts);
std::string StressHistogram(const StressCounts& counts);
std::string StressParameters(const StressJob& job);
std::string StressJson(const StressResult& result);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_STRESS_REPORT_H_
