// SPDX-License-Identifier: BSD-3-Clause
// dat_pingpong --demo: every kind of transfer with the data checked, then a table of what they
// cost.
#ifndef SOFTDAT_TOOLS_PINGPONG_DEMO_H_
#define SOFTDAT_TOOLS_PINGPONG_DEMO_H_

#include "tools/common/outcome.h"
#include "tools/traffic/session.h"

namespace softdat::tools {

// Sends, writes and reads 64 KiB a hundred times, all bytes checked; one line for each.
Outcome DemoTransfers(Session* session);

// Latencies and bandwidths from 64 B to 1 MiB; under five seconds on any machine that the
// transfers take less than a few milliseconds on.
Outcome DemoTable(Session* session);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_PINGPONG_DEMO_H_
