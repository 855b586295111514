// SPDX-License-Identifier: BSD-3-Clause
// A task of rds-softstress: a process with one socket.
#ifndef SOFTDAT_TOOLS_RDS_STRESS_TASK_H_
#define SOFTDAT_TOOLS_RDS_STRESS_TASK_H_

#include <sys/socket.h>

#include <cstdint>

#include "tools/common/outcome.h"
#include "tools/rds/calls.h"
#include "tools/rds/stress_counts.h"
#include "tools/rds/stress_options.h"

namespace softdat::tools {

// Descriptors by which the parent leads a task from one phase to the next: each can be read (it is
// at its end) once the phase has come. All of them can when the parent has died.
struct StressGates {
  int run = -1;    // send
  int drain = -1;  // send no further requests
  int end = -1;    // end
};

struct StressTaskSetup {
  const StressOptions* options = nullptr;  // of this end
  StressJob job;
  uint16_t task = 0;
  sockaddr_storage own{};   // with the port of this end's task 0
  sockaddr_storage peer{};  // with the port of the peer's task 0
  StressGates gates;
  // Lines to the parent: "ready", "drained".
  int report = -1;
  SharedCounts* counts = nullptr;
};

// Runs the task until the parent ends it.
Outcome RunStressTask(const StressTaskSetup& setup);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_STRESS_TASK_H_
