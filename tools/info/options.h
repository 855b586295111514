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
  std::string ia;    // kTable: only this one, "" for all; kWhy: the one to explain
  std::string file;  // kCheck
  bool verbose = false;
  bool json = false;
};

// `arguments` are without the program's name. Returns nothing if there is nothing left to do. Then
// *exit_status is the exit status, and *output the text to print: to standard output if the status
// is 0, else to standard error.
std::optional<InfoOptions> ParseInfoOptions(const std::vector<std::string>& arguments,
                                            int* exit_status, std::string* output);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_INFO_OPTIONS_H_
