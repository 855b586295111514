// SPDX-License-Identifier: BSD-3-Clause
// Prints what libdat2 and a provider add to a verbs device: user-space instructions for one RDMA
// write, posted and reaped.
#include <fmt/format.h>

#include "tests/nulldevice/step_counter.h"

int main() {
  using softdat::nulldevice::Count;
  const Count bare = softdat::nulldevice::CountInstructions({.ia = "-"});
  fmt::print("instructions for an RDMA write posted and reaped, on a device that does nothing\n");
  if (!bare.failure.empty()) {
    fmt::print(stderr, "cost: verbs: {}\n", bare.failure);
    return 1;
  }
  fmt::print("{:<40} {:8.1f}\n", "ibv_post_send and ibv_poll_cq", bare.per_operation);
  int status = 0;
  const auto report = [&](const char* what, const softdat::nulldevice::Subject& subject) {
    const Count count = softdat::nulldevice::CountInstructions(subject);
    if (count.failure.empty()) {
      fmt::print("{:<40} {:8.1f}  {:+.1f}\n", what, count.per_operation,
                 count.per_operation - bare.per_operation);
    } else {
      fmt::print("{:<40} {}\n", what, count.failure);
      status = 1;
    }
  };
  const std::string ours = softdat::nulldevice::OurLine();
  report("libdat2 and our verbs provider", {.ia = "ours", .dat_conf = ours});
  report("libdat (1.2), libdat2 and our provider", {.ia = "ours", .dat_conf = ours, .is_12 = true});
  if (softdat::nulldevice::DebianIsInstalled()) {
    report("libdat2 and Debian's libdaplofa",
           {.ia = "debian", .dat_conf = softdat::nulldevice::DebianLine()});
  } else {
    fmt::print("{:<40} not installed (package libdapl2)\n", "libdat2 and Debian's libdaplofa");
  }
  return status;
}
