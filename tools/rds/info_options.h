// SPDX-License-Identifier: BSD-3-Clause
// Command line of rds-softinfo: the letters of rds-info.
#ifndef SOFTDAT_TOOLS_RDS_INFO_OPTIONS_H_
#define SOFTDAT_TOOLS_RDS_INFO_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace softdat::tools {

struct RdsInfoOptions {
  std::string letters;   // of the lists, in the order in which they are shown; "": all there are
  int64_t watch_us = 0;  // from one look to the next; 0: one look
  uint64_t count = 0;    // looks with `watch_us`; 0: until a signal
  bool verbose = false;
  bool ipv6 = false;
  bool json = false;
  bool kernel = false;
};

// As ParsePerfOptions: nothing if there is nothing left to do.
std::optional<RdsInfoOptions> ParseRdsInfoOptions(const std::vector<std::string>& arguments,
                                                  int* exit_status, std::string* output);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_INFO_OPTIONS_H_
