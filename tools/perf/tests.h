// SPDX-License-Identifier: BSD-3-Clause
// The tests by name, with the names of perftest's programs: "send_lat", "write_bw", ... Pure.
#ifndef SOFTDAT_TOOLS_PERF_TESTS_H_
#define SOFTDAT_TOOLS_PERF_TESTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/traffic/job.h"

namespace softdat::tools {

struct PerfTest {
  std::string_view name;   // "write_bw"
  std::string_view title;  // "RDMA_Write BW Test", as perftest prints it
  Operation operation;
  Shape shape;

  bool IsLatency() const { return shape == Shape::kLatency; }
};

std::vector<std::string> PerfTestNames();
std::optional<PerfTest> FindPerfTest(std::string_view name);

// The values that perftest takes by default.
uint32_t DefaultSize(const PerfTest& test);
uint64_t DefaultIterations(const PerfTest& test);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_PERF_TESTS_H_
