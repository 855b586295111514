// SPDX-License-Identifier: BSD-3-Clause
// The clock of the loop, in the form in which the engines without I/O count time.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_LOOP_TIME_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_LOOP_TIME_H_

#include <chrono>
#include <cstdint>

#include "provider_softnet/driver/event_loop.h"

namespace softdat::softnet {

inline std::chrono::microseconds LoopTime() {
  return std::chrono::duration_cast<std::chrono::microseconds>(LoopClock::now().time_since_epoch());
}

inline uint64_t LoopTimeUs() { return static_cast<uint64_t>(LoopTime().count()); }

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_LOOP_TIME_H_
