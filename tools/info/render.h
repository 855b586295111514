// SPDX-License-Identifier: BSD-3-Clause
// The findings about IAs as text and as JSON. Pure.
#ifndef SOFTDAT_TOOLS_INFO_RENDER_H_
#define SOFTDAT_TOOLS_INFO_RENDER_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/info/ia_list.h"

namespace softdat::tools {

struct ProbedIa {
  IaEntry entry;
  IaState state;
};

// One IA per line, with the available ones first.
std::string RenderTable(std::vector<ProbedIa> ias);

// All attributes of one IA, one per line.
std::string RenderVerbose(const ProbedIa& ia);

// "softnet-eth7 cannot be opened: ..." with its chain of reasons, or that it can be opened.
std::string RenderWhy(const ProbedIa& ia);

// Includes the attributes if `verbose`.
nlohmann::ordered_json IaJson(const ProbedIa& ia, bool verbose);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_INFO_RENDER_H_
