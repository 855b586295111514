// SPDX-License-Identifier: BSD-3-Clause
// This program once more, as a child that is told by lines what to do and answers by lines.
#ifndef SOFTDAT_TOOLS_BENCH_CHILD_H_
#define SOFTDAT_TOOLS_BENCH_CHILD_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "tools/common/outcome.h"
#include "tools/common/unique_fd.h"

namespace softdat::tools {

// Ends with its owner.
class Child {
 public:
  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  // `environment`: "NAME=VALUE", in addition to ours. Standard error stays ours.
  Outcome Start(const std::vector<std::string>& arguments,
                const std::vector<std::string>& environment);
  // Without newlines. Tell() of a child that has gone is a failure, so is Hear().
  Outcome Tell(const std::string& line);
  Outcome Hear(std::string* line);
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  UniqueFd in_;   // its standard input
  UniqueFd out_;  // its standard output
  std::string heard_;
};

// In the child: ends when the parent does, however that happens.
void EndWithParent();

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_CHILD_H_
