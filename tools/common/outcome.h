// SPDX-License-Identifier: BSD-3-Clause
// The result of a step of a tool: success, or a message and the exit status that fits it.
#ifndef SOFTDAT_TOOLS_COMMON_OUTCOME_H_
#define SOFTDAT_TOOLS_COMMON_OUTCOME_H_

#include <memory>
#include <string>
#include <utility>

#include "tools/common/exit_codes.h"

namespace softdat::tools {

// Success needs no allocation, so that the data path may return it.
class [[nodiscard]] Outcome {
 public:
  Outcome() = default;

  static Outcome Fail(ExitCode exit_code, std::string message) {
    Outcome outcome;
    outcome.failure_ = std::make_unique<Failure>(Failure{exit_code, std::move(message)});
    return outcome;
  }
  static Outcome Fail(std::string message) { return Fail(kExitFailed, std::move(message)); }

  bool ok() const { return failure_ == nullptr; }
  ExitCode exit_code() const { return ok() ? kExitOk : failure_->exit_code; }
  std::string message() const { return ok() ? "" : failure_->message; }  // may have several lines

 private:
  struct Failure {
    ExitCode exit_code;
    std::string message;
  };
  std::unique_ptr<Failure> failure_;
};

}  // namespace softdat::tools

// Returns from the calling function with the outcome of `expression` if that failed.
#define SOFTDAT_TRY(expression)                                                      \
  do {                                                                               \
    if (::softdat::tools::Outcome tried_outcome = (expression); !tried_outcome.ok()) \
      return tried_outcome;                                                          \
  } while (false)

#endif  // SOFTDAT_TOOLS_COMMON_OUTCOME_H_
