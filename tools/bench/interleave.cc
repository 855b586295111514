// SPDX-License-Identifier: BSD-3-Clause
// Units measured in turn.
#include "tools/bench/interleave.h"

#include <algorithm>

namespace softdat::tools {
namespace {

constexpr uint64_t kTrialIterations = 4;
constexpr uint64_t kMaxGrowth = 1000;

Outcome FindIterations(const Runnable& run, double seconds, uint64_t* iterations) {
  *iterations = kTrialIterations;
  // Short runs say little about long ones, so the number of iterations grows in steps.
  for (const double part : {0.02, 0.2, 1.0}) {
    JobResult result;
    SOFTDAT_TRY(run(*iterations, &result));
    *iterations = ScaleIterations(*iterations, result.seconds, seconds * part);
  }
  return {};
}

}  // namespace

uint64_t ScaleIterations(uint64_t iterations, double elapsed, double seconds) {
  if (elapsed <= 0) return iterations * kMaxGrowth;
  const double wanted = static_cast<double>(iterations) * seconds / elapsed;
  const double most = static_cast<double>(iterations * kMaxGrowth);
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
