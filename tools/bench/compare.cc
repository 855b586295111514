// SPDX-License-Identifier: BSD-3-Clause
// Interleaved measurements and their ratios.
#include "tools/bench/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/text.h"

namespace softdat::tools {
namespace {

constexpr uint64_t kTrialIterations = 4;
constexpr uint64_t kMaxGrowth = 1000;

Outcome FindIterations(Unit* unit, double seconds, uint64_t* iterations) {
  *iterations = kTrialIterations;
  // Short runs say little about long ones: approach in steps.
  for (const double part : {0.02, 0.2, 1.0}) {
    double elapsed = 0;
    SOFTDAT_TRY(unit->Run(*iterations, &elapsed));
    *iterations = ScaleIterations(*iterations, elapsed, seconds * part);
  }
  return {};
}

// In the unit of the measure.
double Value(const Comparison& row, double seconds_per_iteration) {
  if (row.measure == Measure::kLatency) return seconds_per_iteration * 1e6;
  return seconds_per_iteration > 0
             ? static_cast<double>(row.bytes_per_iteration) / 1e6 / seconds_per_iteration
             : 0;
}

std::string Shown(const Comparison& row, const Samples& samples) {
  if (samples.empty()) return "-";
  const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  double from = Value(row, *low);
  double to = Value(row, *high);
  if (from > to) std::swap(from, to);
  const char* unit = row.measure == Measure::kLatency ? "us" : "MB/s";
  return row.measure == Measure::kLatency
             ? fmt::format("{:.2f} {} ({:.2f}..{:.2f})", Value(row, Median(samples)), unit, from,
                           to)
             : fmt::format("{:.0f} {} ({:.0f}..{:.0f})", Value(row, Median(samples)), unit, from,
                           to);
}

const char* Bound(const Comparison& row) { return row.measure == Measure::kLatency ? "<=" : ">="; }

}  // namespace

double Median(Samples samples) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

uint64_t ScaleIterations(uint64_t iterations, double elapsed, double seconds) {
  if (elapsed <= 0) return iterations * kMaxGrowth;
  const double wanted = static_cast<double>(iterations) * seconds / elapsed;
  const double most = static_cast<double>(iterations * kMaxGrowth);
  return std::max<uint64_t>(1, static_cast<uint64_t>(std::min(wanted, most)));
}

Outcome RunInterleaved(Unit* a, Unit* b, const SlicePlan& plan, Samples* samples_a,
                       Samples* samples_b) {
  struct Side {
    Unit* unit;
    Samples* samples;
    uint64_t iterations;
  } sides[] = {{a, samples_a, 0}, {b, samples_b, 0}};
  for (auto& side : sides) SOFTDAT_TRY(FindIterations(side.unit, plan.seconds, &side.iterations));
  for (int slice = 0; slice < plan.slices; ++slice) {
    for (int turn = 0; turn < 2; ++turn) {
      Side& side = sides[(slice + turn) % 2];
      double seconds = 0;
      SOFTDAT_TRY(side.unit->Run(side.iterations, &seconds));
      side.samples->push_back(seconds / static_cast<double>(side.iterations));
    }
  }
  return {};
}

double Comparison::Ratio() const {
  const double below = Value(*this, Median(floor));
  return below > 0 ? Value(*this, Median(dat)) / below : 0;
}

bool Comparison::Met() const {
  if (!impossible.empty() || floor.empty() || dat.empty()) return false;
  return measure == Measure::kLatency ? Ratio() <= target : Ratio() >= target;
}

std::string RenderComparisons(const std::vector<Comparison>& rows) {
  Table table({"WORK", "FLOOR", "", "DAT", "", "RATIO", "TARGET", ""});
  for (const auto& row : rows) {
    const std::string target = fmt::format("{} {:.2f}", Bound(row), row.target);
    if (!row.impossible.empty()) {
      table.AddRow({row.what, row.floor_name, "-", row.dat_name, "-", "-", target,
                    "not measured: " + row.impossible});
      continue;
    }
    table.AddRow({row.what, row.floor_name, Shown(row, row.floor), row.dat_name,
                  Shown(row, row.dat), fmt::format("{:.2f}", row.Ratio()), target,
                  row.Met() ? "met" : "NOT met"});
  }
  return table.Render();
}

nlohmann::ordered_json ComparisonsJson(const std::vector<Comparison>& rows) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& row : rows) {
    nlohmann::ordered_json json;
    json["work"] = row.what;
    json["unit"] = row.measure == Measure::kLatency ? "us per iteration" : "MB/s";
    json["floor"] = row.floor_name;
    json["dat"] = row.dat_name;
    for (const auto& [name, samples] :
         {std::pair{"floor_samples", &row.floor}, std::pair{"dat_samples", &row.dat}}) {
      json[name] = nlohmann::ordered_json::array();
      for (const double sample : *samples) json[name].push_back(Value(row, sample));
    }
    json["floor_median"] = Value(row, Median(row.floor));
    json["dat_median"] = Value(row, Median(row.dat));
    json["ratio"] = row.impossible.empty() ? nlohmann::ordered_json(row.Ratio()) : nullptr;
    json["bound"] = Bound(row);
    json["target"] = row.target;
    json["met"] = row.Met();
    json["not_measured"] =
        row.impossible.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(row.impossible);
    list.push_back(json);
  }
  return list;
}

}  // namespace softdat::tools
