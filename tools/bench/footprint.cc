// SPDX-License-Identifier: BSD-3-Clause
// The resources that a process holds, according to /proc.
#include "tools/bench/footprint.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace softdat::tools {

Outcome ReadFootprint(pid_t pid, Footprint* footprint) {
  *footprint = {};
  const std::string folder = fmt::format("/proc/{}", pid);
  std::ifstream status(folder + "/status");
  bool found = false;
  for (std::string name; status >> name;) {
    if (name == "RssAnon:") found = static_cast<bool>(status >> footprint->memory_kib);
    status.ignore(4096, '\n');
  }
  std::error_code error;
  const std::filesystem::directory_iterator descriptors(folder + "/fd", error);
  if (!found || error)
    return Outcome::Fail(fmt::format("{}: cannot tell what the process holds", folder));
  footprint->descriptors = std::distance(begin(descriptors), end(descriptors));
  return {};
}

}  // namespace softdat::tools
