// SPDX-License-Identifier: BSD-3-Clause
// Command line of dat_pingpong: the letters of the ibv_*_pingpong programs.
#ifndef SOFTDAT_TOOLS_PINGPONG_OPTIONS_H_
#define SOFTDAT_TOOLS_PINGPONG_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/traffic/job.h"

namespace softdat::tools {

struct PingpongOptions {
  std::string host;  // "" for a server
  std::string ia = "softnet-lo";
  uint64_t conn_qual = 18515;  // 0 at a server: any free one
  // Unset at a server, which takes what the client asks for.
  std::optional<uint32_t> size;
  std::optional<uint64_t> iterations;
  std::optional<Operation> operation;
  uint64_t receive_depth = 500;
  uint32_t timeout_ms = 10000;  // of the connection set-up
  bool events = false;          // wait instead of poll
  bool check = false;
  bool json = false;
  bool ipv6 = false;
  bool demo_transfer = false;
  bool demo_table = false;

  bool IsServer() const { return host.empty(); }
  bool IsDemo() const { return demo_transfer || demo_table; }
  // The job that a client asks for.
  Job ToJob() const;
};

// `arguments` are without the program's name. Returns nothing if there is nothing left to do. Then
// *exit_status is the exit status, and *output the text to print: to standard output if the status
// is 0, else to standard error.
std::optional<PingpongOptions> ParsePingpongOptions(const std::vector<std::string>& arguments,
                                                    int* exit_status, std::string* output);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_PINGPONG_OPTIONS_H_
