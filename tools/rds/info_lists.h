// SPDX-License-Identifier: BSD-3-Clause
// The lists of RDS_INFO_*, as tables of numbers and texts: what is asked, and what an item means.
#ifndef SOFTDAT_TOOLS_RDS_INFO_LISTS_H_
#define SOFTDAT_TOOLS_RDS_INFO_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tools/common/outcome.h"
#include "tools/rds/calls.h"

namespace softdat::tools {

using InfoCell = std::variant<uint64_t, std::string>;
using InfoRow = std::vector<InfoCell>;

struct InfoColumn {
  const char* title;
  const char* key;  // of JSON
  int width;        // in characters; IPv6 addresses need more
  bool verbose = false;
};

// One list.
struct InfoListKind {
  char letter;  // as rds-info has it
  const char* title;
  const char* key;      // of JSON
  const char* about;    // for --help
  int option, option6;  // RDS_INFO_*, RDS6_INFO_*; the latter 0 if there is none
  std::vector<InfoColumn> columns;
  // The sizes of an item, and what it says. The item has that size.
  size_t size, size6;
  InfoRow (*parse)(const uint8_t* item);
  InfoRow (*parse6)(const uint8_t* item);
};

// All of them, in the order in which they are shown.
std::span<const InfoListKind> InfoListKinds();

struct InfoList {
  const InfoListKind* kind = nullptr;
  std::vector<InfoRow> rows;
};

// Asks for a list. `fd`: any RDS socket. *missing: this RDS has no such list, and then it succeeds.
Outcome AskInfoList(const RdsCalls& calls, int fd, const InfoListKind& kind, bool ipv6,
                    InfoList* list, bool* missing);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_INFO_LISTS_H_
