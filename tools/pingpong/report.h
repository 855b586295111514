// SPDX-License-Identifier: BSD-3-Clause
// Results as text and as JSON. Pure.
#ifndef SOFTDAT_TOOLS_PINGPONG_REPORT_H_
#define SOFTDAT_TOOLS_PINGPONG_REPORT_H_

#include <string>

#include "tools/traffic/job.h"

namespace softdat::tools {

// The two lines of ibv_rc_pingpong:
//   8192000 bytes in 0.01 seconds = 6553.60 Mbit/sec
//   1000 iters in 0.01 seconds = 10.00 usec/iter
std::string ResultLines(const Job& job, const JobResult& result);

// One JSON object on one line.
std::string ResultJson(const std::string& ia, bool is_server, const Job& job,
                       const JobResult& result);

// The line by which a server announces itself.
std::string ReadyLine(const std::string& ia, uint64_t conn_qual);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_PINGPONG_REPORT_H_
