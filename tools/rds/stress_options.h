// SPDX-License-Identifier: BSD-3-Clause
// Command line of rds-softstress: the letters of rds-stress.
#ifndef SOFTDAT_TOOLS_RDS_STRESS_OPTIONS_H_
#define SOFTDAT_TOOLS_RDS_STRESS_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/rds/stress_job.h"

namespace softdat::tools {

// How a task awaits messages.
enum class RdsWait : uint8_t {
  kPoll,   // poll, then recvmsg until there is nothing
  kBlock,  // in recvmsg
  kSpin,   // recvmsg in a loop, without sleeping
};

struct StressOptions {
  std::string send_address;  // "": the passive end
  std::string receive_address;
  uint16_t port = 4000;
  StressJob job;  // of the active end
  // What each end decides for itself.
  double seconds = 0;      // 0: until a signal
  double abort_after = 0;  // 0: not
  uint32_t connect_retries = 0;
  uint64_t outliers_usec = 0;  // 0: none is reported
  RdsWait wait = RdsWait::kPoll;
  bool report_cpu = false;
  bool summary_only = false;
  bool realtime = false;
  bool trace = false;
  bool show_params = false;
  bool histogram = false;
  bool reset = false;
  bool json = false;
  bool kernel = false;

  bool active() const { return !send_address.empty(); }
};

// As ParsePerfOptions: nothing if there is nothing left to do.
std::optional<StressOptions> ParseStressOptions(const std::vector<std::string>& arguments,
                                                int* exit_status, std::string* output);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_STRESS_OPTIONS_H_
