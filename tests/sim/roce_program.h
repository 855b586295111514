// SPDX-License-Identifier: BSD-3-Clause
// The random program on a pair of RoCEv2 connections.
#ifndef SOFTDAT_TESTS_SIM_ROCE_PROGRAM_H_
#define SOFTDAT_TESTS_SIM_ROCE_PROGRAM_H_

#include "tests/sim/pair_program.h"
#include "tests/sim/roce_engine_pair.h"

namespace softdat::sim {

extern template class PairProgram<RoceEnginePair>;
using RoceProgram = PairProgram<RoceEnginePair>;

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_ROCE_PROGRAM_H_
