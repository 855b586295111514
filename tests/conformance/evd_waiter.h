// SPDX-License-Identifier: BSD-3-Clause
// A thread inside dat_evd_wait.
#ifndef SOFTDAT_TESTS_CONFORMANCE_EVD_WAITER_H_
#define SOFTDAT_TESTS_CONFORMANCE_EVD_WAITER_H_

#include <chrono>
#include <thread>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {

// Waits on an EVD that holds nothing yet. When the constructor returns, the thread is inside the
// call.
class EvdWaiter {
 public:
  explicit EvdWaiter(DAT_EVD_HANDLE evd, DAT_COUNT threshold = 1) : evd_(evd) {
    thread_ = std::thread(
        [this, threshold] { ret = dat_evd_wait(evd_, kPatienceUs, threshold, &event, &nmore); });
    using Clock = std::chrono::steady_clock;
    const Clock::time_point deadline = Clock::now() + std::chrono::microseconds(kPatienceUs);
    while (!waits()) {
      if (Clock::now() > deadline) {
        ADD_FAILURE() << "the thread did not come to wait";
        break;
      }
      std::this_thread::yield();
    }
  }
  ~EvdWaiter() { Join(); }
  EvdWaiter(const EvdWaiter&) = delete;
  EvdWaiter& operator=(const EvdWaiter&) = delete;

  // A dequeue is refused while a thread waits, so this shows whether one does.
  bool waits() const {
    DAT_EVENT unused{};
    return DAT_GET_TYPE(dat_evd_dequeue(evd_, &unused)) == DAT_INVALID_STATE;
  }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }

  // Valid after Join.
  DAT_RETURN ret = DAT_SUCCESS;
  DAT_EVENT event{};
  DAT_COUNT nmore = -1;

 private:
  const DAT_EVD_HANDLE evd_;
  std::thread thread_;
};

}  // namespace softdat::conformance

#endif  // SOFTDAT_TESTS_CONFORMANCE_EVD_WAITER_H_
