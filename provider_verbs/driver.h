// SPDX-License-Identifier: BSD-3-Clause
// Decides who waits on the adapter's descriptors (completion channel, rdma_cm events, asynchronous
// events) and who makes its upcalls: one thread at a time, the leader. A thread in Progress()
// leads. If there are several, the others queue up and park. A helper thread leads only while no
// caller does, so that programs that make no call are served, too. Only this leadership serialises
// the upcalls of an adapter.
#ifndef SOFTDAT_PROVIDER_VERBS_DRIVER_H_
#define SOFTDAT_PROVIDER_VERBS_DRIVER_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "dat/base/cancel.h"
#include "dat/transport/transport.h"

namespace softdat::verbs {

class Driver : private transport::Interruptible {
 public:
  using Clock = transport::Clock;
  using Task = std::function<void()>;
  static constexpr size_t kMaxSources = 7;
  using TimerId = std::pair<Clock::time_point, uint64_t>;

  Driver() = default;
  // To be called after Stop() or AbandonAfterFork().
  ~Driver() override;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // To be called before Start(), at most kMaxSources times. The leader calls `on_readable`, which
  // returns whether anything happened.
  void Watch(int fd, std::function<bool()> on_readable);
  // To be called before Start(). The leader runs `task` before it blocks and on each turn.
  void BeforeBlocking(Task task) { before_blocking_ = std::move(task); }
  Status Start();
  // Joins the helper. Not allowed from inside an upcall.
  void Stop();
  void AbandonAfterFork();

  // Same as transport::Adapter::Progress.
  transport::ProgressResult Progress(transport::Waiter* waiter, Clock::time_point deadline);

  // Any thread. The leader runs `task` soon.
  void Post(Task task);
  TimerId PostAt(Clock::time_point when, Task task);
  void Cancel(const TimerId& timer);

  // Whether the calling thread is the leader (is in an upcall or a task).
  bool Leading() const;

 private:
  enum class Leader : uint8_t { kNone, kCaller, kHelper };
  struct Follower {
    transport::Waiter* waiter;
    std::atomic<bool> promoted{false};  // has become the leader
  };
  class Lead;
  class LoopMark;

  void Interrupt() override;
  bool TryLead();
  // Returns true when the calling thread is the leader. Otherwise `*result` says how its wait
  // ended.
  bool WaitToLead(transport::Waiter* waiter, Clock::time_point deadline, const CancelOff& off,
                  transport::ProgressResult* result);
  void Release();
  void ReleaseLocked();

  // Runs one turn as the leader. Blocks only if there is nothing to do, until `deadline` or a
  // descriptor. Sets `*interrupted` when a signal handler ran.
  bool Turn(Clock::time_point deadline, const CancelOff& off, bool* interrupted);
  bool RunTasks();
  Clock::time_point NextTimer();
  void DrainWakeUps();

  void Help();
  void WakeHelper();

  std::vector<std::pair<int, std::function<bool()>>> sources_;  // constant after Start()
  Task before_blocking_;
  int wake_fd_ = -1;

  std::mutex mutex_;  // protects the members up to the next comment
  std::list<Follower*> followers_;
  std::condition_variable helper_wanted_;
  bool helper_urgent_ = false;  // there is a task and no leader
  bool helper_parked_ = false;  // the helper sleeps without a tick
  bool stop_ = false;
  uint64_t leads_ = 0;  // how often a caller became the leader to block
  // Written with mutex_ held. Polling threads read it without the mutex, because they need not lead
  // at any price.
  std::atomic<Leader> leader_{Leader::kNone};
  std::atomic<std::thread::id> leader_thread_{};

  std::mutex tasks_mutex_;  // protects the next three
  std::deque<Task> tasks_;
  std::map<TimerId, Task> timers_;
  uint64_t last_timer_ = 0;
  // Whether the leader blocks or is about to. If so, news must be written to wake_fd_.
  std::atomic<bool> blocking_{false};
  std::atomic<bool> news_{false};  // a task or an earlier timer has come

  std::unique_ptr<std::thread> helper_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_DRIVER_H_
