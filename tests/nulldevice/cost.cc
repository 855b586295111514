// SPDX-License-Identifier: BSD-3-Clause
// Prints what libdat2 and a provider add to a verbs device: user-space instructions for one RDMA
// write, posted and reaped. It does so for our provider and for OFA's, each behind our libdat2 and
// behind Debian's.
#include <fmt/format.h>

#include "tests/nulldevice/step_counter.h"

int main() {
  using softdat::nulldevice::Count;
  using softdat::nulldevice::Subject;
  const Count bare = softdat::nulldevice::CountInstructions({.ia = "-"});
  if (!bare.failure.empty()) {
    fmt::print(stderr, "cost: verbs: {}\n", bare.failure);
    return 1;
  }
  fmt::print("instructions for an RDMA write posted and reaped, on a device that does nothing\n");
  fmt::print("{:<44} {:>8} {:>8} {:>12}\n", "", "total", "added", "by libdat2");
  fmt::print("{:<44} {:8.1f}\n", "ibv_post_send and ibv_poll_cq", bare.per_operation);
  int status = 0;
  const auto report = [&](const char* what, const Subject& subject) {
    const Count count = softdat::nulldevice::CountInstructions(subject);
    if (count.failure.empty()) {
      fmt::print("{:<44} {:8.1f} {:+8.1f} {:12.1f}\n", what, count.per_operation,
                 count.per_operation - bare.per_operation, count.in_libdat2);
    } else {
      fmt::print("{:<44} {}\n", what, count.failure);
      status = 1;
    }
  };
  const std::string ours = softdat::nulldevice::OurLine();
  const std::string ofa = softdat::nulldevice::OfaLine();
  report("our provider, our libdat2", {.ia = "ours", .dat_conf = ours});
  report("our provider, Debian's libdat2",
         {.ia = "ours", .dat_conf = ours, .debian_libdat2 = true});
  report("OFA's provider, our libdat2", {.ia = "ofa", .dat_conf = ofa});
  report("OFA's provider, Debian's libdat2",
         {.ia = "ofa", .dat_conf = ofa, .debian_libdat2 = true});
  report("our provider, our libdat2, our libdat (1.2)",
         {.ia = "ours", .dat_conf = ours, .is_12 = true});
  return status;
}
