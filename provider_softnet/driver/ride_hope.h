// SPDX-License-Identifier: BSD-3-Clause
// Whether the helper leaves what a stream owes to the program's next send. While the helper moves
// the data, the program makes no call that tells of its next one. But a program that looks at
// memory alone and answers each message sends within some microseconds. To pay before that takes a
// system call, and the peer's helper is woken twice in a row. The second time the kernel may let it
// wait for its next tick, because it has run just now.
//
// A program that has sent nothing since the last debt is not waited for. When one was waited for in
// vain, the next debts are paid at once: one, then two, four, and so on. Pure; guarded by the queue
// pair's lock.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_RIDE_HOPE_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_RIDE_HOPE_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace softdat::softnet {

class RideHope {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // To be called by who comes back soon, as often as it likes. `owes`: something is owed. `posted`:
  // the requests that the program has posted so far. Returns true if the debt should be left; at
  // most for about `ride`.
  bool Leave(bool owes, uint64_t posted, Time now, Time::duration ride) {
    if (hoping_ && (!owes || posted != posted_before_)) {
      hoping_ = false;  // it rode, or is about to; what is owed now is probably another debt
      next_penance_ = 1;
    }
    if (!owes) return false;
    if (hoping_) {
      if (now < until_) return true;
      hoping_ = false;
      paid_at_once_ = next_penance_;
      next_penance_ = std::min(next_penance_ * 2, kLongestPenance);
      return false;
    }
    if (posted == posted_before_) return false;
    posted_before_ = posted;
    hoping_ = paid_at_once_ == 0;
    if (!hoping_) --paid_at_once_;
    until_ = now + ride;
    return hoping_;
  }

  // To be called when somebody pays at once what is owed.
  void Forget(uint64_t posted) {
    hoping_ = false;
    posted_before_ = posted;
  }

 private:
  static constexpr uint32_t kLongestPenance = 64;

  uint64_t posted_before_ = 0;  // when something was last owed
  Time until_{};                // while hoping_
  uint32_t paid_at_once_ = 0;   // debts yet to be paid at once
  uint32_t next_penance_ = 1;
  bool hoping_ = false;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_RIDE_HOPE_H_
