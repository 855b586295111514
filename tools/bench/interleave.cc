// SPDX-License-Identifier: BSD-3-Clause
// Units measured in turn.
#include "tools/bench/interleave.h"

#include <algorithm>

namespace softdat::tools {
namespace {

constexpr uint64_t kTrialIterations = 4;
constexpr uint64_t kMaxGrowth = 1000;
constexpr uint64_t kMostIterations = 1'000'000'000'000;
// A slice may be shorter than it should be by this much.
constexpr double kShortest = 0.7;
// Where threads have to be started and to find a processor each, most of a short run is its
// beginning, and its end says little. So many more trials then find the length of a slice.
constexpr int kMoreTrials = 12;

Outcome FindIterations(const Runnable& run, double seconds, uint64_t* iterations) {
  *iterations = kTrialIterations;
  JobResult result;
  // Short runs say little about long ones, so the number of iterations grows in steps.
  for (const double part : {0.02, 0.2, 1.0}) {
    SOFTDAT_TRY(run(*iterations, &result));
    *iterations = ScaleIterations(*iterations, result.seconds, seconds * part);
  }
  for (int trial = 0; trial < kMoreTrials; ++trial) {
    SOFTDAT_TRY(run(*iterations, &result));
    if (result.seconds >= kShortest * seconds) break;
    *iterations = ScaleIterations(*iterations, result.seconds, seconds);
  }
  return {};
}

}  // namespace

uint64_t ScaleIterations(uint64_t iterations, double elapsed, double seconds) {
  const auto most =
      static_cast<double>(std::min(iterations, kMostIterations / kMaxGrowth) * kMaxGrowth);
  if (elapsed <= 0) return static_cast<uint64_t>(most);
  const double wanted = static_cast<double>(iterations) * seconds / elapsed;
  return std::max<uint64_t>(1, static_cast<uint64_t>(std::min(wanted, most)));
}

Outcome RunInterleaved(const std::vector<Runnable>& units, const SlicePlan& plan,
                       std::vector<Series>* series) {
  series->assign(units.size(), {});
  std::vector<uint64_t> iterations(units.size());
  for (size_t i = 0; i < units.size(); ++i)
    SOFTDAT_TRY(FindIterations(units[i], plan.seconds, &iterations[i]));
  for (int slice = 0; slice < plan.slices; ++slice) {
    for (size_t turn = 0; turn < units.size(); ++turn) {
      const size_t i = (static_cast<size_t>(slice) + turn) % units.size();
      JobResult result;
      SOFTDAT_TRY(units[i](iterations[i], &result));
      const auto count = static_cast<double>(iterations[i]);
      (*series)[i].seconds.push_back(result.seconds / count);
      (*series)[i].cpu.push_back((result.client_cpu + result.server_cpu) / count);
    }
  }
  return {};
}

}  // namespace softdat::tools
