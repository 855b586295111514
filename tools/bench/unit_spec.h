// SPDX-License-Identifier: BSD-3-Clause
// The names of the units that are compared: "softnet-lo", "softnet-lo@1000" (with this number of
// end points), "softnet-lo@4threads" (each end has four threads, with end points and EVDs of their
// own on one IA), "softnet-lo@4ias" (each thread has an IA of its own),
// "softnet-lo,SOFTDAT_CRC=on", "raw:tcp-poll", "rds:softnet-lo". Pure.
#ifndef SOFTDAT_TOOLS_BENCH_UNIT_SPEC_H_
#define SOFTDAT_TOOLS_BENCH_UNIT_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/raw/job.h"

namespace softdat::tools {

inline constexpr uint32_t kMaxConnections = 4096;
inline constexpr uint32_t kMaxThreads = 64;

struct UnitSpec {
  std::string text;                      // as it was given
  std::string ia;                        // "" for a floor and for RDS
  RawKind raw = RawKind::kTcpPoll;       // of these
  std::optional<uint32_t> connections;   // of an IA, if the name gives it
  uint32_t threads = 1;                  // of each end
  bool ia_for_each = false;              // each thread opens the IA for itself
  std::vector<std::string> environment;  // "NAME=VALUE", for the processes of this unit

  bool IsRaw() const { return ia.empty(); }
};

// Returns nothing for text that is not such a name, and the reason in *problem.
std::optional<UnitSpec> ParseUnitSpec(std::string_view text, std::string* problem);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_UNIT_SPEC_H_
