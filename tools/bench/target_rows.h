// SPDX-License-Identifier: BSD-3-Clause
// The rows of the table of targets. Each wire has its own. Pure.
#ifndef SOFTDAT_TOOLS_BENCH_TARGET_ROWS_H_
#define SOFTDAT_TOOLS_BENCH_TARGET_ROWS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/bench/comparison.h"
#include "tools/bench/worker.h"
#include "tools/traffic/job.h"

namespace softdat::tools {

// The CPUs on which the two ends run.
enum class Where : uint8_t {
  kTwoCpus,
  kTwoCpusOneBusy,  // and another program keeps one of them busy
  kOneCpu,
  kAnywhere,
  kAnywhereOneBusy,  // and another program keeps one of two CPUs busy
};

// One line of the table of targets.
struct TargetRow {
  const char* what;
  Measure measure;
  double target;           // 0: only `enough` counts
  std::string_view floor;  // added to the name of the IA, if it is empty or begins with , or @
  Job job;
  Where where = Where::kTwoCpus;
  const char* settings = "";  // added to the name of the IA
  WorkerTask task = WorkerTask::kTransfers;
  std::optional<Job> floor_job = std::nullopt;  // the floor's job, if it is another one
  double enough = 0;  // in the unit of the measure: meets the target whatever the floor; 0: none
  const char* prefix = "";  // of the name of the IA
  // A slice takes so many times as long. For work that is under way for a good part of a usual one:
  // only its beginning and its end would be measured.
  double longer = 1;
};

// The rows for an IA: those of RoCEv2 over UDP for softnet-udp-*, otherwise those beside TCP.
std::vector<TargetRow> TargetRowsFor(std::string_view ia);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_TARGET_ROWS_H_
