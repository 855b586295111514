// SPDX-License-Identifier: BSD-3-Clause
// Runs the simulation of traffic by hand: any number of seeds, or one seed again.
#include "tests/sim/seeds.h"
#include "tests/sim/stream_program.h"

int main(int argc, char** argv) {
  return softdat::sim::RunSeeds(
      "sim", argc, argv, [](uint64_t seed) { return softdat::sim::StreamProgram(seed).Run(); });
}
