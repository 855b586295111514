// SPDX-License-Identifier: BSD-3-Clause
// The random program, compiled for RoCEv2 over datagrams.
#include "tests/sim/roce_program.h"

#include "tests/sim/pair_program_bad.h"
#include "tests/sim/pair_program_check.h"
#include "tests/sim/pair_program_run.h"

namespace softdat::sim {

template class PairProgram<RoceEnginePair>;

}  // namespace softdat::sim
