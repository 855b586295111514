// SPDX-License-Identifier: BSD-3-Clause
// The connections of an adapter that have a last word for their peers when the process exits
// without closing them (iwarp/parting_word.h).
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_LEAVERS_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_LEAVERS_H_

#include <chrono>
#include <mutex>
#include <thread>

#include "provider_softnet/connection/member_list.h"
#include "provider_softnet/driver/channel.h"
#include "provider_softnet/driver/event_loop.h"
#include "provider_softnet/driver/patient_lock.h"

namespace softdat::softnet {

class Leaver : public Member<Leaver> {
 protected:
  virtual ~Leaver() = default;

 private:
  friend class Leavers;
  // Any thread. Says what there is room for; false: that was not all, so it is to be called again.
  // Waits for no lock for long, and adds and removes no leaver.
  virtual bool Leave() = 0;
};

class Leavers {
 public:
  // Both do nothing if that is so already.
  void Add(Leaver* leaver) {
    const std::lock_guard<std::mutex> lock(mutex_);
    list_.Add(leaver);
  }
  void Remove(Leaver* leaver) {
    const std::lock_guard<std::mutex> lock(mutex_);
    list_.Remove(leaver);
  }
  // The process exits. No loop runs any more that would tell when a peer has made room, so each
  // leaver is tried in turn until `deadline`. A thread that was in Add() or Remove() may never go
  // on, so it is not waited for without end.
  void LeaveAll(LoopClock::time_point deadline) {
    constexpr std::chrono::microseconds kLook{200};
    std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
    if (!LockPatiently(&lock, Channel::Patience::kTry)) return;
    for (;;) {
      bool all = true;
      list_.ForEach([&all](Leaver* leaver) { all &= leaver->Leave(); });
      if (all || LoopClock::now() >= deadline) return;
      std::this_thread::sleep_for(kLook);
    }
  }

 private:
  std::mutex mutex_;  // guards list_ and the links of its members
  MemberList<Leaver> list_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_LEAVERS_H_
