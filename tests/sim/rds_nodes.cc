// SPDX-License-Identifier: BSD-3-Clause
// The simulation of RDS nodes by hand: any number of seeds, or one again.
#include "tests/sim/rds_nodes_program.h"
#include "tests/sim/seeds.h"

int main(int argc, char** argv) {
  return softdat::sim::RunSeeds("rds_nodes", argc, argv, [](uint64_t seed) {
    return softdat::sim::RdsNodesProgram(seed).Run();
  });
}
