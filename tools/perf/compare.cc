// SPDX-License-Identifier: BSD-3-Clause
// dat_perf compare, dat_perf targets, and dat_perf scale.
#include "tools/perf/compare.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/bench/comparison.h"
#include "tools/bench/scale.h"
#include "tools/bench/targets.h"
#include "tools/bench/unit.h"
#include "tools/common/cpu.h"
#include "tools/common/text.h"
#include "tools/perf/output.h"

namespace softdat::tools {
namespace {

using nlohmann::ordered_json;

bool ParseCpu(std::string_view text, int* cpu) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *cpu);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && *cpu >= 0;
}

Outcome FindPlacement(const std::string& text, Placement* placement) {
  if (text == "any") return {};
  if (text.empty()) {
    const std::vector<int> cpus = AllowedCpus();
    if (cpus.size() >= 2) *placement = {cpus[0], cpus[1]};
    return {};
  }
  const std::string_view view(text);
  const size_t comma = view.find(',');
  if (comma == std::string_view::npos || !ParseCpu(view.substr(0, comma), &placement->client_cpu) ||
      !ParseCpu(view.substr(comma + 1), &placement->server_cpu))
    return Outcome::Fail(kExitUsage, fmt::format("--cpus '{}' is none of 0,1 or any", text));
  return {};
}

std::vector<Measure> MeasuresOf(const PerfTest& test) {
  if (test.IsLatency()) return {Measure::kLatency, Measure::kCpu};
  return {Measure::kRate, Measure::kBandwidth, Measure::kCpu};
}

const char* MeasureTitle(Measure measure) {
  switch (measure) {
    case Measure::kLatency:
      return "us per iteration";
    case Measure::kRate:
      return "M/s";
    case Measure::kBandwidth:
      return "MB/s";
    case Measure::kCpu:
      return "CPU us per iteration";
  }
  return "";
}

std::string Render(const PerfOptions& options, const std::vector<Series>& series, uint64_t bytes) {
  const auto measures = MeasuresOf(options.test);
  std::vector<std::string> heads = {""};
  for (const Measure measure : measures) {
    heads.emplace_back(MeasureTitle(measure));
    heads.emplace_back("RATIO");
  }
  Table table(heads);
  for (size_t i = 0; i < series.size(); ++i) {
    std::vector<std::string> row = {options.units[i].text};
    for (const Measure measure : measures) {
      const Samples base = Values(series[0], measure, bytes);
      const Samples own = Values(series[i], measure, bytes);
      row.push_back(Format(SpreadOf(own)));
      row.push_back(i == 0 ? "1" : Format(RatioOf(own, base)));
    }
    table.AddRow(row);
  }
  return table.Render();
}

ordered_json CompareJson(const PerfOptions& options, const Job& job,
                         const std::vector<Series>& series) {
  ordered_json json = {{"test", options.test.name},
                       {"size", job.size},
                       {"window", job.window},
                       {"qps", options.connections},
                       {"waiting", WaitModeName(job.wait)},
                       {"bidirectional", job.both_ways}};
  const uint64_t bytes = BytesPerIteration(job);
  json["units"] = ordered_json::array();
  for (size_t i = 0; i < series.size(); ++i) {
    ordered_json unit = {{"name", options.units[i].text}};
    for (const Measure measure : MeasuresOf(options.test)) {
      const Samples own = Values(series[i], measure, bytes);
      unit[MeasureTitle(measure)] = {
          {"median", Median(own)},
          {"samples", own},
          {"ratio", RatioOf(own, Values(series[0], measure, bytes)).median}};
    }
    json["units"].push_back(unit);
  }
  return json;
}

Outcome PutOut(const PerfOptions& options, const ordered_json& json, const std::string& text) {
  if (!options.json_file.empty()) SOFTDAT_TRY(WriteFile(options.json_file, json.dump(2) + "\n"));
  Print(options.json ? json.dump(2) + "\n" : text);
  return {};
}

}  // namespace

Outcome RunCompare(const PerfOptions& options) {
  Placement placement;
  SOFTDAT_TRY(FindPlacement(options.cpus, &placement));
  const Job job = options.ToJob(options.Sizes().front());
  std::vector<std::unique_ptr<Unit>> units;
  std::vector<Runnable> runs;
  for (const auto& spec : options.units) {
    Unit* unit = units.emplace_back(std::make_unique<Unit>()).get();
    SOFTDAT_TRY(unit->Start(spec, job, options.connections, placement));
    runs.emplace_back(
        [unit](uint64_t iterations, JobResult* result) { return unit->Run(iterations, result); });
  }
  Spinner spinner;
  if (options.busy_cpu >= 0) SOFTDAT_TRY(spinner.Start(options.busy_cpu));
  Progress progress;
  progress.Show(fmt::format(
      "{} slices of {} units, about {:.0f} s", options.slices.slices, units.size(),
      static_cast<double>(units.size()) * options.slices.seconds * (options.slices.slices + 1)));
  std::vector<Series> series;
  SOFTDAT_TRY(RunInterleaved(runs, options.slices, &series));
  progress.Clear();
  return PutOut(options, CompareJson(options, job, series),
                Render(options, series, BytesPerIteration(job)));
}

Outcome RunTargets(const PerfOptions& options) {
  Progress progress;
  TargetPlan plan;
  plan.ia = options.ia;
  plan.only = options.only;
  plan.slices = options.slices;
  plan.progress = [&](const std::string& what) { progress.Show("measuring: " + what); };
  std::vector<Comparison> rows;
  SOFTDAT_TRY(MeasureTargets(plan, &rows));
  progress.Clear();
  const ordered_json json = {{"ia", options.ia},
                             {"cpus", AllowedCpus()},
                             {"slices", options.slices.slices},
                             {"seconds_per_slice", options.slices.seconds},
#ifdef __OPTIMIZE__
                             {"optimised", true},
#else
                             {"optimised", false},
#endif
                             {"rows", ComparisonsJson(rows)}};
  return PutOut(options, json, RenderComparisons(rows));
}

Outcome RunScale(const PerfOptions& options) {
  Progress progress;
  ScalePlan plan;
  plan.ia = options.ia;
  plan.end_points = options.connections;
  if (options.iterations) plan.cycles = *options.iterations;
  plan.progress = [&](const std::string& what) { progress.Show("measuring: " + what); };
  std::vector<Amount> amounts;
  SOFTDAT_TRY(MeasureScale(plan, &amounts));
  progress.Clear();
  return PutOut(options, {{"ia", options.ia}, {"rows", AmountsJson(amounts)}},
                RenderAmounts(amounts));
}

}  // namespace softdat::tools
