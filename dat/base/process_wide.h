// SPDX-License-Identifier: BSD-3-Clause
// An object that each process has once, and that a forked child has anew.
#ifndef SOFTDAT_DAT_BASE_PROCESS_WIDE_H_
#define SOFTDAT_DAT_BASE_PROCESS_WIDE_H_

#include <sys/types.h>
#include <unistd.h>

#include <atomic>

#include "dat/base/fork_safe_once.h"

namespace softdat {

// T is made at the first use and never destroyed, because users of it may exist at exit. To be
// declared constinit at namespace scope.
template <typename T>
class ProcessWide {
 public:
  constexpr ProcessWide() = default;
  ProcessWide(const ProcessWide&) = delete;
  ProcessWide& operator=(const ProcessWide&) = delete;

  T& Get() {
    once_.Call([this] { own_.store(new Own, std::memory_order_release); });
    return own_.load(std::memory_order_acquire)->object;
  }

  // To be called in a forked child, where only this thread exists. The child starts with a new T. A
  // thread of the parent may have been inside the old one, so not even its state is read.
  void AbandonAfterFork() {
    const Own* inherited = own_.load(std::memory_order_acquire);
    // There is none, or another caller in this process has replaced it.
    if (inherited == nullptr || inherited->process == getpid()) return;
    auto* own = new Own;
    own->inherited = inherited;
    own_.store(own, std::memory_order_release);
  }

 private:
  struct Own {
    T object;
    const pid_t process = getpid();
    const Own* inherited = nullptr;  // the parent's; kept so that leak checkers find it
  };

  ForkSafeOnce once_;
  std::atomic<Own*> own_{nullptr};  // set by once_, and in a forked child while it has one thread
};

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_PROCESS_WIDE_H_
