// SPDX-License-Identifier: BSD-3-Clause
// Numbers that nobody can foretell, for the keys of memory.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_RANDOM_NUMBERS_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_RANDOM_NUMBERS_H_

#include <cstdint>
#include <functional>

namespace softdat::softnet {

// Draws from the kernel's generator, many at a time. One caller at a time.
std::function<uint64_t()> KernelRandomNumbers();

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_RANDOM_NUMBERS_H_
