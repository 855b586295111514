// SPDX-License-Identifier: BSD-3-Clause
// The simulation of communication management by hand: any number of seeds, or one again.
#include "tests/sim/cm_program.h"
#include "tests/sim/seeds.h"

int main(int argc, char** argv) {
  return softdat::sim::RunSeeds("cm", argc, argv,
                                [](uint64_t seed) { return softdat::sim::CmProgram(seed).Run(); });
}
