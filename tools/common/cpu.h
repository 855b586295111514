// SPDX-License-Identifier: BSD-3-Clause
// On which CPUs this process runs, and how much of them it has used.
#ifndef SOFTDAT_TOOLS_COMMON_CPU_H_
#define SOFTDAT_TOOLS_COMMON_CPU_H_

#include <vector>

namespace softdat::tools {

// The CPUs that this process may use, ascending.
std::vector<int> AllowedCpus();

// Puts all threads of this process on one CPU. False if that cannot be.
bool PinProcess(int cpu);

// Processor time of all threads so far, in user space and in the kernel, in seconds.
double ProcessSeconds();

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_COMMON_CPU_H_
