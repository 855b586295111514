// SPDX-License-Identifier: BSD-3-Clause
// The lock of a queue pair, for a thread that does something for it in passing: pays what is owed
// (Channel::PayOwed), writes what has gathered, reads what has come.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_PATIENT_LOCK_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_PATIENT_LOCK_H_

#include <time.h>

#include <chrono>
#include <mutex>

#include "provider_softnet/driver/channel.h"

namespace softdat::softnet {

// With kTry it gives up after 200 ms: the process exits, and whoever holds the lock may be at its
// own last payment, or wait for a processor on a busy machine, or never let go of it. With kLeave
// and kRide it gives up at once. Returns whether `lock` is held.
template <typename AnyMutex>
bool LockPatiently(std::unique_lock<AnyMutex>* lock, Channel::Patience patience) {
  if (patience == Channel::Patience::kWait) {
    lock->lock();
    return true;
  }
  if (patience != Channel::Patience::kTry) return lock->try_lock();
  constexpr std::chrono::milliseconds kLongest{200};
  constexpr timespec kLook{.tv_sec = 0, .tv_nsec = 100'000};
  const auto until = std::chrono::steady_clock::now() + kLongest;
  while (!lock->try_lock()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    nanosleep(&kLook, nullptr);
  }
  return true;
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_PATIENT_LOCK_H_
