// SPDX-License-Identifier: BSD-3-Clause
// The driver of one adapter decides who moves its data, and when. The caller drives, if there is
// one.
//
//  * A thread in a wait takes the driver token and runs the loop itself: a short spin of recv() and
//    sched_yield(), then one sleep in the loop's epoll descriptor. Others park behind it.
//  * A polling thread calls recv() on the hot streams, without the token. Now and then it looks at
//    all sockets, if the token is free.
//  * The helper thread looks after the sockets while no caller does. It ticks every other
//    millisecond as long as callers are active, sleeps in the loop when they have been silent for
//    one, and never spins. Who takes completions is active, too, without a call of the driver.
//
// Deferred sends. A channel that left messages to a gathered write is in `deferred_`. Whoever polls
// or waits next flushes it. If nobody does, the helper flushes it after some tens of microseconds.
//
// Owed bytes. A channel whose bytes nobody waits for in a hurry (an answer to the peer's
// confirmation) is in `owing_`. The bytes ride on what the program sends next. Otherwise the first
// turn that finds nothing else to do pays them, or at the latest the helper's next tick. While the
// helper drives, it leaves them for a moment to a program that answers what it gets (RideHope).
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_DRIVER_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_DRIVER_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "dat/base/cancel.h"
#include "dat/base/status.h"
#include "dat/base/thread_local.h"
#include "dat/transport/transport.h"
#include "dat/transport/waiter.h"
#include "provider_softnet/driver/caller_activity.h"
#include "provider_softnet/driver/channel.h"
#include "provider_softnet/driver/counters.h"
#include "provider_softnet/driver/driver_token.h"
#include "provider_softnet/driver/epoch.h"
#include "provider_softnet/driver/event_loop.h"
#include "provider_softnet/driver/helper_sleep.h"
#include "provider_softnet/driver/hot_set.h"
#include "provider_softnet/driver/spin_limit.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

// How often a thread that polls looks at all sockets, while its data come from hot streams.
struct LookInterval {
  // Polls of a queue. A look costs a processor some 2 us. So many tries of a socket take 80 us.
  uint32_t of_a_queue = 64;
  // Polls of a thread, whatever the queue. More than a queue allows itself, so that a thread with
  // one queue never comes to it. A prime, so that of several adapters that a thread polls in turn,
  // each is looked at.
  uint32_t of_a_thread = 67;
};

struct DriverOptions {
  // How long a wait spins before it sleeps, at first (SpinLimit).
  std::chrono::microseconds spin{20};
  // How often the helper looks whether callers are active. Each look costs a processor some 30 us,
  // and a thread that polls has so much less. What is owed when callers leave may wait for so long.
  std::chrono::microseconds helper_tick{2000};
  // How long callers must be silent before the helper takes over.
  std::chrono::microseconds silence{1000};
  // How long deferred sends may wait for a caller.
  std::chrono::microseconds flush_tick{50};
  // How long what is owed may wait for the program's next send while the helper moves the data.
  std::chrono::microseconds ride{100};
  LookInterval look{};
};

class Driver final : private transport::Interruptible {
 public:
  explicit Driver(const DriverOptions& options);
  // The driver has been stopped or abandoned by now, and every watch and timer is gone.
  ~Driver() override;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Creates loop, wake-up descriptor and helper thread at the first call. Any thread.
  Status Start();
  bool started() const { return started_.load(std::memory_order_acquire); }

  // The functions of transport::Adapter. `hot` is the set of the queue that the thread looks at.
  transport::ProgressResult Spin(HotSet* hot, LoopClock::time_point deadline,
                                 LoopClock::time_point* until);
  transport::ProgressResult Poll(HotSet* hot);
  transport::ProgressResult Progress(transport::Waiter* waiter, LoopClock::time_point deadline);
  transport::ProgressResult LookAround();
  int ProgressDescriptor();

  DriverToken& token() { return token_; }
  EventLoop& loop() { return loop_; }  // needs the token
  HotSet& hot() { return *hot_; }      // of threads that look at no queue
  CallerActivity& callers() { return activity_; }
  DriverCounters& counters() { return counters_; }

  // Any thread; QP locks may be held. `channel` has messages for a gathered write. kHelper wakes
  // the helper, which makes sure that they leave soon. kNobody means that they are expected to
  // leave by themselves, so the helper's next tick is soon enough.
  enum class Wake : uint8_t { kHelper, kNobody };
  void DeferSends(Channel* channel, Wake wake = Wake::kHelper);
  // Whether the helper looks around now and then without being woken. On a busy machine it spends
  // much of its time waiting for a processor between two sleeps, and that counts as well.
  bool HelperTicks() const {
    const HelperSleep::Kind kind = helper_sleep_.kind();
    return kind != HelperSleep::Kind::kDeep && kind != HelperSleep::Kind::kDriving;
  }
  // Whether the helper sleeps until it is woken.
  bool HelperRests() const { return helper_sleep_.kind() == HelperSleep::Kind::kDeep; }
  // Any thread; QP locks may be held. A post wrote what had gathered on its queue pair. The helper
  // leaves callers alone that do so. A lost increment does no harm.
  void NoteFlush() {
    flushes_.store(flushes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // Any thread; QP locks may be held. `channel` has a few bytes that may ride on what is sent next.
  void Owe(Channel* channel);
  // How long a channel may leave what it owes with Channel::Patience::kRide, give or take as much.
  std::chrono::microseconds ride() const { return options_.ride; }
  // The process exits: pays what is owed. Waits a little for threads that are paying, since they
  // end with the process. It does not wait long, since one of them may be the caller.
  void PayAtExit();
  // The process exits by the calling thread, which waits from now on. If it has the token, because
  // it was in an upcall, RunAtExit() may use it.
  void LendTokenAtExit() { token_is_lent_.store(token_.HeldByMe(), std::memory_order_seq_cst); }
  // The process exits: runs `task` with the token, on this thread, or on the one that has the
  // token. That one may never let go of it, so it is waited for until `deadline`.
  void RunAtExit(LoopClock::time_point deadline, std::function<void()> task);
  // Any thread; QP locks may be held. The holder of the token soon calls channel->Attend().
  void RequestAttention(Channel* channel);
  // Any thread. `task` soon runs with the token, on some thread. If the driver stops first, the
  // task is destroyed. Returns false when the driver has already stopped.
  bool Post(std::function<void()> task);

  // For a post of the queue pair that has the queues `own` and `other_own`. A post that finds no
  // progress since the one before knows that earlier work is still unreaped, and gathers. Progress
  // is made by who polls one of these queues, or a queue that nothing has come for yet, by who
  // waits, and by the posting thread, whatever it polls. The polls of other threads for other
  // queues that work do not count. They say nothing of this program's burst, and to count them
  // would cost both threads a cache line for each message.
  Epoch EpochFor(const HotSet* own, const HotSet* other_own) const {
    uint32_t polls = epoch_.load(std::memory_order_relaxed) + hot_->polls();
    if (own != nullptr) polls += own->polls();
    if (other_own != nullptr) polls += other_own->polls();
    return {.common = polls, .thread = &t_polls, .polls = t_polls};
  }

  // With the token, in a handler of a look at all sockets: it is one in passing. Its thread has
  // data of its own to look for, and will look again. So it leaves a socket that another thread is
  // busy with. That one reads it, or a later look finds it still ready. A thread that sleeps when
  // it has found nothing looks thoroughly.
  bool LooksInPassing() const { return in_passing_; }

  // With the token: a handler found data on `channel` while looking at all sockets. `own` are the
  // sets of the queues that it feeds; null: none.
  void FoundByTurn(Channel* channel, HotSet* own = nullptr, HotSet* other_own = nullptr);
  // With the token: `channel` is closed, so polls forget it.
  void DropHot(Channel* channel, HotSet* own = nullptr, HotSet* other_own = nullptr);

  // With the token: keeps an object alive until no handler is running any more. A handler needs
  // this to end its own object.
  void DeleteLater(std::shared_ptr<void> object) { trash_.push_back(std::move(object)); }

  // Joins the helper. No caller is inside any more, and none will come, so what follows needs no
  // token.
  void StopHelper();
  // The same, and releases every channel.
  void Stop();

  // In a forked child. The destructor must not touch the helper, which does not exist here.
  void Abandon();

 private:
  // What the thread in the loop does now, for those who may have to wake it.
  enum class Blocked : uint8_t { kNo, kLong, kShort };

  using Result = transport::ProgressResult;

  // Loops that find work in every round look at the rest once in this many rounds: at the time, or
  // at sockets and timers. It is so rare that a message does not pay for it.
  static constexpr int kMostBusyRounds = 8;

  void Interrupt() override;  // of Waiter and DriverToken: wakes the blocked thread
  void Kick();

  enum class Look : uint8_t { kHotStreams, kEverywhere, kThoroughly };
  // What a look does with a socket that another thread is busy with. See LooksInPassing().
  enum class Busy : uint8_t { kLeave, kAwait };

  // A wait that spins leaves so many polls to hot streams, and after that looks at all sockets as
  // often as this.
  static constexpr uint32_t kForHotStreams = 8;
  static constexpr uint32_t kLater = 4;

  Result PollOnce(HotSet* hot, Look look = Look::kHotStreams);
  bool LookForPoller(HotSet* hot, Busy busy);
  Result Wait(transport::Waiter* waiter, LoopClock::time_point deadline);
  Result Drive(transport::Waiter* waiter, LoopClock::time_point deadline, ParkedThread* self,
               bool* holding, const CancelOff& cancel);
  std::optional<Result> ParkForToken(transport::Waiter* waiter, LoopClock::time_point deadline,
                                     ParkedThread* self, bool* holding, const CancelOff& cancel);
  // Sleeps in the loop once, or not at all when there is something to do.
  EventLoop::BlockResult BlockOnce(transport::Waiter* waiter, LoopClock::time_point deadline,
                                   const CancelOff& cancel);
  void Yield();
  Look WhereToSpin(const HotSet& own) const;
  uint32_t SpinInterval(uint32_t in_vain) const;
  void AskHelperToLeave();
  bool Turn(Busy busy);  // token held: looks at all sockets, attends
  // Token held: the same, if this thread is in an upcall of such a look.
  bool TurnInUpcall(HotSet* hot, Busy busy);
  void Dispatch();   // token held: handlers of what was seen, attention, trash
  void AttendAll();  // token held
  bool Attending() const { return next_to_attend_ < attending_.size(); }
  void AnnounceDeferred();
  bool FlushDeferred(Channel::Flusher by);
  // To be called when nothing was found to do. Pays what is owed.
  bool PayOwed(Channel::Patience patience = Channel::Patience::kWait);
  bool PayAfterTurn(bool worked);
  // The helper drives: pays what is owed, unless the program may soon send something.
  bool PayOrLeave();
  bool CallersFlush();  // helper thread
  void NoteProgress() { epoch_.fetch_add(1, std::memory_order_relaxed); }
  void RunHelper();
  void HelperDrive(const CancelOff& cancel);
  void WakeHelper();

  // The polls of this thread, whatever the queue and the adapter. It may wrap.
  static constinit thread_local uint32_t t_polls SOFTDAT_EARLY_TLS;

  const DriverOptions options_;
  SpinLimit spin_limit_{options_.spin};
  DriverCounters counters_;
  DriverToken token_;
  const RefPtr<HotSet> hot_ = RefPtr<HotSet>::Adopt(new HotSet(HotSet::Tells::kYes));
  ChannelStack deferred_{0};
  ChannelStack attention_{1};
  ChannelStack owing_{3};
  std::atomic<bool> token_is_lent_{false};
  std::atomic<int> paying_{0};  // threads that may have taken from owing_ and not paid yet

  // Serialises Start().
  std::mutex start_mutex_;
  std::atomic<bool> started_{false};
  bool abandoned_ = false;

  // Used with the token.
  EventLoop loop_{&counters_};
  UniqueFd wake_fd_;
  std::optional<SocketWatch> wake_watch_;
  bool worked_ = false;
  bool in_passing_ = false;    // see LooksInPassing()
  bool found_ = false;         // whether the last sleep ended with data on some channel
  int handlers_running_ = 0;   // depth of dispatching; it grows when an upcall waits or polls
  HotSet* polling_ = nullptr;  // of the polling thread that looks at all sockets
  AdopterList adopters_;
  std::vector<std::shared_ptr<void>> trash_;
  // So many need no memory: on a busy machine some come together long after the start.
  static constexpr size_t kAttendingAtOnce = 128;
  // Taken from attention_, of which those before next_to_attend_ were attended.
  std::vector<RefPtr<Channel>> attending_;
  size_t next_to_attend_ = 0;
  int sleepless_rounds_ = 0;  // rounds that looked at no socket since something was pending
  LoopClock::time_point short_until_{};  // sends were deferred, so ticks are short until then

  // The thread in the loop sets it before its last look at what may be pending. Whoever sets it to
  // kNo writes the wake-up descriptor.
  std::atomic<Blocked> blocked_{Blocked::kNo};
  CallerActivity activity_;
  // Turns in a row that found something while something was owed. A lost update does no harm.
  std::atomic<uint32_t> busy_turns_{0};
  // Counts progress other than polls. See EpochFor(). Each post reads it, so it has a cache line
  // apart from what is written for each message.
  alignas(64) std::atomic<uint32_t> epoch_{1};
  // The content of deferred_ relies on the helper. Set after a push, cleared before the stack is
  // emptied.
  alignas(64) std::atomic<bool> announced_{false};
  // Counts how often deferred_ was emptied and how often a post wrote gathered sends. It tells the
  // helper whether callers do that themselves.
  std::atomic<uint32_t> flushes_{0};
  // Of the helper thread: flushes_ at its last look, and the number of looks in a row after which
  // it left deferred sends to the callers.
  uint32_t seen_flushes_ = 0;
  int left_to_callers_ = 0;

  // Guards tasks_ and closed_to_tasks_.
  std::mutex tasks_mutex_;
  bool closed_to_tasks_ = false;
  std::vector<std::function<void()>> tasks_;
  std::atomic<bool> have_tasks_{false};

  HelperSleep helper_sleep_{&token_, &deferred_, &announced_, &owing_};
  // The helper must end. Set before the helper is woken for that.
  std::atomic<bool> stop_{false};
  // A polling caller wants the loop in which the helper sleeps.
  std::atomic<bool> evict_helper_{false};
  // Polling callers have found something since the helper took the loop, or was asked to leave it.
  // A lost update does no harm.
  std::atomic<bool> found_by_poll_{false};
  // Somebody may be asleep in the loop's descriptor.
  std::atomic<bool> descriptor_lent_{false};
  // The helper, while it drives: when it looks again at what it left; zero if that is nothing.
  LoopClock::time_point ride_until_{};
  std::thread helper_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_DRIVER_H_
