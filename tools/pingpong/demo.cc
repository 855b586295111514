// SPDX-License-Identifier: BSD-3-Clause
// dat_pingpong --demo.
#include "tools/pingpong/demo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tools/common/text.h"

namespace softdat::tools {
namespace {

constexpr uint32_t kTransferSize = 65536;
constexpr uint64_t kTransfers = 100;

// The length of the run for a cell of the table. A short run before it shows how long an iteration
// takes.
constexpr double kCellSeconds = 0.06;
constexpr uint64_t kTrialIterations = 8;
constexpr uint64_t kMaxCellIterations = 20000;

void Say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

Outcome Measure(Session* session, Job job, JobResult* result, uint64_t* iterations) {
  job.iterations = std::max<uint64_t>(kTrialIterations, job.window);
  SOFTDAT_TRY(session->Run(job, result));
  const double each = std::max(result->seconds / static_cast<double>(job.iterations), 1e-9);
  job.iterations =
      std::clamp(static_cast<uint64_t>(kCellSeconds / each), job.iterations, kMaxCellIterations);
  *iterations = job.iterations;
  return session->Run(job, result);
}

}  // namespace

Outcome DemoTransfers(Session* session) {
  struct Step {
    Operation operation;
    const char* name;
    const char* what;
  };
  constexpr Step kSteps[] = {
      {Operation::kSend, "send", "messages of {} there, and as many back"},
      {Operation::kWrite, "RDMA write", "writes of {} into the server, and as many back"},
      {Operation::kRead, "RDMA read", "reads of {} from the server"},
  };
  for (const auto& step : kSteps) {
    Job job;
    job.operation = step.operation;
    job.check = true;
    job.wait = WaitMode::kWait;
    job.server_decides_wait = false;
    job.size = kTransferSize;
    job.iterations = kTransfers;
    JobResult result;
    const Outcome outcome = session->Run(job, &result);
    Say(fmt::format("  {:<13} {} {}, every byte checked: {}", step.name, kTransfers,
                    fmt::format(fmt::runtime(step.what), FormatSize(kTransferSize)),
                    outcome.ok() ? "ok" : "FAILED"));
    if (!outcome.ok()) return Outcome::Fail(outcome.exit_code(), outcome.message());
  }
  return {};
}

Outcome DemoTable(Session* session) {
  struct Column {
    const char* head;
    Operation operation;
    uint32_t window;  // 1: latency
  };
  // A latency is half of a round trip. For a read it is the whole round trip.
  constexpr Column kColumns[] = {
      {"send us", Operation::kSend, 1},    {"write us", Operation::kWrite, 1},
      {"read us", Operation::kRead, 1},    {"write MB/s", Operation::kWrite, 16},
      {"read MB/s", Operation::kRead, 16},
  };
  std::string head = fmt::format("  {:>8}", "size");
  for (const auto& column : kColumns) head += fmt::format("  {:>10}", column.head);
  Say(head);
  for (const uint32_t size : {64u, 256u, 1024u, 4096u, 16384u, 65536u, 262144u, 1048576u}) {
    std::string line = fmt::format("  {:>8}", FormatSize(size));
    for (const auto& column : kColumns) {
      Job job;
      job.operation = column.operation;
      job.shape = column.window > 1 ? Shape::kStream : Shape::kLatency;
      job.size = size;
      job.window = column.window;
      job.server_decides_wait = false;
      // The demo does not poll, because that needs a CPU for each end. A busy or a small machine
      // has none to spare.
      job.wait = WaitMode::kWait;
      JobResult result;
      uint64_t iterations = 1;
      SOFTDAT_TRY(Measure(session, job, &result, &iterations));
      if (column.window > 1) {
        line +=
            fmt::format("  {:>10.1f}", static_cast<double>(result.bytes) / 1e6 / result.seconds);
      } else {
        const uint64_t moves = iterations * (BytesPerIteration(job) / size);
        line += fmt::format("  {:>10.2f}", result.seconds * 1e6 / static_cast<double>(moves));
      }
    }
    Say(line);
  }
  Say("  latencies: half a round trip, a read: until the data are here; both ends use "
      "dat_evd_wait");
  return {};
}

}  // namespace softdat::tools
