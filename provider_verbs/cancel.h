// SPDX-License-Identifier: BSD-3-Clause
// Thread cancellation: off while this back end works (each system call is a cancellation point and
// would leave work half done), on again only where a thread sleeps on purpose.
#ifndef SOFTDAT_PROVIDER_VERBS_CANCEL_H_
#define SOFTDAT_PROVIDER_VERBS_CANCEL_H_

#include <pthread.h>

namespace softdat::verbs {

class CancelOff {
 public:
  CancelOff() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancelOff() { pthread_setcancelstate(before_, nullptr); }
  CancelOff(const CancelOff&) = delete;
  CancelOff& operator=(const CancelOff&) = delete;

  int before() const { return before_; }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// Inside a CancelOff: the caller's own state again, around a blocking call.
class CancelRestored {
 public:
  explicit CancelRestored(const CancelOff& off) { pthread_setcancelstate(off.before(), nullptr); }
  ~CancelRestored() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr); }
  CancelRestored(const CancelRestored&) = delete;
  CancelRestored& operator=(const CancelRestored&) = delete;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_CANCEL_H_
