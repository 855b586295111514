// SPDX-License-Identifier: BSD-3-Clause
// Ratios, verdicts, and their text.
#include "tools/bench/comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/text.h"

namespace softdat::tools {
namespace {

double Value(Measure measure, double seconds, double cpu, uint64_t bytes) {
  switch (measure) {
    case Measure::kLatency:
      return seconds * 1e6;
    case Measure::kRate:
      return seconds > 0 ? 1e-6 / seconds : 0;
    case Measure::kBandwidth:
      return seconds > 0 ? static_cast<double>(bytes) / 1e6 / seconds : 0;
    case Measure::kCpu:
      return cpu * 1e6;
  }
  return 0;
}

const char* Bound(Measure measure) { return SmallIsGood(measure) ? "<=" : ">="; }

nlohmann::ordered_json SpreadJson(const Spread& spread) {
  return {{"median", spread.median}, {"low", spread.low}, {"high", spread.high}};
}

Samples FloorValues(const Comparison& row) {
  return Values(row.floor, row.measure, row.floor_bytes_per_iteration);
}

Samples OwnValues(const Comparison& row) {
  return Values(row.series, row.measure, row.bytes_per_iteration);
}

}  // namespace

const char* UnitName(Measure measure) {
  switch (measure) {
    case Measure::kRate:
      return "M/s";
    case Measure::kBandwidth:
      return "MB/s";
    default:
      return "us";
  }
}

bool SmallIsGood(Measure measure) {
  return measure == Measure::kLatency || measure == Measure::kCpu;
}

Samples Values(const Series& series, Measure measure, uint64_t bytes_per_iteration) {
  Samples values;
  for (size_t i = 0; i < series.seconds.size(); ++i)
    values.push_back(Value(measure, series.seconds[i], series.cpu[i], bytes_per_iteration));
  return values;
}

Spread SpreadOf(const Samples& samples) {
  return {Median(samples), Quantile(samples, 0.25), Quantile(samples, 0.75)};
}

std::string Format(const Spread& spread) {
  const int digits = spread.median >= 1000 ? 0 : spread.median >= 0.1 ? 2 : 4;
  return fmt::format("{:.{}f} ({:.{}f}..{:.{}f})", spread.median, digits, spread.low, digits,
                     spread.high, digits);
}

Spread RatioOf(const Samples& values, const Samples& base) {
  Samples ratios;
  for (size_t i = 0; i < std::min(values.size(), base.size()); ++i)
    ratios.push_back(base[i] > 0 ? values[i] / base[i] : 0);
  Spread result = SpreadOf(ratios);
  const double below = Median(base);
  result.median = below > 0 ? Median(values) / below : 0;
  return result;
}

Spread Comparison::Ratio() const { return RatioOf(OwnValues(*this), FloorValues(*this)); }

bool Comparison::Met() const {
  if (!impossible.empty() || floor.seconds.empty() || series.seconds.empty()) return false;
  const auto reaches = [this](double value, double bound) {
    return SmallIsGood(measure) ? value <= bound : value >= bound;
  };
  if (enough > 0 && reaches(Median(OwnValues(*this)), enough)) return true;
  return target > 0 && reaches(Ratio().median, target);
}

std::string Comparison::TargetText() const {
  const char* const bound = Bound(measure);
  std::string ratio = target > 0 ? fmt::format("{} {:.2f}", bound, target) : "";
  if (enough <= 0) return ratio;
  const std::string value = fmt::format("{} {:g} {}", bound, enough, UnitName(measure));
  return ratio.empty() ? value : ratio + " or " + value;
}

std::string RenderComparisons(const std::vector<Comparison>& rows) {
  Table table({"WORK", "FLOOR", "", "DAT", "", "", "RATIO", "TARGET", ""});
  for (const auto& row : rows) {
    const std::string target = row.TargetText();
    if (!row.impossible.empty()) {
      table.AddRow({row.what, row.floor_name, "-", row.name, "-", "", "-", target,
                    "not measured: " + row.impossible});
      continue;
    }
    table.AddRow({row.what, row.floor_name, Format(SpreadOf(FloorValues(row))), row.name,
                  Format(SpreadOf(OwnValues(row))), UnitName(row.measure), Format(row.Ratio()),
                  target, row.Met() ? "met" : "NOT met"});
  }
  return table.Render();
}

nlohmann::ordered_json ComparisonsJson(const std::vector<Comparison>& rows) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& row : rows) {
    nlohmann::ordered_json json;
    json["work"] = row.what;
    json["unit"] = UnitName(row.measure);
    json["floor"] = row.floor_name;
    json["dat"] = row.name;
    json["bound"] = Bound(row.measure);
    json["target"] = row.target;
    if (row.enough > 0) json["enough"] = row.enough;
    if (row.impossible.empty()) {
      json["floor_samples"] = FloorValues(row);
      json["dat_samples"] = OwnValues(row);
      json["floor_value"] = SpreadJson(SpreadOf(FloorValues(row)));
      json["dat_value"] = SpreadJson(SpreadOf(OwnValues(row)));
      json["ratio"] = SpreadJson(row.Ratio());
    } else {
      json["not_measured"] = row.impossible;
    }
    json["met"] = row.Met();
    list.push_back(json);
  }
  return list;
}

}  // namespace softdat::tools
