// SPDX-License-Identifier: BSD-3-Clause
// Notices that a path is dead while data are under way. TCP itself goes on for about a quarter of
// an hour. TCP_USER_TIMEOUT would also end a connection whose peer lives and only does not read,
// since it also counts probes of a closed window that are answered. (Idle connections have TCP's
// keep-alive probes, which pause while data are under way.)
//
// Looks are taken only while bytes are outstanding. The first bytes that are sent set a timer. A
// look that finds all of them acknowledged sets none. So an idle process sleeps.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_PATH_WATCH_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_PATH_WATCH_H_

#include <atomic>
#include <chrono>
#include <optional>

#include "provider_softnet/connection/byte_link.h"
#include "provider_softnet/connection/member_list.h"
#include "provider_softnet/driver/event_loop.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

// Judges the samples of one connection.
class PathJudge {
 public:
  // Whether the peer has been silent for `limit` although it was asked.
  bool IsDead(const PathSample& sample, LoopClock::time_point now, std::chrono::milliseconds limit);
  void Forget() { silent_since_ = {}; }

 private:
  LoopClock::time_point silent_since_{};  // none: nothing outstanding, or answered since
};

// A connection whose path is watched.
class WatchedPath : public Member<WatchedPath> {
 protected:
  virtual ~WatchedPath() = default;
  // Token. Returns whether bytes are outstanding. Makes no upcall, and adds and removes no path.
  virtual bool LookAtPath(LoopClock::time_point now) = 0;

 private:
  friend class PathWatch;
};

// The paths of one adapter.
class PathWatch {
 public:
  // `limit` 0: no path is watched.
  PathWatch(EventLoop* loop, std::chrono::milliseconds limit);
  PathWatch(const PathWatch&) = delete;
  PathWatch& operator=(const PathWatch&) = delete;

  std::chrono::milliseconds limit() const { return limit_; }

  // Token. Idempotent. If no descriptor can be had for the timer, the log says so and no path is
  // watched until the next Add().
  void Add(WatchedPath* path);
  void Remove(WatchedPath* path);
  // Any thread. To be called after bytes were written to a path.
  void NoteSent() {
    if (!timer_set_.load(std::memory_order_relaxed)) SetTimer();
  }
  // To be called when the loop ends.
  void Close() { watch_.reset(); }

 private:
  bool Open();
  void SetTimer();
  void OnDue();

  EventLoop* const loop_;
  const std::chrono::milliseconds limit_;
  // True while the timer runs, or while there is none. Cleared before the paths are looked at, so
  // that bytes sent from then on set the timer again.
  std::atomic<bool> timer_set_{true};
  // Token. The descriptor stays open from the first Add() on.
  UniqueFd timer_;
  std::optional<SocketWatch> watch_;
  MemberList<WatchedPath> paths_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_PATH_WATCH_H_
