// SPDX-License-Identifier: BSD-3-Clause
// Command line of rds-softping: the letters of rds-ping.
#ifndef SOFTDAT_TOOLS_RDS_PING_OPTIONS_H_
#define SOFTDAT_TOOLS_RDS_PING_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace softdat::tools {

struct PingOptions {
  std::string host;
  std::string source;                // "": the address from which the host is reached
  uint64_t count = 0;                // 0: until a signal
  int64_t interval_us = 1000000;     // from one ping to the next
  std::optional<int64_t> linger_us;  // for answers after the last ping
  uint32_t tos = 0;
  bool json = false;
  bool kernel = false;
  bool ipv6 = false;

  int64_t LingerUs() const;
};

// Seconds with a fraction ("0.2"), or a number followed by s, ms, msec, us or usec. Rounded to
// microseconds.
std::optional<int64_t> ParseInterval(std::string_view text);

// As ParsePerfOptions: nothing if there is nothing left to do.
std::optional<PingOptions> ParsePingOptions(const std::vector<std::string>& arguments,
                                            int* exit_status, std::string* output);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_PING_OPTIONS_H_
