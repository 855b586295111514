// SPDX-License-Identifier: BSD-3-Clause
// Event dispatchers, the object that wakes for several of them, and waiting for one event.
#ifndef SOFTDAT_DAT_CLIENT_EVENTS_H_
#define SOFTDAT_DAT_CLIENT_EVENTS_H_

#include "dat/client/ia.h"
#include "dat/client/owned.h"
#include "dat/client/result.h"
#include "dat2/udat.h"

namespace softdat::client {

// A consumer notification object. It must be freed after its EVDs.
class Cno : public Owned<dat_cno_free, "dat_cno_free"> {
 public:
  // Same as dat_cno_create. `agent`: called once, by the next trigger. (semantics 6)
  Result Create(const Ia& ia, DAT_OS_WAIT_PROXY_AGENT agent = DAT_OS_WAIT_PROXY_AGENT_NULL) {
    return Make("dat_cno_create", ia.life(),
                [&](DAT_CNO_HANDLE* handle) { return dat_cno_create(ia, agent, handle); });
  }
  // Same as dat_cno_fd_create. `fd` becomes readable when the CNO is triggered. It belongs to the
  // CNO.
  Result CreateFd(const Ia& ia, DAT_FD* fd) {
    return Make("dat_cno_fd_create", ia.life(),
                [&](DAT_CNO_HANDLE* handle) { return dat_cno_fd_create(ia, fd, handle); });
  }
};

// An event dispatcher. It must be freed after the EPs, service points and SRQs that use it.
class Evd : public Owned<dat_evd_free, "dat_evd_free"> {
 public:
  // Same as dat_evd_create. `flags`: DAT_EVD_*_FLAG, or-ed. `qlen`: how many events it holds at
  // least. Its events trigger `cno`. (semantics 5.1)
  Result Create(const Ia& ia, int flags, DAT_COUNT qlen, DAT_CNO_HANDLE cno = DAT_HANDLE_NULL) {
    return Make("dat_evd_create", ia.life(), [&](DAT_EVD_HANDLE* handle) {
      return dat_evd_create(ia, qlen, cno, static_cast<DAT_EVD_FLAGS>(flags), handle);
    });
  }
};

// Waits for one event: one call of dat_evd_wait with a threshold of 1. `timeout_us`: microseconds,
// or DAT_TIMEOUT_INFINITE. Fails like that call: DAT_TIMEOUT_EXPIRED, DAT_INTERRUPTED_CALL after a
// signal, DAT_ABORT when the IA is closed. (semantics 5.3)
inline Result WaitEvent(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout_us, DAT_EVENT* event) {
  DAT_COUNT more = 0;
  return {"dat_evd_wait", dat_evd_wait(evd, timeout_us, 1, event, &more)};
}

// Waits without a limit, and goes on waiting after a signal.
inline Result WaitEvent(DAT_EVD_HANDLE evd, DAT_EVENT* event) {
  while (true) {
    const Result result = WaitEvent(evd, DAT_TIMEOUT_INFINITE, event);
    if (result.type() != DAT_INTERRUPTED_CALL) return result;
  }
}

}  // namespace softdat::client

#endif  // SOFTDAT_DAT_CLIENT_EVENTS_H_
