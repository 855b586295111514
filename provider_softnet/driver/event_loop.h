// SPDX-License-Identifier: BSD-3-Clause
// The uv loop of one adapter with its socket watches and timers. Everything here needs the driver
// token.
//
// Two deviations from a plain uv_run() make it fast and re-entrant:
//  * Readiness is taken from the loop's own epoll descriptor with one system call. This also lets
//    the caller see signals (libuv restarts after EINTR) and deadlines finer than a millisecond.
//    uv_run(NOWAIT) runs when libuv itself has something to do: a changed watch, a closing handle.
//    Timers are the loop's own, because those of libuv count whole milliseconds, and a lost packet
//    is to be missed sooner.
//  * libuv's callbacks only note what happened. Handlers run afterwards from Dispatch(), outside
//    uv_run(), so that an upcall may create, close and even wait.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_EVENT_LOOP_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_EVENT_LOOP_H_

#include <uv.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "dat/base/cancel.h"
#include "dat/base/status.h"
#include "provider_softnet/driver/counters.h"
#include "provider_softnet/driver/watch_events.h"

namespace softdat::softnet {

using LoopClock = std::chrono::steady_clock;

class EventLoop;

// A node of the list of things that happened. The list's own end is a bare node.
struct LoopLink {
  LoopLink* previous = nullptr;  // null: in no list
  LoopLink* next = nullptr;
};

// Something that happened and waits for its handler to run. It leaves the list when it is
// destroyed.
class LoopEvent : private LoopLink {
 public:
  LoopEvent() = default;
  LoopEvent(const LoopEvent&) = delete;
  LoopEvent& operator=(const LoopEvent&) = delete;

 protected:
  virtual ~LoopEvent() { Forget(); }
  virtual void Fire() = 0;
  void Forget();

 private:
  friend class EventLoop;
};

// A socket that uv_poll watches for events of watch_events.h.
class SocketWatch final : public LoopEvent {
 public:
  using Handler = std::function<void(int events)>;

  SocketWatch(EventLoop* loop, Handler handler) : loop_(loop), handler_(std::move(handler)) {}
  ~SocketWatch() override { Stop(); }

  // Watches `fd` (which it does not own) for `events`.
  Status Start(int fd, int events);
  // Goes on with what `other` watches, if anything, in its place. For libuv nothing changes, which
  // makes several system calls of a start and of a stop.
  void TakeOver(SocketWatch* other);
  // Changes what is watched. 0 watches nothing, not even errors.
  void Update(int events);
  // To be called before the descriptor is closed. Idempotent. A stopped watch may be destroyed
  // without the token.
  void Stop();
  bool active() const { return handle_ != nullptr; }
  int events() const { return events_; }

 private:
  friend class EventLoop;
  struct Handle;
  void Fire() override;
  // Nothing is watched any more. Returns the handle. What happened and is not handled yet is
  // forgotten. If it is still so, the next look finds it.
  Handle* Forsake();

  EventLoop* const loop_;
  const Handler handler_;
  Handle* handle_ = nullptr;  // libuv owns it once it is closing
  int fd_ = -1;
  int events_ = 0;
  int happened_ = 0;
  bool failed_ = false;  // epoll reported an error, so the handler runs in any case
};

// Something that no descriptor shows, unless it was asked to (Herald). As long as it is awake,
// every look at the loop asks it, and no thread sleeps in the loop before it has promised a sign.
class LoopSource : public LoopEvent {
 public:
  explicit LoopSource(EventLoop* loop) : loop_(loop) {}
  ~LoopSource() override { Stop(); }

  void Awake();
  // To be called before a destruction without the token. Idempotent.
  void Stop();

 protected:
  virtual bool IsReady() = 0;
  // From now on some descriptor shows it. False: it is ready already.
  virtual bool Herald() = 0;

 private:
  friend class EventLoop;
  void Rest();

  EventLoop* const loop_;
  LoopSource* next_ = nullptr;  // among those that are awake
  LoopSource* previous_ = nullptr;
  bool awake_ = false;
  uint32_t idle_looks_ = 0;
};

class LoopTimer;
struct IsDueEarlier {
  bool operator()(const LoopTimer* a, const LoopTimer* b) const;
};
// Those that run, the next one first. Of equal ones that which was started first.
using LoopTimers = std::multiset<LoopTimer*, IsDueEarlier>;

// A one-shot timer.
class LoopTimer final : public LoopEvent {
 public:
  using Handler = std::function<void()>;

  LoopTimer(EventLoop* loop, Handler handler);
  ~LoopTimer() override { Close(); }

  // Fires once, as soon as possible after `delay`. Replaces an earlier start. Only the first start
  // allocates memory.
  void Start(std::chrono::microseconds delay);
  // To be called before a destruction without the token. Idempotent.
  void Stop();
  // As Stop(), for good.
  void Close() { Stop(); }
  bool running() const { return running_; }

 private:
  friend class EventLoop;
  friend struct IsDueEarlier;
  void Fire() override;

  EventLoop* const loop_;
  const Handler handler_;
  LoopClock::time_point due_{};
  bool running_ = false;
  LoopTimers::iterator at_{};      // while it runs
  LoopTimers::node_type resting_;  // its place, while it does not run
};

inline bool IsDueEarlier::operator()(const LoopTimer* a, const LoopTimer* b) const {
  return a->due_ < b->due_;
}

class EventLoop {
 public:
  enum class BlockResult : uint8_t { kReady, kTimedOut, kInterrupted };

  explicit EventLoop(DriverCounters* counters) : counters_(counters) {}
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Creates the loop and its descriptors. Fails with kNoResources when there are none left.
  Status Open();
  bool open() const { return open_; }
  // Readable while something that is watched is ready. Timers, and changes that libuv has yet to
  // make, do not show in it.
  int descriptor() const { return epoll_fd_; }
  // Whether the descriptor is readable now. Any thread, without the token.
  bool Readable() const;
  // The descriptor shows at once whatever sources have, since somebody may sleep in it. Any thread.
  void ShowSources() { show_sources_.store(true, std::memory_order_relaxed); }

  // Notes what is ready now. Never blocks. Dispatch() must follow.
  void Look();
  // Sleeps until something is ready, a timer is due, `until` is reached, or a signal handler ran.
  // Returns kTimedOut, whatever is ready, if `until` had passed before the call. A cancellation
  // point if `cancel` was one. Dispatch() must follow.
  BlockResult Block(LoopClock::time_point until, const CancelOff& cancel);
  // Whether Block() ends within microseconds of `until`. An older kernel knows milliseconds only,
  // which the first sleep with an end shows.
  static bool SleepsExactly();
  // How often the sockets were looked at, by either of these.
  uint64_t looks() const { return looks_; }
  // Runs the handlers of what was noted.
  void Dispatch();
  // Whether Block() would be premature, because libuv has changes of its own to make, or handlers
  // wait.
  bool HasWork() const {
    return needs_uv_run_ || happened_.next != &happened_ || running_.next != &running_;
  }

 private:
  friend class LoopEvent;
  friend class SocketWatch;
  friend class LoopSource;
  friend class LoopTimer;

  static void OnPoll(uv_poll_t* handle, int status, int events);
  bool RunUv();  // returns whether something is ready
  void NoteExpired(LoopClock::time_point now);
  void Note(LoopEvent* event);
  void LookAtSources();
  bool HeraldSources();
  void NoteReady(int fd, uint32_t epoll_events);
  bool MakeRoomFor(int fd);

  DriverCounters* const counters_;
  bool open_ = false;
  // Set when a watch changed or a handle closes, because libuv acts only inside uv_run().
  bool needs_uv_run_ = false;
  bool found_by_uv_ = false;  // something is ready
  LoopTimers timers_;
  int epoll_fd_ = -1;  // the loop's own, for waiting only
  uv_loop_t loop_{};
  LoopLink happened_{&happened_, &happened_};  // LoopEvents in the order in which they were noted
  LoopLink running_{&running_, &running_};     // those whose handlers are being run
  std::vector<SocketWatch*> by_fd_;
  uint64_t looks_ = 0;
  LoopSource* first_awake_ = nullptr;
  std::atomic<bool> show_sources_{false};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_EVENT_LOOP_H_
