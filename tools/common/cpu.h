// SPDX-License-Identifier: BSD-3-Clause
// The CPUs on which this process runs, and the time that it has used of them.
#ifndef SOFTDAT_TOOLS_COMMON_CPU_H_
#define SOFTDAT_TOOLS_COMMON_CPU_H_

#include <vector>

namespace softdat::tools {

// The CPUs that this process may use, ascending.
std::vector<int> AllowedCpus();

// Puts all threads of this process on one CPU. Returns false if that is not possible.
bool PinProcess(int cpu);

// The processor time of all threads so far, in user space and in the kernel, in seconds.
double ProcessSeconds();

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_COMMON_CPU_H_
