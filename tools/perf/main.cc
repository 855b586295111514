// SPDX-License-Identifier: BSD-3-Clause
// dat_perf: the cost of transfers over uDAPL. See --help.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tools/bench/worker.h"
#include "tools/common/build_paths.h"
#include "tools/perf/compare.h"
#include "tools/perf/options.h"
#include "tools/perf/run.h"

namespace softdat::tools {
namespace {

Outcome Run(const PerfOptions& options) {
  switch (options.command) {
    case PerfCommand::kCompare:
      return RunCompare(options);
    case PerfCommand::kTargets:
      return RunTargets(options);
    case PerfCommand::kScale:
      return RunScale(options);
    case PerfCommand::kTest:
      break;
  }
  return options.IsServer() ? RunPerfServer(options) : RunPerfClient(options);
}

int Main(const std::vector<std::string>& arguments) {
  if (const auto orders = ParseWorkerArguments(arguments)) return RunWorker(*orders);
  int exit_status = kExitOk;
  std::string output;
  const auto options = ParsePerfOptions(arguments, &exit_status, &output);
  if (!options) {
    fmt::print(exit_status == kExitOk ? stdout : stderr, "{}", output);
    return exit_status;
  }
  UseProvidersOfThisBuild();
  // Set before a back end or a child process can have read it.
  if (!options->completion.empty()) setenv("SOFTDAT_COMPLETION", options->completion.c_str(), 1);
  const Outcome outcome = Run(*options);
  if (!outcome.ok()) fmt::print(stderr, "dat_perf: {}\n", outcome.message());
  return outcome.exit_code();
}

}  // namespace
}  // namespace softdat::tools

int main(int argc, char** argv) {
  return softdat::tools::Main(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}
