// SPDX-License-Identifier: BSD-3-Clause
// The command line of dat_perf: the letters of perftest's programs.
#ifndef SOFTDAT_TOOLS_PERF_OPTIONS_H_
#define SOFTDAT_TOOLS_PERF_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/interleave.h"
#include "tools/bench/unit_spec.h"
#include "tools/perf/tests.h"
#include "tools/traffic/job.h"

namespace softdat::tools {

enum class PerfCommand : uint8_t {
  kTest,     // client or server of one test
  kCompare,  // several adapters and floors in turn
  kTargets,  // the table of targets
  kScale,    // the resources of many end points
};

struct PerfOptions {
  PerfCommand command = PerfCommand::kTest;
  PerfTest test = *FindPerfTest("send_lat");
  std::optional<uint32_t> size;
  bool all_sizes = false;
  std::optional<uint64_t> iterations;
  double duration_s = 0;  // 0: by iterations
  uint32_t tx_depth = 128;
  uint32_t rx_depth = 512;
  uint32_t cq_moderation = 100;
  uint32_t connections = 1;
  bool both_ways = false;
  bool check = false;
  WaitMode wait = WaitMode::kPoll;
  uint32_t messages = 1;   // in a row each way, for send_lat
  std::string completion;  // "confirmed", "taken", or "" to leave it to the environment

  // For kTest.
  std::string host;  // "" for the server
  std::string ia = "softnet-lo";
  uint64_t conn_qual = 18515;
  bool ipv6 = false;
  uint32_t timeout_ms = 10000;
  bool gigabits = false;
  bool cpu = false;
  bool no_peak = false;

  // For kCompare and kTargets.
  std::vector<UnitSpec> units;
  std::string cpus;   // "0,1"; "": the first two, "any": not pinned
  int busy_cpu = -1;  // kept busy by another process
  SlicePlan slices;
  std::string only;  // for kTargets: part of the rows' names
  bool quick = false;

  bool json = false;
  std::string json_file;  // "": standard output

  bool IsServer() const { return host.empty(); }
  // The job of the test for transfers of one size.
  Job ToJob(uint32_t size_of_one) const;
  // One size, or those of -a.
  std::vector<uint32_t> Sizes() const;
};

// `arguments` are without the program's name. Returns nothing if there is nothing left to do. Then
// *exit_status is the exit status, and *output the text to print: to standard output if the status
// is 0, else to standard error.
std::optional<PerfOptions> ParsePerfOptions(const std::vector<std::string>& arguments,
                                            int* exit_status, std::string* output);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_PERF_OPTIONS_H_
