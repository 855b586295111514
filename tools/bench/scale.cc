// SPDX-License-Identifier: BSD-3-Clause
// The resources of many end points and many connections.
#include "tools/bench/scale.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "tools/bench/unit.h"
#include "tools/common/text.h"

namespace softdat::tools {
namespace {

constexpr double kMostKibPerEndPoint = 16;
// A page table here, an arena there. A leak of a byte for each connection would be ten times that.
constexpr double kMostKibLeft = 64;
constexpr double kMostDescriptorsLeft = 0;
constexpr uint64_t kTouches = 1000;

Outcome StartUnit(const std::string& name, WorkerTask task, Unit* unit) {
  std::string problem;
  const auto spec = ParseUnitSpec(name, &problem);
  if (!spec) return Outcome::Fail(problem);
  Job work;
  work.operation = Operation::kWrite;
  work.wait = WaitMode::kWait;
  work.size = 64;
  return unit->Start(*spec, work, 1, {}, task);
}

Outcome FootprintOf(const std::string& ia, uint32_t end_points, Footprint* footprint) {
  Unit unit;
  JobResult ignored;
  // The memory that queues take depends on their length.
  SOFTDAT_TRY(StartUnit(fmt::format("{}@{}", ia, end_points), WorkerTask::kShortQueues, &unit));
  SOFTDAT_TRY(unit.Run(kTouches, &ignored));
  return unit.Measure(footprint);
}

Outcome MeasureIdle(const ScalePlan& plan, std::vector<Amount>* amounts) {
  Footprint one;
  Footprint many;
  SOFTDAT_TRY(FootprintOf(plan.ia, 1, &one));
  SOFTDAT_TRY(FootprintOf(plan.ia, plan.end_points + 1, &many));
  amounts->push_back({fmt::format("an idle end point, of {}, both ends", plan.end_points),
                      "KiB of memory",
                      static_cast<double>(many.memory_kib - one.memory_kib) / plan.end_points,
                      kMostKibPerEndPoint});
  return {};
}

// Waits until two readings in turn agree, because the last connection may still be closing.
Outcome MeasureSettled(Unit* unit, Footprint* footprint) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  Footprint before;
  SOFTDAT_TRY(unit->Measure(footprint));
  do {
    before = *footprint;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    SOFTDAT_TRY(unit->Measure(footprint));
  } while (footprint->descriptors != before.descriptors &&
           std::chrono::steady_clock::now() < deadline);
  return {};
}

Outcome MeasureCycles(const ScalePlan& plan, std::vector<Amount>* amounts) {
  Unit unit;
  JobResult ignored;
  Footprint before;
  Footprint after;
  SOFTDAT_TRY(StartUnit(plan.ia, WorkerTask::kConnections, &unit));
  SOFTDAT_TRY(unit.Run(plan.cycles_before, &ignored));
  SOFTDAT_TRY(MeasureSettled(&unit, &before));
  SOFTDAT_TRY(unit.Run(plan.cycles, &ignored));
  SOFTDAT_TRY(MeasureSettled(&unit, &after));
  const std::string what = fmt::format("left of {} connections, both ends", plan.cycles);
  amounts->push_back({what, "descriptors",
                      static_cast<double>(after.descriptors - before.descriptors),
                      kMostDescriptorsLeft});
  amounts->push_back({what, "KiB of memory",
                      static_cast<double>(after.memory_kib - before.memory_kib), kMostKibLeft});
  return {};
}

}  // namespace

Outcome MeasureScale(const ScalePlan& plan, std::vector<Amount>* amounts) {
  if (plan.progress) plan.progress("memory of idle end points");
  SOFTDAT_TRY(MeasureIdle(plan, amounts));
  if (plan.progress) plan.progress("what connections leave");
  return MeasureCycles(plan, amounts);
}

std::string RenderAmounts(const std::vector<Amount>& amounts) {
  Table table({"WHAT", "", "", "TARGET", ""});
  for (const auto& amount : amounts) {
    table.AddRow({amount.what, fmt::format("{:.1f}", amount.value), amount.unit,
                  fmt::format("<= {}", amount.most), amount.Met() ? "met" : "NOT met"});
  }
  return table.Render();
}

nlohmann::ordered_json AmountsJson(const std::vector<Amount>& amounts) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& amount : amounts) {
    list.push_back({{"what", amount.what},
                    {"unit", amount.unit},
                    {"value", amount.value},
                    {"bound", "<="},
                    {"target", amount.most},
                    {"met", amount.Met()}});
  }
  return list;
}

}  // namespace softdat::tools
