// SPDX-License-Identifier: BSD-3-Clause
// The child processes of a measurement. One serves, and one drives, each over one adapter or floor.
// One may keep a processor busy. They report by lines on standard output, as JSON:
//   {"ports": [34567, ..]}                               a server that listens
//   {"ready": true}                                      a driver that is connected
//   {"seconds": .., "client_cpu": .., "server_cpu": ..}  a job that is done
//   {"error": "why not"}
#ifndef SOFTDAT_TOOLS_BENCH_WORKER_H_
#define SOFTDAT_TOOLS_BENCH_WORKER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/unit_spec.h"
#include "tools/common/outcome.h"
#include "tools/traffic/job.h"

namespace softdat::tools {

enum class WorkerRole : uint8_t { kServe, kDrive, kSpin };

enum class WorkerTask : uint8_t {
  kTransfers,         // jobs over connections that stay
  kShortQueues,       // the same, with queues as short as possible
  kConnections,       // an iteration of a job is a connection, made and ended
  kConnectionBursts,  // the same, kConnectionBurst connections at once
};
inline constexpr uint32_t kConnectionBurst = 64;

struct WorkerOrders {
  WorkerRole role = WorkerRole::kServe;
  WorkerTask task = WorkerTask::kTransfers;
  std::string unit;  // UnitSpec::text
  int cpu = -1;      // on which it runs; -1: on any
  uint32_t connections = 1;
  uint32_t window = 1;          // the largest of the jobs to come
  std::vector<uint64_t> ports;  // of the server, one for each of its threads; for the driver
};

// For Child::Start().
std::vector<std::string> WorkerArguments(const WorkerOrders& orders);
// Nothing if `arguments` are not those of a worker.
std::optional<WorkerOrders> ParseWorkerArguments(const std::vector<std::string>& arguments);

// In the child. Returns the exit status.
int RunWorker(const WorkerOrders& orders);

// A job as a line for a driver, and back.
std::string JobLine(const Job& job);
std::optional<Job> ParseJobLine(const std::string& line);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_WORKER_H_
