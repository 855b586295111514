// SPDX-License-Identifier: BSD-3-Clause
// dat_pingpong --demo: every kind of transfer with the data checked, then a table of their costs.
#ifndef SOFTDAT_TOOLS_PINGPONG_DEMO_H_
#define SOFTDAT_TOOLS_PINGPONG_DEMO_H_

#include "tools/common/outcome.h"
#include "tools/traffic/session.h"

namespace softdat::tools {

// Sends, writes and reads 64 KiB a hundred times. Checks all bytes, and prints one line for each.
Outcome DemoTransfers(Session* session);

// Prints latencies and bandwidths from 64 B to 1 MiB. Takes under five seconds on any machine on
// which a transfer takes less than a few milliseconds.
Outcome DemoTable(Session* session);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_PINGPONG_DEMO_H_
