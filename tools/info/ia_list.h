// SPDX-License-Identifier: BSD-3-Clause
// The IAs that libdat2 knows, where each comes from, and its attributes when it is opened.
#ifndef SOFTDAT_TOOLS_INFO_IA_LIST_H_
#define SOFTDAT_TOOLS_INFO_IA_LIST_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/common/outcome.h"

namespace softdat::tools {

struct IaEntry {
  std::string name;
  std::string api_version;  // "2.0"
  bool thread_safe = false;
  std::string library;  // "" if unknown
  std::string from;     // "/etc/dat.conf:12", "found", "registered"
};

// Lists names and origins. Opens nothing, but may load provider libraries to ask them.
Outcome ListIas(std::vector<IaEntry>* entries);

// The result of opening an IA.
struct IaState {
  bool ok = false;
  std::string error;                 // names of the return word
  std::vector<std::string> reasons;  // outermost first
  std::string address;
  nlohmann::ordered_json ia;        // all attributes
  nlohmann::ordered_json provider;  // all of the provider's
};

// Opens, queries and closes the IA. Meanwhile the output of libraries to standard output goes to
// standard error, or nowhere if it is one of many IAs.
IaState ProbeIa(const std::string& name, bool one_of_many);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_INFO_IA_LIST_H_
