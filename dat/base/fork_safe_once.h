// SPDX-License-Identifier: BSD-3-Clause
// First-use initialisation that a forked child can rely on. A function-local static or
// std::call_once that another thread is just running when the process forks never ends in the
// child; this one is never half done there, because fork waits for it.
#ifndef SOFTDAT_DAT_BASE_FORK_SAFE_ONCE_H_
#define SOFTDAT_DAT_BASE_FORK_SAFE_ONCE_H_

#include <atomic>
#include <utility>

namespace softdat {

// Constant-initialised: for objects at namespace scope.
class ForkSafeOnce {
 public:
  constexpr ForkSafeOnce() = default;

  // Runs `initialise` at the first call and makes other threads wait for it; later calls cost one
  // load. It may use other ForkSafeOnce objects, and must not fork or wait for another thread.
  template <typename Function>
  void Call(Function&& initialise) {
    if (done_.load(std::memory_order_acquire)) [[likely]]
      return;
    const Guard guard;
    if (done_.load(std::memory_order_relaxed)) return;
    std::forward<Function>(initialise)();
    done_.store(true, std::memory_order_release);
  }

 private:
  // Holds the one mutex of all ForkSafeOnce objects; recursive.
  struct Guard {
    Guard();
    ~Guard();
  };

  std::atomic<bool> done_{false};
};

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_FORK_SAFE_ONCE_H_
