// SPDX-License-Identifier: BSD-3-Clause
// Runs the simulation of connecting by hand: any number of seeds, or one seed again.
#include <cinttypes>
#include <cstdio>

#include "tests/sim/connect_program.h"
#include "tests/sim/seeds.h"

int main(int argc, char** argv) {
  softdat::sim::ConnectProgram::Tally all;
  const int status = softdat::sim::RunSeeds("connect", argc, argv, [&all](uint64_t seed) {
    softdat::sim::ConnectProgram program(seed);
    std::string wrong = program.Run();
    const auto& one = program.tally();
    all.events += one.events;
    all.connects += one.connects;
    all.established += one.established;
    all.rejected += one.rejected;
    all.timed_out += one.timed_out;
    all.failed += one.failed;
    all.given_up += one.given_up;
    all.accepts += one.accepts;
    all.accept_failures += one.accept_failures;
    all.messages += one.messages;
    all.intruders += one.intruders;
    return wrong;
  });
  std::printf("%" PRIu64 " connects: %" PRIu64 " established, %" PRIu64 " failed (%" PRIu64
              " rejected, %" PRIu64 " timed out), %" PRIu64 " given up; %" PRIu64
              " accepts, %" PRIu64 " failed; %" PRIu64 " messages, %" PRIu64 " strangers, %" PRIu64
              " events\n",
              all.connects, all.established, all.failed, all.rejected, all.timed_out, all.given_up,
              all.accepts, all.accept_failures, all.messages, all.intruders, all.events);
  return status;
}
