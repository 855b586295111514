// SPDX-License-Identifier: BSD-3-Clause
// Runs this program once more, as a child. Lines tell the child what to do, and it answers by
// lines.
#ifndef SOFTDAT_TOOLS_BENCH_CHILD_H_
#define SOFTDAT_TOOLS_BENCH_CHILD_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "tools/common/outcome.h"
#include "tools/common/unique_fd.h"

namespace softdat::tools {

// The child ends with its owner.
class Child {
 public:
  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  // `environment`: "NAME=VALUE", in addition to that of this process. Standard error stays shared.
  Outcome Start(const std::vector<std::string>& arguments,
                const std::vector<std::string>& environment);
  // Lines have no newlines. Tell() fails if the child has gone, and so does Hear().
  Outcome Tell(const std::string& line);
  Outcome Hear(std::string* line);
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  UniqueFd in_;   // its standard input
  UniqueFd out_;  // its standard output
  std::string heard_;
};

// To be called in the child. It then ends when the parent ends, however that happens.
void EndWithParent();

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_CHILD_H_
