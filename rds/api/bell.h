// SPDX-License-Identifier: BSD-3-Clause
// For calls that wait until anything has changed: as a condition variable, but a signal ends a
// wait.
#ifndef SOFTDAT_RDS_API_BELL_H_
#define SOFTDAT_RDS_API_BELL_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "rds/socket/time.h"

namespace softdat::rds {

// Both calls expect the lock of the library to be held.
class Bell {
 public:
  // Lets go of `lock` until Ring(), until so much time is over, or until a signal was handled.
  // Returns whether it was a signal.
  bool Wait(std::unique_lock<std::mutex>& lock, std::optional<Time> left);
  void Ring();

 private:
  // Changed with the lock held, so that none is missed by who has read it and sleeps without.
  std::atomic<uint32_t> rings_{0};
  int waiting_ = 0;  // under the lock
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_API_BELL_H_
