// SPDX-License-Identifier: BSD-3-Clause
// Rests of a poller that waits for the rest of a large payload.
//
// Each look at a socket takes its lock and its cache lines from the thread that fills it, which
// then does the receiver's part of TCP as well. Looks in a row slow it down so much that there is
// nothing to be found again at the next one: 1 MiB that was sent in one call arrived in 180 us, and
// with rests in 105.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_POLL_REST_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_POLL_REST_H_

#include <chrono>
#include <cstddef>

#include "provider_softnet/driver/loop_time.h"

namespace softdat::softnet {

class PollRest {
 public:
  // After a look in vain, when `missing` bytes of a payload were expected. Its end may be late by a
  // rest, so that there is none when little is missing.
  void OnNothing(size_t missing) {
    if (missing >= kLarge) until_ = LoopClock::now() + kLength;
  }
  // Whether to receive nothing now.
  bool Lasts() {
    if (until_ == LoopClock::time_point{}) [[likely]]
      return false;
    if (LoopClock::now() < until_) return true;
    until_ = {};
    return false;
  }

  static constexpr size_t kLarge = 20 << 10;
  static constexpr std::chrono::microseconds kLength{5};

 private:
  LoopClock::time_point until_{};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_POLL_REST_H_
