// SPDX-License-Identifier: BSD-3-Clause
// The random program on a pair of iWARP streams.
#ifndef SOFTDAT_TESTS_SIM_STREAM_PROGRAM_H_
#define SOFTDAT_TESTS_SIM_STREAM_PROGRAM_H_

#include "tests/sim/pair_program.h"
#include "tests/sim/stream_engine_pair.h"

namespace softdat::sim {

extern template class PairProgram<StreamEnginePair>;
using StreamProgram = PairProgram<StreamEnginePair>;

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_STREAM_PROGRAM_H_
