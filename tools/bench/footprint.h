// SPDX-License-Identifier: BSD-3-Clause
// The resources that a process holds.
#ifndef SOFTDAT_TOOLS_BENCH_FOOTPRINT_H_
#define SOFTDAT_TOOLS_BENCH_FOOTPRINT_H_

#include <sys/types.h>

#include <cstdint>

#include "tools/common/outcome.h"

namespace softdat::tools {

struct Footprint {
  int64_t memory_kib = 0;  // resident and its own: heap, stacks, no files, no kernel memory
  int64_t descriptors = 0;
};

// Reads the footprint of a process into which this one may look, such as a child.
Outcome ReadFootprint(pid_t pid, Footprint* footprint);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_FOOTPRINT_H_
