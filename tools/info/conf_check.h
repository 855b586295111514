// SPDX-License-Identifier: BSD-3-Clause
// dat_info --check: checks the lines of a dat.conf, and whether the libraries that they name are
// there.
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
  std::string ia_name;  // "" if the line could not be read
  std::string text;     // "PATH:LINE...: ..."
};

// Returns the reason why a library cannot serve as a provider, or "".
using LibraryProbe = std::function<std::string(const std::string& library)>;

// Loads the library, looks for the symbols that a provider must export, and unloads it.
std::string ProbeLibrary(const std::string& library);

// Returns the findings in the order of the lines. `path` is only for the messages.
std::vector<ConfFinding> CheckConf(std::string_view path, std::string_view text,
                                   const LibraryProbe& probe);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_INFO_CONF_CHECK_H_
