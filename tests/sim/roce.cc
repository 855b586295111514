// SPDX-License-Identifier: BSD-3-Clause
// The simulation of RoCEv2's traffic by hand: any number of seeds, or one again.
#include "tests/sim/roce_program.h"
#include "tests/sim/seeds.h"

int main(int argc, char** argv) {
  return softdat::sim::RunSeeds(
      "roce", argc, argv, [](uint64_t seed) { return softdat::sim::RoceProgram(seed).Run(); });
}
