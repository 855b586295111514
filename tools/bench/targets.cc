// SPDX-License-Identifier: BSD-3-Clause
// The rows of the table of targets, and their measurement.
#include "tools/bench/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>

#include "tools/bench/unit.h"
#include "tools/bench/unit_spec.h"
#include "tools/common/cpu.h"
#include "tools/traffic/job.h"

namespace softdat::tools {
namespace {

constexpr uint32_t kSmall = 64;
constexpr uint32_t kPage = 4096;
constexpr uint32_t kLarge = 1 << 20;
constexpr uint32_t kLargeWindow = 8;
constexpr uint32_t kWindow = 64;

// The CPUs on which the two ends run.
enum class Where : uint8_t {
  kTwoCpus,
  kOneCpu,
  kAnywhere,
  kAnywhereOneBusy,  // and another program keeps one of two CPUs busy
};

struct Row {
  const char* what;
  Measure measure;
  double target;
  std::string_view floor;  // an IA's settings, if it begins with a comma or is empty
  Job job;
  Where where = Where::kTwoCpus;
  const char* settings = "";  // added to the name of the IA
  WorkerTask task = WorkerTask::kTransfers;
  std::optional<Job> floor_job = std::nullopt;  // the floor's job, if it is another one
};

Job Latency(Operation operation, uint32_t size, WaitMode wait) {
  Job job;
  job.operation = operation;
  job.size = size;
  job.wait = wait;
  return job;
}

Job Stream(Operation operation, uint32_t size, uint32_t window, WaitMode wait) {
  Job job = Latency(operation, size, wait);
  job.shape = Shape::kStream;
  job.window = window;
  return job;
}

std::vector<Row> Rows() {
  using enum Operation;
  using enum Measure;
  constexpr auto kPollMode = WaitMode::kPoll;
  const Job send = Latency(kSend, kSmall, kPollMode);
  const Job wait = Latency(kSend, kSmall, WaitMode::kWait);
  const Job page = Latency(kSend, kPage, kPollMode);
  const Job sends = Stream(kSend, kSmall, kWindow, kPollMode);
  const Job writes = Stream(kWrite, kSmall, kWindow, kPollMode);
  const Job pages = Stream(kWrite, kPage, kWindow, kPollMode);
  const Job large = Stream(kWrite, kLarge, kLargeWindow, WaitMode::kWait);
  const Job reads = Stream(kRead, kLarge, kLargeWindow, WaitMode::kWait);
  const Job notice = Latency(kWrite, kSmall, WaitMode::kWait);  // a write, and a message after it
  Job pair = wait;
  pair.messages = 2;
  const Job large_sends = Stream(kSend, kLarge, kLargeWindow, WaitMode::kWait);
  static constexpr char kCrc[] = ",SOFTDAT_CRC=on";  // the rows point to it
  // Rows with this floor show the additional cost of the default, in which a completion means that
  // the peer has the data.
  static constexpr char kTaken[] = ",SOFTDAT_COMPLETION=taken";
  return {
      {"64 B send, polling", kLatency, 1.08, "raw:tcp-poll", send},
      {"64 B write, memory and EVD", kLatency, 1.10, "raw:tcp-poll",
       Latency(kWrite, kSmall, kPollMode)},
      {"64 B write, memory alone", kLatency, 2.5, "raw:tcp-epoll",
       Latency(kWrite, kSmall, WaitMode::kMemory)},
      {"64 B send, dat_evd_wait", kLatency, 0.60, "raw:tcp-epoll", wait},
      {"64 B send, dat_cno_wait", kLatency, 0.70, "raw:tcp-epoll",
       Latency(kSend, kSmall, WaitMode::kCno)},
      {"64 B send, descriptor of a CNO", kLatency, 1.15, "raw:tcp-epoll",
       Latency(kSend, kSmall, WaitMode::kFd)},
      {"4 KiB send, polling", kLatency, 1.10, "raw:tcp-poll", page},
      {"4 KiB send, polling, CRC", kLatency, 1.20, "raw:tcp-poll", page, Where::kTwoCpus, kCrc},
      {"64 B sends, window 64", kRate, 0.5, "raw:tcp-gather", sends},
      {"64 B writes, window 64", kRate, 0.5, "raw:tcp-gather", writes},
      {"64 B sends, window 64, CPU", kCpu, 2, "raw:tcp-gather", sends},
      {"64 B writes, window 64, CPU", kCpu, 2, "raw:tcp-gather", writes},
      {"4 KiB writes, window 64", kBandwidth, 0.6, "raw:tcp-gather", pages},
      {"1 MiB writes", kBandwidth, 0.95, "raw:tcp-block", large},
      {"1 MiB writes, CRC", kBandwidth, 0.7, "raw:tcp-block", large, Where::kTwoCpus, kCrc},
      {"1 MiB reads", kBandwidth, 0.9, "raw:tcp-block", reads},
      {"64 B send, dat_evd_wait, one CPU", kLatency, 1.05, "raw:tcp-block", wait, Where::kOneCpu},
      {"64 B send, dat_evd_wait, unpinned", kLatency, 0.8, "raw:tcp-block", wait, Where::kAnywhere},
      {"64 B send, dat_evd_wait, a CPU busy", kLatency, 1.3, "raw:tcp-block", wait,
       Where::kAnywhereOneBusy},
      {"64 B send, one of 1000 end points", kLatency, 1.2, "", send, Where::kTwoCpus, "@1000"},
      {.what = "64 B write and its notice, beside a send",
       .measure = kLatency,
       .target = 1.35,
       .floor = "",
       .job = notice,
       .floor_job = wait},
      {.what = "two 64 B sends in a row, beside one",
       .measure = kLatency,
       .target = 1.35,
       .floor = "",
       .job = pair,
       .floor_job = wait},
      {"confirmed: 64 B send, polling", kLatency, 1.05, kTaken, send},
      {"confirmed: 64 B write, memory and EVD", kLatency, 1.05, kTaken,
       Latency(kWrite, kSmall, kPollMode)},
      {"confirmed: 64 B sends, window 64", kRate, 0.8, kTaken, sends},
      {"confirmed: 64 B writes, window 64", kRate, 0.8, kTaken, writes},
      {"confirmed: 1 MiB sends", kBandwidth, 0.97, kTaken, large_sends},
      {"confirmed: 1 MiB writes", kBandwidth, 0.97, kTaken, large},
      {"connections, one by one",
       kRate,
       0.5,
       "raw:tcp-block",
       {},
       Where::kTwoCpus,
       "",
       WorkerTask::kConnections},
  };
}

Placement Place(Where where, const std::vector<int>& cpus) {
  switch (where) {
    case Where::kTwoCpus:
      return {cpus[0], cpus[1]};
    case Where::kOneCpu:
      return {cpus[0], cpus[0]};
    default:
      return {};
  }
}

Outcome StartUnit(const std::string& text, const Row& row, const Job& job,
                  const Placement& placement, Unit* unit) {
  std::string problem;
  const auto spec = ParseUnitSpec(text, &problem);
  if (!spec) return Outcome::Fail(problem);
  return unit->Start(*spec, job, 1, placement, row.task);
}

Outcome MeasureRow(const TargetPlan& plan, const Row& row, const std::vector<int>& cpus,
                   Comparison* result) {
  result->what = row.what;
  result->measure = row.measure;
  result->target = row.target;
  result->bytes_per_iteration = BytesPerIteration(row.job);
  const bool is_ia = row.floor.empty() || row.floor.starts_with(',');
  result->floor_name = is_ia ? plan.ia + std::string(row.floor) : std::string(row.floor);
  result->name = plan.ia + row.settings;
  if (cpus.size() < 2 && row.where != Where::kOneCpu) {
    result->impossible = "it needs two CPUs";
    return {};
  }
  const Placement placement = Place(row.where, cpus);
  Unit floor;
  Unit dat;
  Spinner spinner;
  SOFTDAT_TRY(
      StartUnit(result->floor_name, row, row.floor_job.value_or(row.job), placement, &floor));
  SOFTDAT_TRY(StartUnit(result->name, row, row.job, placement, &dat));
  if (row.where == Where::kAnywhereOneBusy) SOFTDAT_TRY(spinner.Start(cpus[1]));
  std::vector<Series> series;
  const auto run = [](Unit* unit) {
    return [unit](uint64_t iterations, JobResult* job) { return unit->Run(iterations, job); };
  };
  SOFTDAT_TRY(RunInterleaved({run(&floor), run(&dat)}, plan.slices, &series));
  result->floor = std::move(series[0]);
  result->series = std::move(series[1]);
  return {};
}

}  // namespace

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const auto& row : Rows()) names.emplace_back(row.what);
  return names;
}

Outcome MeasureTargets(const TargetPlan& plan, std::vector<Comparison>* rows) {
  const std::vector<int> cpus = AllowedCpus();
  if (cpus.empty()) return Outcome::Fail("cannot tell which CPUs this process may use");
  for (const auto& row : Rows()) {
    if (std::string_view(row.what).find(plan.only) == std::string_view::npos) continue;
    if (plan.progress) plan.progress(row.what);
    SOFTDAT_TRY(MeasureRow(plan, row, cpus, &rows->emplace_back()));
  }
  if (rows->empty()) return Outcome::Fail(fmt::format("no row has '{}' in its name", plan.only));
  return {};
}

}  // namespace softdat::tools
