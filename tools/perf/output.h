// SPDX-License-Identifier: BSD-3-Clause
// The destinations of results and progress.
#ifndef SOFTDAT_TOOLS_PERF_OUTPUT_H_
#define SOFTDAT_TOOLS_PERF_OUTPUT_H_

#include <string>

#include "tools/common/outcome.h"

namespace softdat::tools {

void Print(const std::string& text);
Outcome WriteFile(const std::string& path, const std::string& text);

// One line on standard error that is overwritten each time. Prints nothing if that is no terminal.
class Progress {
 public:
  ~Progress() { Clear(); }
  void Show(const std::string& text);
  void Clear();

 private:
  bool shown_ = false;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_PERF_OUTPUT_H_
