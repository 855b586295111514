// SPDX-License-Identifier: BSD-3-Clause
// Command line of dat_info.
#ifndef SOFTDAT_TOOLS_INFO_OPTIONS_H_
#define SOFTDAT_TOOLS_INFO_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace softdat::tools {

enum class InfoMode : uint8_t { kTable, kNames, kWhy, kCheck, kSettings };

struct InfoOptions {
  InfoMode mode = InfoMode::kTable;
  std::string ia;    // kTable: this one only, "" for all; kWhy: the one
  std::string file;  // kCheck
  bool verbose = false;
  bool json = false;
};

// `arguments` without the program's name. Nothing when there is nothing left to do: then
// *exit_status says how to end and *output what to print, to standard output for 0, else to
// standard error.
std::optional<InfoOptions> ParseInfoOptions(const std::vector<std::string>& arguments,
                                            int* exit_status, std::string* output);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_INFO_OPTIONS_H_
