// SPDX-License-Identifier: BSD-3-Clause
// The command line of a simulation: any number of seeds, or one seed again.
#ifndef SOFTDAT_TESTS_SIM_SEEDS_H_
#define SOFTDAT_TESTS_SIM_SEEDS_H_

#include <cstdint>
#include <functional>
#include <string>

namespace softdat::sim {

// `run` returns what is wrong, or an empty text. Returns the exit status of the program `name`: 0
// if all invariants held, 1 if one did not (the seed is printed), 2 for bad arguments.
int RunSeeds(const char* name, int argc, char** argv,
             const std::function<std::string(uint64_t seed)>& run);

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_SEEDS_H_
