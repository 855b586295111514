// SPDX-License-Identifier: BSD-3-Clause
// dat_info --check: the lines of a dat.conf, and whether what they name is there.
#ifndef SOFTDAT_TOOLS_INFO_CONF_CHECK_H_
#define SOFTDAT_TOOLS_INFO_CONF_CHECK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace softdat::tools {

struct ConfFinding {
  enum class Kind : uint8_t {
    kGood,     // the line is right and its library loads
    kNote,     // right, but no program that uses this libdat2 will see it
    kProblem,  // anything else
  };
  Kind kind = Kind::kGood;
  int line = 0;
  std::string ia_name;  // "" when the line could not be read
  std::string text;     // "PATH:LINE...: ..."
};

// Why a library cannot serve as a provider; "" if it can.
using LibraryProbe = std::function<std::string(const std::string& library)>;

// Loads it, looks for what a provider must export, and unloads it.
std::string ProbeLibrary(const std::string& library);

// In the order of the lines. `path` is for the messages only.
std::vector<ConfFinding> CheckConf(std::string_view path, std::string_view text,
                                   const LibraryProbe& probe);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_INFO_CONF_CHECK_H_
