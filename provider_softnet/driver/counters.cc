// SPDX-License-Identifier: BSD-3-Clause
// The counters as one line of text.
#include "provider_softnet/driver/counters.h"

#include <fmt/format.h>

namespace softdat::softnet {

std::string DriverCounters::Text() const {
  return fmt::format(
      "turns {} uv_runs {} waits {} (interrupted {}) parked {} handed over {} kicks {} helper: "
      "ticks {} "
      "wake-ups {} drives {} flushes {}; sockets opened {} closed {}",
      loop_turns.value(), uv_runs.value(), blocking_waits.value(), interruptions.value(),
      parked_waits.value(), hand_overs.value(), kicks.value(), helper_ticks.value(),
      helper_wakeups.value(), helper_drives.value(), helper_flushes.value(), sockets_opened.value(),
      sockets_closed.value());
}

}  // namespace softdat::softnet
