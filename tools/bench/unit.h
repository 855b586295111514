// SPDX-License-Identifier: BSD-3-Clause
// One of the things that are compared: a driver and a server process with a connection between
// them. They do the same work any number of times.
#ifndef SOFTDAT_TOOLS_BENCH_UNIT_H_
#define SOFTDAT_TOOLS_BENCH_UNIT_H_

#include <cstdint>
#include <string>

#include "tools/bench/child.h"
#include "tools/bench/footprint.h"
#include "tools/bench/unit_spec.h"
#include "tools/bench/worker.h"
#include "tools/common/outcome.h"
#include "tools/traffic/job.h"

namespace softdat::tools {

// The CPUs of the two processes; -1: any.
struct Placement {
  int client_cpu = -1;
  int server_cpu = -1;
};

class Unit {
 public:
  // `work` is without its iterations. Both ends use its `wait`, but floors wait in their own way.
  // There are `connections` of them unless the name says otherwise.
  Outcome Start(const UnitSpec& spec, const Job& work, uint32_t connections,
                const Placement& placement, WorkerTask task = WorkerTask::kTransfers);
  Outcome Run(uint64_t iterations, JobResult* result);
  // The resources of the two processes together.
  Outcome Measure(Footprint* footprint) const;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  Job work_;
  Child server_;
  Child driver_;
};

// A process that keeps a CPU busy.
class Spinner {
 public:
  Outcome Start(int cpu);

 private:
  Child child_;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_UNIT_H_
