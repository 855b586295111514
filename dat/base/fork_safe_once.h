// SPDX-License-Identifier: BSD-3-Clause
// First-use initialisation that a forked child can rely on. When another thread is inside the
// initialisation of a function-local static or inside std::call_once while the process forks, that
// initialisation never ends in the child. A ForkSafeOnce is never half done in the child, because
// fork waits for it. The same holds for what a ForkSafeGuard guards.
#ifndef SOFTDAT_DAT_BASE_FORK_SAFE_ONCE_H_
#define SOFTDAT_DAT_BASE_FORK_SAFE_ONCE_H_

#include <atomic>
#include <utility>

namespace softdat {

// Holds the one mutex of this library that fork waits for. Recursive. For what takes a few system
// calls; its holder must not fork, wait for another thread or take a lock that is held during calls
// of this.
class ForkSafeGuard {
 public:
  ForkSafeGuard();
  ~ForkSafeGuard();
  ForkSafeGuard(const ForkSafeGuard&) = delete;
  ForkSafeGuard& operator=(const ForkSafeGuard&) = delete;
};

// Constant-initialised, so that objects at namespace scope can use it at any time.
class ForkSafeOnce {
 public:
  constexpr ForkSafeOnce() = default;

  // Runs `initialise` at the first call and makes other threads wait for it. Later calls cost one
  // load. `initialise` may use other ForkSafeOnce objects, but it must not fork or wait for another
  // thread.
  template <typename Function>
  void Call(Function&& initialise) {
    if (done_.load(std::memory_order_acquire)) [[likely]]
      return;
    const ForkSafeGuard guard;
    if (done_.load(std::memory_order_relaxed)) return;
    std::forward<Function>(initialise)();
    done_.store(true, std::memory_order_release);
  }

 private:
  std::atomic<bool> done_{false};
};

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_FORK_SAFE_ONCE_H_
