// SPDX-License-Identifier: BSD-3-Clause
// The simulation of RDS by hand: any number of seeds, or one again.
#include "tests/sim/rds_program.h"
#include "tests/sim/seeds.h"

int main(int argc, char** argv) {
  return softdat::sim::RunSeeds("rds", argc, argv,
                                [](uint64_t seed) { return softdat::sim::RdsProgram(seed).Run(); });
}
