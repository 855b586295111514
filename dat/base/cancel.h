// SPDX-License-Identifier: BSD-3-Clause
// Thread cancellation. A consumer may cancel a thread that waits in dat_evd_wait or dat_cno_wait.
// Everywhere else a cancellation point (read, write, send, nanosleep, a condition variable) would
// leave work half done: a message could be sent that its sender takes for unsent. So cancellation
// is off there, or the system call is made without the C library, and on again only where a thread
// sleeps on purpose.
#ifndef SOFTDAT_DAT_BASE_CANCEL_H_
#define SOFTDAT_DAT_BASE_CANCEL_H_

#include <pthread.h>

namespace softdat {

// No cancellation in this scope.
class CancelOff {
 public:
  CancelOff() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancelOff() { pthread_setcancelstate(before_, nullptr); }
  CancelOff(const CancelOff&) = delete;
  CancelOff& operator=(const CancelOff&) = delete;

  // The state outside the scope.
  int before() const { return before_; }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// For use inside a CancelOff: restores the caller's own state for the blocking call.
class CancelRestored {
 public:
  explicit CancelRestored(const CancelOff& off) { pthread_setcancelstate(off.before(), nullptr); }
  ~CancelRestored() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr); }
  CancelRestored(const CancelRestored&) = delete;
  CancelRestored& operator=(const CancelRestored&) = delete;
};

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_CANCEL_H_
