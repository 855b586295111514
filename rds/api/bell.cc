// SPDX-License-Identifier: BSD-3-Clause
#include "rds/api/bell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace softdat::rds {
namespace {

timespec SpanOf(Time time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {seconds.count(), (time - seconds).count()};
}

}  // namespace

bool Bell::Wait(std::unique_lock<std::mutex>& lock, std::optional<Time> left) {
  timespec span{};
  if (left) span = SpanOf(std::max(*left, Time{}));
  ++waiting_;
  const uint32_t seen = rings_.load();
  lock.unlock();
  const bool interrupted = syscall(SYS_futex, &rings_, FUTEX_WAIT_PRIVATE, seen,
                                   left ? &span : nullptr, nullptr, 0) != 0 &&
                           errno == EINTR;
  lock.lock();
  --waiting_;
  return interrupted;
}

void Bell::Ring() {
  if (waiting_ == 0) return;
  rings_.fetch_add(1);
  syscall(SYS_futex, &rings_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace softdat::rds
