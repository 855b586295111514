// SPDX-License-Identifier: BSD-3-Clause
// FastMutex: what happens when two threads meet.
#include "dat/base/fast_mutex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace softdat {

namespace {

// As in Mutex: about a microsecond, less than a sleep and a wake-up take.
constexpr int kLooks = 32;

// A wake-up is missed if the store that frees the mutex stays in the holder's processor while this
// one goes through the kernel. That takes an unlikely delay, so this may be long beside a wake-up.
constexpr timespec kLongestSleep = {.tv_sec = 0, .tv_nsec = 500'000};

}  // namespace

// A thread that is about to sleep says so before each try, also behind a sleep, because it cannot
// know whether others still sleep. The kernel puts it to sleep only if the mutex is still taken.
//
// This never yields. Mutex says why.
void FastMutex::LockContended() {
  for (int i = 0; i < kLooks; ++i) {
    if (taken_.load(std::memory_order_relaxed) == 0 && try_lock()) return;
    __builtin_ia32_pause();
  }
  const int error = errno;
  while (true) {
    asleep_.store(true, std::memory_order_seq_cst);
    if (try_lock()) break;
    syscall(SYS_futex, &taken_, FUTEX_WAIT_PRIVATE, 1, &kLongestSleep, nullptr, 0);
  }
  errno = error;
}

void FastMutex::WakeOne() {
  if (!asleep_.exchange(false, std::memory_order_acq_rel)) return;
  const int error = errno;
  syscall(SYS_futex, &taken_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  errno = error;
}

}  // namespace softdat
