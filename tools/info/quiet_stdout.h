// SPDX-License-Identifier: BSD-3-Clause
// While it lives, what is written to standard output goes to standard error: libraries of other
// makes print there, and our own output must stay parseable.
#ifndef SOFTDAT_TOOLS_INFO_QUIET_STDOUT_H_
#define SOFTDAT_TOOLS_INFO_QUIET_STDOUT_H_

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace softdat::tools {

class QuietStdout {
 public:
  QuietStdout() {
    std::fflush(stdout);
    saved_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (saved_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  QuietStdout(const QuietStdout&) = delete;
  QuietStdout& operator=(const QuietStdout&) = delete;
  ~QuietStdout() {
    std::fflush(stdout);
    if (saved_ < 0) return;
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
  }

 private:
  int saved_;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_INFO_QUIET_STDOUT_H_
