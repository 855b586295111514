// SPDX-License-Identifier: BSD-3-Clause
// Driver: leadership, blocking, tasks and timers.
#include "provider_verbs/driver.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "dat/base/descriptor.h"
#include "provider_verbs/os_error.h"

namespace softdat::verbs {

using transport::ProgressResult;
using transport::Waiter;

// Releases the leadership when it dies, also when the thread is cancelled while it blocks.
class Driver::Lead {
 public:
  explicit Lead(Driver& driver) : driver_(driver) {
    driver_.leader_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  ~Lead() { driver_.Release(); }
  Lead(const Lead&) = delete;
  Lead& operator=(const Lead&) = delete;

 private:
  Driver& driver_;
};

// As long as this lives, signals of the waiter interrupt the leader's poll.
class Driver::LoopMark {
 public:
  LoopMark(Waiter* waiter, transport::Interruptible* loop) : waiter_(waiter) {
    waiter_->SetLoop(loop);
  }
  ~LoopMark() { waiter_->SetLoop(nullptr); }
  LoopMark(const LoopMark&) = delete;
  LoopMark& operator=(const LoopMark&) = delete;

 private:
  Waiter* waiter_;
};

Driver::~Driver() {
  if (wake_fd_ >= 0) close(wake_fd_);
}

void Driver::Watch(int fd, std::function<bool()> on_readable) {
  sources_.emplace_back(fd, std::move(on_readable));
}

Status Driver::Start() {
  wake_fd_ = AboveStandard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake_fd_ < 0) return OsStatus(errno, "eventfd");
  helper_ = std::make_unique<std::thread>([this] { Help(); });
  return Status::Ok();
}

void Driver::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  helper_wanted_.notify_all();
  Interrupt();
  if (helper_ != nullptr) helper_->join();
  helper_.reset();
}

void Driver::AbandonAfterFork() {
  // The helper does not exist in this process. Destroying its thread object would terminate the
  // process.
  static_cast<void>(helper_.release());
  wake_fd_ = -1;
}

bool Driver::Leading() const {
  return leader_.load(std::memory_order_relaxed) != Leader::kNone &&
         leader_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void Driver::Interrupt() {
  const uint64_t one = 1;
  // A full counter also wakes.
  static_cast<void>(!write(wake_fd_, &one, sizeof one));
}

void Driver::DrainWakeUps() {
  uint64_t count = 0;
  static_cast<void>(!read(wake_fd_, &count, sizeof count));
}

bool Driver::TryLead() {
  if (leader_.load(std::memory_order_relaxed) != Leader::kNone) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (leader_.load(std::memory_order_relaxed) != Leader::kNone || !followers_.empty()) return false;
  leader_.store(Leader::kCaller, std::memory_order_relaxed);
  return true;
}

bool Driver::WaitToLead(Waiter* waiter, Clock::time_point deadline, const CancelOff& off,
                        ProgressResult* result) {
  // Leaves the queue, also when the thread is cancelled while it is parked.
  class Queued {
   public:
    Queued(Driver& driver, Follower& follower) : driver_(driver), follower_(follower) {}
    ~Queued() {
      if (!keep_) Leave();
    }
    // Returns whether the leadership has come meanwhile. It then belongs to the caller.
    bool Leave() {
      keep_ = true;
      const std::lock_guard<std::mutex> lock(driver_.mutex_);
      if (!follower_.promoted.load(std::memory_order_relaxed)) {
        driver_.followers_.remove(&follower_);
        return false;
      }
      if (!wanted_) driver_.ReleaseLocked();
      return true;
    }
    void Want() { wanted_ = true; }

   private:
    Driver& driver_;
    Follower& follower_;
    bool keep_ = false;
    bool wanted_ = false;  // the caller takes the leadership if it has come
  };

  Follower follower{.waiter = waiter};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++leads_;
    if (leader_.load(std::memory_order_relaxed) == Leader::kNone && followers_.empty()) {
      leader_.store(Leader::kCaller, std::memory_order_relaxed);
      return true;
    }
    followers_.push_back(&follower);
    if (leader_.load(std::memory_order_relaxed) == Leader::kHelper) Interrupt();
  }
  Queued queued(*this, follower);
  Waiter::ParkResult parked;
  {
    const CancelRestored cancellable(off);
    parked = waiter->Park(deadline, &follower.promoted);
  }
  if (parked == Waiter::ParkResult::kSignalled && !waiter->signalled()) {
    queued.Want();
    return queued.Leave();  // the follower was promoted, so this is always true
  }
  queued.Leave();
  *result = parked == Waiter::ParkResult::kTimedOut      ? ProgressResult::kTimedOut
            : parked == Waiter::ParkResult::kInterrupted ? ProgressResult::kInterrupted
                                                         : ProgressResult::kSignalled;
  return false;
}

void Driver::Release() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ReleaseLocked();
}

void Driver::ReleaseLocked() {
  leader_thread_.store({}, std::memory_order_relaxed);
  if (!followers_.empty()) {
    Follower* const next = followers_.front();
    followers_.pop_front();
    leader_.store(Leader::kCaller, std::memory_order_relaxed);
    // The nudge comes before the follower can see the flag and leave, because leaving its queue
    // needs our mutex.
    next->promoted.store(true, std::memory_order_seq_cst);
    next->waiter->Nudge();
    return;
  }
  leader_.store(Leader::kNone, std::memory_order_relaxed);
  if (helper_parked_ || news_.load(std::memory_order_relaxed)) {
    helper_urgent_ |= news_.load(std::memory_order_relaxed);
    helper_wanted_.notify_one();
  }
}

ProgressResult Driver::Progress(Waiter* waiter, Clock::time_point deadline) {
  if (waiter == nullptr) {
    if (!TryLead()) return ProgressResult::kIdle;
    const CancelOff off;
    const Lead lead(*this);
    bool interrupted = false;
    return Turn(Clock::time_point::min(), off, &interrupted) ? ProgressResult::kWorked
                                                             : ProgressResult::kIdle;
  }
  if (waiter->signalled()) return ProgressResult::kSignalled;
  const CancelOff off;
  ProgressResult result = ProgressResult::kIdle;
  if (!WaitToLead(waiter, deadline, off, &result)) return result;
  const Lead lead(*this);
  const LoopMark mark(waiter, this);
  if (waiter->signalled()) return ProgressResult::kSignalled;
  bool interrupted = false;
  const bool worked = Turn(deadline, off, &interrupted);
  if (waiter->signalled()) return ProgressResult::kSignalled;
  if (worked) return ProgressResult::kWorked;
  if (interrupted) return ProgressResult::kInterrupted;
  return Clock::now() >= deadline ? ProgressResult::kTimedOut : ProgressResult::kIdle;
}

void Driver::Post(Task task) {
  {
    const std::lock_guard<std::mutex> lock(tasks_mutex_);
    tasks_.push_back(std::move(task));
    news_.store(true, std::memory_order_seq_cst);
  }
  if (!Leading()) WakeHelper();
}

Driver::TimerId Driver::PostAt(Clock::time_point when, Task task) {
  TimerId id;
  bool first = false;
  {
    const std::lock_guard<std::mutex> lock(tasks_mutex_);
    id = {when, ++last_timer_};
    first = timers_.empty() || id < timers_.begin()->first;
    timers_.emplace(id, std::move(task));
    if (first) news_.store(true, std::memory_order_seq_cst);
  }
  if (first && !Leading()) WakeHelper();
  return id;
}

void Driver::Cancel(const TimerId& timer) {
  Task dead;  // must be destroyed without the mutex
  const std::lock_guard<std::mutex> lock(tasks_mutex_);
  const auto found = timers_.find(timer);
  if (found == timers_.end()) return;
  dead = std::move(found->second);
  timers_.erase(found);
}

bool Driver::RunTasks() {
  bool ran = false;
  for (;;) {
    Task task;
    {
      const std::lock_guard<std::mutex> lock(tasks_mutex_);
      if (!tasks_.empty()) {
        task = std::move(tasks_.front());
        tasks_.pop_front();
      } else if (!timers_.empty() && timers_.begin()->first.first <= Clock::now()) {
        task = std::move(timers_.begin()->second);
        timers_.erase(timers_.begin());
      } else {
        news_.store(false, std::memory_order_seq_cst);
        return ran;
      }
    }
    task();
    ran = true;
  }
}

Driver::Clock::time_point Driver::NextTimer() {
  const std::lock_guard<std::mutex> lock(tasks_mutex_);
  return timers_.empty() ? transport::kForever : timers_.begin()->first.first;
}

namespace {

timespec Until(transport::Clock::time_point when, transport::Clock::time_point now) {
  const auto left = std::max(std::chrono::nanoseconds(0),
                             std::chrono::duration_cast<std::chrono::nanoseconds>(when - now));
  return {.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000),
          .tv_nsec = static_cast<long>(left.count() % 1'000'000'000)};
}

}  // namespace

bool Driver::Turn(Clock::time_point deadline, const CancelOff& off, bool* interrupted) {
  bool worked = RunTasks();
  if (before_blocking_) before_blocking_();
  std::array<pollfd, kMaxSources + 1> fds{};
  size_t count = 0;
  for (const auto& source : sources_)
    fds[count++] = {.fd = source.first, .events = POLLIN, .revents = 0};
  fds[count++] = {.fd = wake_fd_, .events = POLLIN, .revents = 0};

  const bool may_block = !worked && deadline != Clock::time_point::min();
  timespec timeout{};
  bool forever = false;
  if (may_block) {
    blocking_.store(true, std::memory_order_seq_cst);
    if (!news_.load(std::memory_order_seq_cst)) {
      const Clock::time_point until = std::min(deadline, NextTimer());
      forever = until == transport::kForever;
      if (!forever) timeout = Until(until, Clock::now());
    }
  }
  int ready = 0;
  {
    struct NotBlocking {
      std::atomic<bool>& blocking;
      ~NotBlocking() { blocking.store(false, std::memory_order_relaxed); }
    } const reset{blocking_};
    const CancelRestored cancellable(off);
    ready = ppoll(fds.data(), count, forever ? nullptr : &timeout, nullptr);
  }
  if (ready < 0) {
    *interrupted = errno == EINTR;
    return worked;
  }
  if (ready > 0) {
    if (fds[count - 1].revents != 0) DrainWakeUps();
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (fds[i].revents != 0) worked |= sources_[i].second();
    }
  }
  if (RunTasks()) worked = true;
  return worked;
}

}  // namespace softdat::verbs
