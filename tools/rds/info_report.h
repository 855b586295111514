// SPDX-License-Identifier: BSD-3-Clause
// What rds-softinfo prints.
#ifndef SOFTDAT_TOOLS_RDS_INFO_REPORT_H_
#define SOFTDAT_TOOLS_RDS_INFO_REPORT_H_

#include <span>
#include <string>

#include "tools/rds/info_lists.h"

namespace softdat::tools {

struct InfoStyle {
  bool verbose = false;  // the columns that are only then shown
  bool ipv6 = false;     // addresses have more room
};

// One list with an empty line in front, in the columns of rds-info. `before`: the same list a
// moment ago, for the change of counters; nullptr without.
std::string InfoText(const InfoList& list, const InfoStyle& style,
                     const InfoList* before = nullptr);

// All lists as one object on one line.
std::string InfoJson(std::span<const InfoList> lists);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_INFO_REPORT_H_
