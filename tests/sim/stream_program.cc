// SPDX-License-Identifier: BSD-3-Clause
// The random program, compiled for iWARP over a byte stream.
#include "tests/sim/stream_program.h"

#include "tests/sim/pair_program_bad.h"
#include "tests/sim/pair_program_check.h"
#include "tests/sim/pair_program_run.h"

namespace softdat::sim {

template class PairProgram<StreamEnginePair>;

}  // namespace softdat::sim
