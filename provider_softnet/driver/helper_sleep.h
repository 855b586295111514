// SPDX-License-Identifier: BSD-3-Clause
// How the driver's helper thread sleeps when it is not in the loop, and how callers wake it.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_HELPER_SLEEP_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_HELPER_SLEEP_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "provider_softnet/driver/channel.h"
#include "provider_softnet/driver/driver_token.h"

namespace softdat::softnet {

class HelperSleep {
 public:
  // kAwake: between two sleeps, where it looks around. kDriving: in the loop.
  enum class Kind : uint8_t { kAwake, kShortTick, kTick, kDeep, kDriving };

  // All pointers outlive the object. `announced`: the content of `deferred` relies on a helper that
  // was told.
  HelperSleep(DriverToken* token, const ChannelStack* deferred, const std::atomic<bool>* announced,
              const ChannelStack* owing)
      : token_(token), deferred_(deferred), announced_(announced), owing_(owing) {}
  HelperSleep(const HelperSleep&) = delete;
  HelperSleep& operator=(const HelperSleep&) = delete;

  // The helper only. Sleeps until it is woken, at most for `tick`. kDeep has no limit as long as a
  // waiting thread drives, and is a kTick otherwise.
  void Sleep(Kind kind, std::chrono::microseconds tick);

  // The helper only, around its time in the loop. Callers get it out of the loop by other means.
  void BeginDrive();
  void EndDrive();

  // Any thread. Ends the sleep, or the next one as soon as it begins.
  void Wake();

  // What the helper does now. Whoever defers a send or owes something asks afterwards. Every
  // waiting thread asks after it has returned the token, and wakes a kDeep (see Sleep()).
  Kind kind() const { return kind_.load(std::memory_order_seq_cst); }

 private:
  DriverToken* const token_;
  const ChannelStack* const deferred_;
  const std::atomic<bool>* const announced_;
  const ChannelStack* const owing_;
  // Guards woken_ and changes of kind_. It is locked before the token's mutex, never under it.
  std::mutex mutex_;
  std::condition_variable wake_;
  bool woken_ = false;
  std::atomic<Kind> kind_{Kind::kAwake};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_HELPER_SLEEP_H_
