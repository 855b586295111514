// SPDX-License-Identifier: BSD-3-Clause
// The measurement of the rows.
#include "tools/bench/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "tools/bench/target_rows.h"
#include "tools/bench/unit.h"
#include "tools/bench/unit_spec.h"
#include "tools/common/cpu.h"

namespace softdat::tools {
namespace {

Placement Place(Where where, const std::vector<int>& cpus) {
  switch (where) {
    case Where::kTwoCpus:
    case Where::kTwoCpusOneBusy:
      return {cpus[0], cpus[1]};
    case Where::kOneCpu:
      return {cpus[0], cpus[0]};
    default:
      return {};
  }
}

Outcome StartUnit(const std::string& text, const TargetRow& row, const Job& job,
                  const Placement& placement, Unit* unit) {
  std::string problem;
  const auto spec = ParseUnitSpec(text, &problem);
  if (!spec) return Outcome::Fail(problem);
  return unit->Start(*spec, job, 1, placement, row.task);
}

void Append(Series&& more, Series* series) {
  series->seconds.insert(series->seconds.end(), more.seconds.begin(), more.seconds.end());
  series->cpu.insert(series->cpu.end(), more.cpu.begin(), more.cpu.end());
}

// One share of the slices of a row, by processes of its own.
Outcome MeasureShare(const TargetRow& row, const std::vector<int>& cpus, const SlicePlan& slices,
                     Comparison* result) {
  const Placement placement = Place(row.where, cpus);
  Unit floor;
  Unit dat;
  Spinner spinner;
  SOFTDAT_TRY(
      StartUnit(result->floor_name, row, row.floor_job.value_or(row.job), placement, &floor));
  SOFTDAT_TRY(StartUnit(result->name, row, row.job, placement, &dat));
  if (row.where == Where::kAnywhereOneBusy || row.where == Where::kTwoCpusOneBusy)
    SOFTDAT_TRY(spinner.Start(cpus[1]));
  std::vector<Series> series;
  const auto run = [](Unit* unit) {
    return [unit](uint64_t iterations, JobResult* job) { return unit->Run(iterations, job); };
  };
  SOFTDAT_TRY(RunInterleaved({run(&floor), run(&dat)}, slices, &series));
  Append(std::move(series[0]), &result->floor);
  Append(std::move(series[1]), &result->series);
  return {};
}

Outcome MeasureRow(const TargetPlan& plan, const TargetRow& row, const std::vector<int>& cpus,
                   Comparison* result) {
  result->what = row.what;
  result->measure = row.measure;
  result->target = row.target;
  result->enough = row.enough;
  result->bytes_per_iteration = BytesPerIteration(row.job);
  result->floor_bytes_per_iteration = BytesPerIteration(row.floor_job.value_or(row.job));
  const bool is_ia = row.floor.empty() || row.floor.starts_with(',') || row.floor.starts_with('@');
  result->floor_name = is_ia ? plan.ia + std::string(row.floor) : std::string(row.floor);
  result->name = row.prefix + plan.ia + row.settings;
  if (cpus.size() < 2 && row.where != Where::kOneCpu) {
    result->impossible = "it needs two CPUs";
    return {};
  }
  const int shares = std::clamp(plan.slices.slices, 1, std::max(1, plan.processes));
  for (int share = 0; share < shares; ++share) {
    SlicePlan slices = plan.slices;
    slices.seconds *= row.longer;
    slices.slices = plan.slices.slices * (share + 1) / shares - plan.slices.slices * share / shares;
    SOFTDAT_TRY(MeasureShare(row, cpus, slices, result));
  }
  return {};
}

}  // namespace

Outcome MeasureTargets(const TargetPlan& plan, std::vector<Comparison>* rows) {
  const std::vector<int> cpus = AllowedCpus();
  if (cpus.empty()) return Outcome::Fail("cannot tell which CPUs this process may use");
  for (const auto& row : TargetRowsFor(plan.ia)) {
    if (std::string_view(row.what).find(plan.only) == std::string_view::npos) continue;
    if (plan.progress) plan.progress(row.what);
    SOFTDAT_TRY(MeasureRow(plan, row, cpus, &rows->emplace_back()));
  }
  if (rows->empty()) return Outcome::Fail(fmt::format("no row has '{}' in its name", plan.only));
  return {};
}

}  // namespace softdat::tools
