// SPDX-License-Identifier: BSD-3-Clause
// While this object lives, standard output goes to standard error, or nowhere. Libraries of other
// makes print there, and our own output must stay parseable.
#ifndef SOFTDAT_TOOLS_INFO_QUIET_STDOUT_H_
#define SOFTDAT_TOOLS_INFO_QUIET_STDOUT_H_

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

namespace softdat::tools {

class QuietStdout {
 public:
  enum class Fate : uint8_t { kToStderr, kDropped };

  explicit QuietStdout(Fate fate = Fate::kToStderr) {
    std::fflush(stdout);
    saved_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (saved_ < 0) return;
    const int null = fate == Fate::kDropped ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    dup2(null >= 0 ? null : STDERR_FILENO, STDOUT_FILENO);
    if (null >= 0) close(null);
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
