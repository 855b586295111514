// SPDX-License-Identifier: BSD-3-Clause
// The connections of an adapter that have a last word for their peers when the process exits
// without closing them (iwarp/parting_word.h).
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_LEAVERS_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_LEAVERS_H_

#include <chrono>
#include <mutex>

#include "provider_softnet/connection/member_list.h"
#include "provider_softnet/driver/event_loop.h"

namespace softdat::softnet {

class Leaver : public Member<Leaver> {
 protected:
  virtual ~Leaver() = default;

 private:
  friend class Leavers;
  // Any thread. Waits for no lock for long, for room not longer than until `deadline`, and adds and
  // removes no leaver.
  virtual void Leave(LoopClock::time_point deadline) = 0;
};

class Leavers {
 public:
  // All that leave together wait no longer.
  static constexpr std::chrono::milliseconds kLongest{500};

  // Both do nothing if that is so already.
  void Add(Leaver* leaver) {
    const std::lock_guard<std::mutex> lock(mutex_);
    list_.Add(leaver);
  }
  void Remove(Leaver* leaver) {
    const std::lock_guard<std::mutex> lock(mutex_);
    list_.Remove(leaver);
  }
  // The process exits. A thread that was in Add() or Remove() may never go on, so it is not waited
  // for.
  void LeaveAll(LoopClock::time_point deadline = LoopClock::now() + kLongest) {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    list_.ForEach([deadline](Leaver* leaver) { leaver->Leave(deadline); });
  }

 private:
  std::mutex mutex_;  // guards list_ and the links of its members
  MemberList<Leaver> list_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_LEAVERS_H_
