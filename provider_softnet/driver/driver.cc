// SPDX-License-Identifier: BSD-3-Clause
// The part of Driver that starts it, makes progress for callers, and gets a blocked thread's
// attention.
#include "provider_softnet/driver/driver.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "provider_softnet/driver/descriptor_limit.h"
#include "provider_softnet/driver/upcall_gate.h"

namespace softdat::softnet {

using transport::Waiter;
using Result = transport::ProgressResult;

namespace {

// One more dispatching, for as long as it lives.
class Nested {
 public:
  explicit Nested(int* depth) : depth_(depth) { ++*depth_; }
  ~Nested() { --*depth_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  int* const depth_;
};

}  // namespace

Driver::Driver(const DriverOptions& options) : options_(options), token_(this) {}

Driver::~Driver() { Stop(); }

void Driver::Stop() {
  StopHelper();
  if (abandoned_) return;
  adopters_.Clear();
  hot_->Clear();
  deferred_.TakeAll([](Channel*) {});
  attention_.TakeAll([](Channel*) {});
  attending_.clear();
  owing_.TakeAll([](Channel*) {});
  std::vector<std::function<void()>> tasks;  // their destructors may take locks
  {
    const std::lock_guard<std::mutex> lock(tasks_mutex_);
    closed_to_tasks_ = true;
    tasks.swap(tasks_);
  }
  tasks.clear();
  trash_.clear();
  wake_watch_.reset();
}

Status Driver::Start() {
  if (started()) return Status::Ok();
  const CancelOff no_cancellation;
  const std::lock_guard<std::mutex> lock(start_mutex_);
  if (started()) return Status::Ok();
  if (!loop_.open()) {
    if (Status s = loop_.Open(); !s.ok()) return s;
  }
  attending_.reserve(kAttendingAtOnce);
  while (!wake_fd_.valid()) {
    wake_fd_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_fd_.valid() && (errno != EMFILE || !RaiseDescriptorLimit())) break;
  }
  if (!wake_fd_.valid()) {
    return Status(Code::kNoResources,
                  fmt::format("no descriptor for wake-ups: {}", strerror(errno)));
  }
  wake_watch_.emplace(&loop_, [this](int) {
    uint64_t count;
    // The descriptor is level-triggered, so it must be read for the next sleep to sleep.
    [[maybe_unused]] const ssize_t n = ::read(wake_fd_.get(), &count, sizeof(count));
  });
  if (Status s = wake_watch_->Start(wake_fd_.get(), kReadable); !s.ok()) return s;
  // The helper must never run the program's signal handlers.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Status status;
  try {
    helper_ = std::thread([this] { RunHelper(); });
  } catch (const std::system_error& e) {
    status = Status(Code::kNoResources, fmt::format("no helper thread: {}", e.what()));
  } catch (const std::bad_alloc&) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (status.ok()) started_.store(true, std::memory_order_release);
  return status;
}

// -------------------------------------------------------------------------------------------------
// Waking

void Driver::Interrupt() {
  if (blocked_.load(std::memory_order_seq_cst) != Blocked::kNo) Kick();
}

void Driver::Kick() {
  // One write ends a sleep, however many threads want to end it.
  if (blocked_.exchange(Blocked::kNo, std::memory_order_seq_cst) == Blocked::kNo) return;
  counters_.kicks.Add();
  const uint64_t one = 1;
  // A raw system call, because write() is a cancellation point, and posts come here with locks
  // held.
  [[maybe_unused]] const long n = syscall(SYS_write, wake_fd_.get(), &one, sizeof(one));
}

[[gnu::hot]] void Driver::DeferSends(Channel* channel, Wake wake) {
  deferred_.Push(channel);  // it may have been deferred quietly before
  // The helper stores what it does before its last look at the stack, so it will see this channel.
  if (wake == Wake::kNobody && HelperTicks()) return;
  AnnounceDeferred();
}

[[gnu::hot]] void Driver::AnnounceDeferred() {
  announced_.store(true, std::memory_order_seq_cst);
  const Blocked blocked = blocked_.load(std::memory_order_seq_cst);
  if (blocked == Blocked::kLong) {
    Kick();
  } else if (blocked == Blocked::kNo) {
    const HelperSleep::Kind sleep = helper_sleep_.kind();
    if (sleep == HelperSleep::Kind::kTick || sleep == HelperSleep::Kind::kDeep) WakeHelper();
  }
}

[[gnu::hot]] void Driver::RequestAttention(Channel* channel) {
  if (attention_.Push(channel)) Interrupt();
}

bool Driver::Post(std::function<void()> task) {
  {
    const std::lock_guard<std::mutex> lock(tasks_mutex_);
    if (closed_to_tasks_) return false;
    tasks_.push_back(std::move(task));
    have_tasks_.store(true, std::memory_order_seq_cst);
  }
  Interrupt();
  return true;
}

// -------------------------------------------------------------------------------------------------
// What a turn consists of

[[gnu::hot]] bool Driver::FlushDeferred(Channel::Flusher by) {
  if (deferred_.empty()) return false;
  const bool announced = announced_.load(std::memory_order_relaxed);
  if (announced) announced_.store(false, std::memory_order_seq_cst);
  bool worked = false;
  deferred_.TakeAll([&](Channel* channel) { worked |= channel->FlushSends(by); });
  const bool left = by == Channel::Flusher::kPoller && !deferred_.empty();
  // The helper goes on to watch what was left.
  if (left && announced) AnnounceDeferred();
  if (worked || !left) flushes_.fetch_add(1, std::memory_order_relaxed);
  return worked;
}

[[gnu::hot]] void Driver::AttendAll() {
  const UpcallGate::Running upcalls;
  const Nested nested(&handlers_running_);
  if (have_tasks_.load(std::memory_order_seq_cst)) {
    std::vector<std::function<void()>> tasks;
    {
      const std::lock_guard<std::mutex> lock(tasks_mutex_);
      tasks.swap(tasks_);
      have_tasks_.store(false, std::memory_order_seq_cst);
    }
    for (auto& task : tasks) task();
    worked_ = true;
  }
  if (attention_.empty() && !Attending()) return;
  attention_.TakeAll([this](Channel* channel) { attending_.emplace_back(channel); });
  // An upcall of Attend() may come here again, for one that is behind its own.
  while (Attending()) {
    const RefPtr<Channel> channel = std::move(attending_[next_to_attend_++]);
    channel->Attend();
  }
  attending_.clear();
  next_to_attend_ = 0;
  worked_ = true;
}

[[gnu::hot]] bool Driver::Turn(Busy busy) {
  counters_.loop_turns.Add();
  in_passing_ = busy == Busy::kLeave;
  AttendAll();
  loop_.Look();
  in_passing_ = busy == Busy::kLeave;  // an upcall may have looked as well
  Dispatch();
  return std::exchange(worked_, false);
}

[[gnu::hot]] void Driver::Dispatch() {
  {
    const Nested nested(&handlers_running_);
    const UpcallGate::Running upcalls;
    loop_.Dispatch();
    AttendAll();
  }
  if (handlers_running_ == 0) trash_.clear();
}

// -------------------------------------------------------------------------------------------------
// Progress by callers

Result Driver::Progress(Waiter* waiter, LoopClock::time_point deadline) {
  if (waiter != nullptr && started()) return Wait(waiter, deadline);
  if (started()) return PollOnce(hot_.get());
  if (waiter == nullptr) return Result::kIdle;
  switch (waiter->Park(deadline)) {
    case Waiter::ParkResult::kSignalled:
      return Result::kSignalled;
    case Waiter::ParkResult::kTimedOut:
      return Result::kTimedOut;
    case Waiter::ParkResult::kInterrupted:
      break;
  }
  return Result::kInterrupted;
}

Result Driver::LookAround() {
  return started() ? PollOnce(hot_.get(), Look::kThoroughly) : Result::kIdle;
}

int Driver::ProgressDescriptor() {
  if (!Start().ok()) return -1;
  descriptor_lent_.store(true, std::memory_order_relaxed);
  loop_.ShowSources();
  return loop_.descriptor();
}

namespace {

// The end of a wait, even of a cancelled one. Returns the token, or leaves its queue.
class EndOfWait {
 public:
  EndOfWait(DriverToken* token, ParkedThread* self, const bool* holding)
      : token_(token), self_(self), holding_(holding) {}
  ~EndOfWait() {
    if (*holding_ || token_->LeaveQueue(self_)) token_->Release();
  }
  EndOfWait(const EndOfWait&) = delete;
  EndOfWait& operator=(const EndOfWait&) = delete;

 private:
  DriverToken* const token_;
  ParkedThread* const self_;
  const bool* const holding_;
};

}  // namespace

Result Driver::Wait(Waiter* waiter, LoopClock::time_point deadline) {
  const CancelOff cancel;
  activity_.Note();
  NoteProgress();
  FlushDeferred(Channel::Flusher::kWaiter);
  if (waiter->signalled()) return Result::kSignalled;
  ParkedThread self(waiter);
  bool holding = false;
  // A helper in a deep sleep relies on a waiting thread to drive, so it is told when the wait ends.
  // This happens after the token was returned. HelperSleep::Sleep() explains why no helper is
  // forgotten.
  struct WakeDeepHelper {
    Driver* driver;
    ~WakeDeepHelper() {
      if (driver->helper_sleep_.kind() == HelperSleep::Kind::kDeep) driver->WakeHelper();
    }
  };
  const WakeDeepHelper wake_deep_helper{this};
  const EndOfWait end(&token_, &self, &holding);
  holding = token_.AcquireOrQueue(&self);
  if (!holding) {
    if (std::optional<Result> r = ParkForToken(waiter, deadline, &self, &holding, cancel))
      return *r;
  }
  return Drive(waiter, deadline, &self, &holding, cancel);
}

std::optional<Result> Driver::ParkForToken(Waiter* waiter, LoopClock::time_point deadline,
                                           ParkedThread* self, bool* holding,
                                           const CancelOff& cancel) {
  counters_.parked_waits.Add();
  Waiter::ParkResult parked;
  {
    const CancelRestored cancellation_point(cancel);
    parked = waiter->Park(deadline, &self->granted);
  }
  *holding = self->granted.load(std::memory_order_seq_cst);
  if (parked == Waiter::ParkResult::kTimedOut) return Result::kTimedOut;
  if (parked == Waiter::ParkResult::kInterrupted) return Result::kInterrupted;
  if (waiter->signalled()) return Result::kSignalled;
  return std::nullopt;  // the token was granted
}

Result Driver::Drive(Waiter* waiter, LoopClock::time_point deadline, ParkedThread* self,
                     bool* holding, const CancelOff& cancel) {
  LoopClock::time_point spin_until{};  // set when the first try found nothing
  uint32_t polls = 0;                  // since the last look at all sockets
  uint32_t in_vain = 0;                // since something moved
  if (!waiter->spun) spin_limit_.CountWait();
  bool spinning = spin_limit_.spins() && !waiter->spun;
  bool first_try = !spinning || !hot_->YieldFirst();  // false after a yield
  if (!first_try) {
    Yield();
    spinning = spin_limit_.spins();
  }
  int busy_rounds = 0;  // rounds without a look at the clock
  while (true) {
    if (waiter->signalled()) return Result::kSignalled;
    // Work that is all for others must not keep this thread from its deadline.
    if (busy_rounds >= kMostBusyRounds) {
      busy_rounds = 0;
      if (LoopClock::now() >= deadline) return Result::kTimedOut;
    }
    if (token_.WantedByControl() && token_.GiveWay(self)) {
      *holding = false;
      if (std::optional<Result> r = ParkForToken(waiter, deadline, self, holding, cancel))
        return *r;
      continue;
    }
    if (!spinning) {
      found_ = false;
      const LoopClock::time_point asleep = spin_limit_.spins() ? LoopClock::now() : deadline;
      const EventLoop::BlockResult r = BlockOnce(waiter, deadline, cancel);
      if (found_ && spin_limit_.spins()) spin_limit_.Slept(LoopClock::now() - asleep);
      if (waiter->signalled()) return Result::kSignalled;
      if (r == EventLoop::BlockResult::kTimedOut) return Result::kTimedOut;
      if (r == EventLoop::BlockResult::kInterrupted) return Result::kInterrupted;
      ++busy_rounds;
      // A thread that waits serves others' data, too. When some came, more are probably on their
      // way.
      if (std::exchange(found_, false) && spin_limit_.spins()) {
        spinning = true;
        spin_until = {};
        in_vain = 0;
      }
      continue;
    }
    bool worked = FlushDeferred(Channel::Flusher::kWaiter);
    worked |= hot_->Poll() == HotSet::Polled::kMoved;
    if (++polls >= SpinInterval(++in_vain) || !attention_.empty()) {
      polls = 0;
      worked |= Turn(Busy::kLeave);
    }
    if (std::exchange(first_try, false)) hot_->NoteFirstTry(!worked);
    worked |= PayAfterTurn(worked);
    if (worked) {
      // What came was not for this program, so it sends nothing that a payment could ride on.
      if (!waiter->signalled()) PayOwed();
      spin_until = {};  // more is probably on its way
      in_vain = 0;
      ++busy_rounds;
      continue;
    }
    if (waiter->signalled()) return Result::kSignalled;
    const LoopClock::time_point now = LoopClock::now();
    if (now >= deadline) return Result::kTimedOut;
    if (spin_until == LoopClock::time_point{}) spin_until = now + spin_limit_.now();
    spinning = now < spin_until;
    if (!spinning) continue;
    Yield();
    spinning = spin_limit_.spins();
  }
}

// The number of polls from one look at all sockets to the next, while a wait spins. What a message
// brings about comes on hot streams, and they have the polls to themselves at first. When they stay
// silent, the wait is for something else: a connection that is being made, another stream.
uint32_t Driver::SpinInterval(uint32_t in_vain) const {
  if (hot_->empty()) return 1;
  return in_vain <= kForHotStreams ? hot_->interval() : std::min(hot_->interval(), kLater);
}

EventLoop::BlockResult Driver::BlockOnce(Waiter* waiter, LoopClock::time_point deadline,
                                         const CancelOff& cancel) {
  using BlockResult = EventLoop::BlockResult;
  if (loop_.HasWork() || Attending()) {
    Turn(Busy::kAwait);
    return BlockResult::kReady;
  }
  if (waiter == nullptr ? PayOrLeave() : PayOwed()) return BlockResult::kReady;
  const bool rides = waiter == nullptr && ride_until_ != LoopClock::time_point{};
  const bool short_tick =
      short_until_ != LoopClock::time_point{} && LoopClock::now() < short_until_;
  const bool left = waiter == nullptr && short_tick && left_to_callers_ > 0;
  const std::chrono::microseconds tick = options_.flush_tick * (left ? 2 : 1);
  LoopClock::time_point until = short_tick ? std::min(deadline, LoopClock::now() + tick) : deadline;
  if (rides) until = std::min(until, ride_until_);
  BlockResult result = BlockResult::kReady;
  {
    struct Unblock {
      std::atomic<Blocked>* blocked;
      Waiter* waiter;
      ~Unblock() {
        blocked->store(Blocked::kNo, std::memory_order_seq_cst);
        if (waiter != nullptr) waiter->SetLoop(nullptr);
      }
    };
    const Unblock unblock{&blocked_, waiter};
    if (waiter != nullptr) waiter->SetLoop(this);
    blocked_.store(short_tick ? Blocked::kShort : Blocked::kLong, std::memory_order_seq_cst);
    // A thread that made one of these true before the store did not see us blocked, so we look once
    // more.
    const bool wanted = waiter != nullptr ? waiter->signalled() || token_.WantedByControl()
                                          : token_.WantedByAnybody() ||
                                                evict_helper_.load(std::memory_order_seq_cst) ||
                                                stop_.load(std::memory_order_seq_cst);
    const bool pending = (!left && !deferred_.empty()) || !attention_.empty() ||
                         (!rides && !owing_.empty()) || have_tasks_.load(std::memory_order_seq_cst);
    if (!wanted && !pending) {
      result = loop_.Block(until, cancel);
      sleepless_rounds_ = 0;
    } else if (!wanted && ++sleepless_rounds_ >= kMostBusyRounds) {
      // When something is always pending, the sockets and timers must get their turn, too.
      loop_.Look();
      sleepless_rounds_ = 0;
    }
  }
  in_passing_ = false;
  Dispatch();
  if (!deferred_.empty()) {
    short_until_ = LoopClock::now() + options_.silence;
    if (waiter != nullptr) {
      FlushDeferred(Channel::Flusher::kWaiter);
    } else if (!CallersFlush()) {
      counters_.helper_flushes.Add();
      FlushDeferred(Channel::Flusher::kHelper);
    }
  }
  NoteProgress();
  found_ = std::exchange(worked_, false);
  if (result == BlockResult::kTimedOut && until != deadline) result = BlockResult::kReady;
  return result;
}

}  // namespace softdat::softnet
