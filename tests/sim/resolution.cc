// SPDX-License-Identifier: BSD-3-Clause
// The simulation of service resolution by hand: any number of seeds, or one again.
#include "tests/sim/resolution_program.h"
#include "tests/sim/seeds.h"

int main(int argc, char** argv) {
  return softdat::sim::RunSeeds("resolution", argc, argv, [](uint64_t seed) {
    return softdat::sim::ResolutionProgram(seed).Run();
  });
}
