// SPDX-License-Identifier: BSD-3-Clause
// EventLoop, SocketWatch, LoopTimer over libuv 1.44.
#include "provider_softnet/driver/event_loop.h"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <new>
#include <utility>

#include "dat/base/descriptor.h"
#include "provider_softnet/driver/descriptor_limit.h"

namespace softdat::softnet {
namespace {

constexpr int kBatch = 64;

// Milliseconds for epoll_wait when the kernel does not take nanoseconds. Rounded up, so that a
// deadline has passed when the sleep ends.
int RoundUpMs(std::chrono::nanoseconds left) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::min<int64_t>(ms, 3'600'000));
}

constexpr auto kWithoutEnd = std::chrono::nanoseconds::max();

std::atomic<bool> g_no_pwait2{false};  // set when the kernel is older than 5.11

// Sleeps in an epoll descriptor, like epoll_wait, but to the nanosecond if the kernel can.
int SleepIn(int epoll_fd, epoll_event* events, int max, std::chrono::nanoseconds left) {
  if (left == kWithoutEnd) return epoll_pwait(epoll_fd, events, max, -1, nullptr);
  if (!g_no_pwait2.load(std::memory_order_relaxed)) {
    timespec ts{};
    ts.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000);
    ts.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
    const int n = epoll_pwait2(epoll_fd, events, max, &ts, nullptr);
    if (n >= 0 || (errno != ENOSYS && errno != EPERM)) return n;
    g_no_pwait2.store(true, std::memory_order_relaxed);
  }
  return epoll_pwait(epoll_fd, events, max, RoundUpMs(left), nullptr);
}

// How many watchers libuv has room for after it had to watch `fd`. It keeps two more entries.
size_t WatchersFor(int fd) { return std::bit_ceil(static_cast<size_t>(fd) + 3) - 2; }

// Whether there is memory for libuv's table of so many watchers. libuv ends the process when there
// is none.
bool RoomForWatchers(size_t count) {
  void* const room = malloc((count + 2) * sizeof(void*));
  free(room);
  return room != nullptr;
}

// Returns 0, or a libuv error when uv_loop_init() may not find what it needs. That function ends
// the process when there is no memory for its watchers, or no descriptor for the pipe of its
// signals, which it makes once in a process.
int RoomForALoop() {
  constexpr int kOwnMemory = 4096;  // the rest of what libuv allocates
  // libuv needs its epoll descriptor, two pipes and an eventfd. Two more are for threads that open
  // one just now.
  std::array<int, 8> made;
  size_t count = 0;
  int error = 0;
  while (count < made.size() && error == 0) {
    made[count] = eventfd(0, EFD_CLOEXEC);
    if (made[count] < 0) {
      error = errno;
    } else {
      ++count;
    }
  }
  const int highest = count > 0 ? *std::max_element(made.begin(), made.begin() + count) : 0;
  for (size_t i = 0; i < count; ++i) close(made[i]);
  if (error != 0) return uv_translate_sys_error(error);
  return RoomForWatchers(WatchersFor(highest) + kOwnMemory / sizeof(void*)) ? 0 : UV_ENOMEM;
}

// The same as uv_loop_init(), but it never ends the process.
int InitLoop(uv_loop_t* loop) {
  const StandardDescriptorsTaken taken;
  if (taken.error() != 0) return uv_translate_sys_error(taken.error());
  const int rc = RoomForALoop();
  return rc != 0 ? rc : uv_loop_init(loop);
}

}  // namespace

struct SocketWatch::Handle {
  uv_poll_t poll;
  SocketWatch* owner;
};

void LoopEvent::Forget() {
  if (previous == nullptr) return;
  previous->next = next;
  next->previous = previous;
  previous = next = nullptr;
}

Status SocketWatch::Start(int fd, int events) {
  Stop();
  if (!loop_->MakeRoomFor(fd)) return Status(Code::kNoResources, "no memory to watch a socket");
  auto* handle = new (std::nothrow) Handle{};
  if (handle == nullptr) return Status(Code::kNoResources, "no memory to watch a socket");
  handle->owner = this;
  const int rc = uv_poll_init(&loop_->loop_, &handle->poll, fd);
  if (rc != 0) {
    delete handle;
    return Status(Code::kNoResources, fmt::format("cannot watch a socket: {}", uv_strerror(rc)));
  }
  handle_ = handle;
  fd_ = fd;
  loop_->by_fd_[static_cast<size_t>(fd)] = this;
  events_ = 0;
  Update(events);
  return Status::Ok();
}

void SocketWatch::Update(int events) {
  if (handle_ == nullptr || events == events_) return;
  events_ = events;
  if (events == 0) {
    uv_poll_stop(&handle_->poll);
  } else {
    uv_poll_start(&handle_->poll, events, &EventLoop::OnPoll);
  }
  loop_->needs_uv_run_ = true;
}

void SocketWatch::TakeOver(SocketWatch* other) {
  Stop();
  if (!other->active()) return;
  fd_ = other->fd_;
  events_ = other->events_;
  handle_ = other->Forsake();
  handle_->owner = this;
  loop_->by_fd_[static_cast<size_t>(fd_)] = this;
}

void SocketWatch::Stop() {
  if (!active()) return;
  Handle* const handle = Forsake();
  handle->owner = nullptr;
  // Takes the descriptor out of epoll at once. The memory is freed when libuv reports the close.
  uv_close(reinterpret_cast<uv_handle_t*>(&handle->poll),
           [](uv_handle_t* h) { delete reinterpret_cast<Handle*>(h); });
  loop_->needs_uv_run_ = true;
}

SocketWatch::Handle* SocketWatch::Forsake() {
  Forget();
  loop_->by_fd_[static_cast<size_t>(fd_)] = nullptr;
  fd_ = -1;
  events_ = happened_ = 0;
  failed_ = false;
  return std::exchange(handle_, nullptr);
}

void SocketWatch::Fire() {
  const int events = failed_ ? kError : happened_ & events_;
  happened_ = 0;
  failed_ = false;
  if (events != 0) handler_(events);
}

void LoopSource::Awake() {
  idle_looks_ = 0;
  if (std::exchange(awake_, true)) return;
  next_ = loop_->first_awake_;
  if (next_ != nullptr) next_->previous_ = this;
  loop_->first_awake_ = this;
}

void LoopSource::Rest() {
  if (!std::exchange(awake_, false)) return;
  (previous_ != nullptr ? previous_->next_ : loop_->first_awake_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  next_ = previous_ = nullptr;
}

void LoopSource::Stop() {
  Forget();
  Rest();
}

// Its place is made here, so that the first start needs no memory either.
LoopTimer::LoopTimer(EventLoop* loop, Handler handler) : loop_(loop), handler_(std::move(handler)) {
  LoopTimers place;
  place.insert(this);
  resting_ = place.extract(place.begin());
}

void LoopTimer::Start(std::chrono::microseconds delay) {
  constexpr std::chrono::microseconds kLongest = std::chrono::hours(24 * 365);
  Stop();  // also drops an expiry of the earlier start that was not handled yet
  due_ = LoopClock::now() + std::clamp(delay, std::chrono::microseconds(0), kLongest);
  at_ = loop_->timers_.insert(std::move(resting_));
  running_ = true;
}

void LoopTimer::Stop() {
  Forget();
  if (!running_) return;
  running_ = false;
  resting_ = loop_->timers_.extract(at_);
}

void LoopTimer::Fire() { handler_(); }

bool EventLoop::SleepsExactly() { return !g_no_pwait2.load(std::memory_order_relaxed); }

Status EventLoop::Open() {
  int rc;
  do {
    rc = InitLoop(&loop_);
  } while (rc == UV_EMFILE && RaiseDescriptorLimit());
  if (rc != 0) {
    return Status(Code::kNoResources,
                  fmt::format("cannot create an event loop: {}", uv_strerror(rc)));
  }
  epoll_fd_ = uv_backend_fd(&loop_);
  open_ = true;
  return Status::Ok();
}

EventLoop::~EventLoop() {
  if (!open_) return;
  // Every watch and timer is gone by now. What remains are handles whose close libuv has not
  // reported yet.
  while (uv_loop_close(&loop_) == UV_EBUSY) uv_run(&loop_, UV_RUN_NOWAIT);
}

bool EventLoop::Readable() const {
  pollfd p{epoll_fd_, POLLIN, 0};
  timespec now{};
  // A raw system call, because poll() is a cancellation point.
  return syscall(SYS_ppoll, &p, 1, &now, nullptr, 0) > 0;
}

// Grows by_fd_ in step with libuv's own table, so that there is memory for that table, too.
bool EventLoop::MakeRoomFor(int fd) {
  if (static_cast<size_t>(fd) < by_fd_.size()) return true;
  const size_t size = WatchersFor(fd);
  if (!RoomForWatchers(2 * size)) return false;  // for both tables
  try {
    by_fd_.resize(size);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return RoomForWatchers(size);
}

void EventLoop::OnPoll(uv_poll_t* handle, int status, int) {
  SocketWatch* watch = reinterpret_cast<SocketWatch::Handle*>(handle)->owner;
  if (watch == nullptr) return;
  // libuv passes an error off as what was watched. The set itself says more.
  watch->loop_->found_by_uv_ = true;
  if (status >= 0) return;
  // libuv has stopped the watch. The handler's own system call will say what is wrong.
  watch->failed_ = true;
  watch->events_ = 0;
  watch->loop_->Note(watch);
}

void EventLoop::NoteExpired(LoopClock::time_point now) {
  while (!timers_.empty() && (*timers_.begin())->due_ <= now) {
    LoopTimer* const timer = *timers_.begin();
    timer->Stop();
    Note(timer);
  }
}

void EventLoop::Note(LoopEvent* event) {
  if (event->previous != nullptr) return;
  event->previous = happened_.previous;
  event->next = &happened_;
  happened_.previous->next = event;
  happened_.previous = event;
}

void EventLoop::NoteReady(int fd, uint32_t epoll_events) {
  SocketWatch* watch =
      static_cast<size_t>(fd) < by_fd_.size() ? by_fd_[static_cast<size_t>(fd)] : nullptr;
  if (watch == nullptr) {  // one of libuv's own descriptors
    needs_uv_run_ = true;
    return;
  }
  if ((epoll_events & EPOLLIN) != 0) watch->happened_ |= kReadable;
  if ((epoll_events & EPOLLOUT) != 0) watch->happened_ |= kWritable;
  if ((epoll_events & EPOLLRDHUP) != 0) watch->happened_ |= kHangup;
  if ((epoll_events & (EPOLLERR | EPOLLHUP)) != 0) watch->failed_ = true;
  Note(watch);
}

bool EventLoop::RunUv() {
  counters_->uv_runs.Add();
  needs_uv_run_ = found_by_uv_ = false;
  uv_run(&loop_, UV_RUN_NOWAIT);
  return found_by_uv_;
}

// A source that was silent for many looks rests, so that those of idle connections cost nothing.
void EventLoop::LookAtSources() {
  constexpr uint32_t kMostIdleLooks = 64;
  const bool show = show_sources_.load(std::memory_order_relaxed);
  for (LoopSource *source = first_awake_, *next; source != nullptr; source = next) {
    next = source->next_;
    if (source->IsReady()) {
      source->idle_looks_ = 0;
      Note(source);
    } else if (show || ++source->idle_looks_ >= kMostIdleLooks) {
      if (source->Herald()) {
        source->Rest();
      } else {
        Note(source);
      }
    }
  }
}

// Returns whether a thread may sleep.
bool EventLoop::HeraldSources() {
  bool all = true;
  for (LoopSource *source = first_awake_, *next; source != nullptr; source = next) {
    next = source->next_;
    if (source->Herald()) {
      source->Rest();
    } else {
      Note(source);
      all = false;
    }
  }
  return all;
}

[[gnu::hot]] void EventLoop::Look() {
  ++looks_;
  if (first_awake_ != nullptr) LookAtSources();
  if (!timers_.empty()) NoteExpired(LoopClock::now());
  if (needs_uv_run_ && !RunUv()) return;
  epoll_event events[kBatch];
  // A timeout of zero never sleeps. It must not be a place to be cancelled, so the caller holds a
  // CancelOff.
  const int n = epoll_pwait(epoll_fd_, events, kBatch, 0, nullptr);
  for (int i = 0; i < n; ++i) NoteReady(events[i].data.fd, events[i].events);
  if (needs_uv_run_) RunUv();
}

EventLoop::BlockResult EventLoop::Block(LoopClock::time_point until, const CancelOff& cancel) {
  ++looks_;
  // The time is needed for the length of the sleep. It also shows what is already due, which would
  // never be noticed while some socket is always ready.
  constexpr auto kNever = LoopClock::time_point::max();
  const bool timed = until != kNever || !timers_.empty();
  const LoopClock::time_point now = timed ? LoopClock::now() : LoopClock::time_point{};
  const bool late = until <= now;
  bool timer_first = false;
  bool timer_due = false;
  if (!timers_.empty()) {
    const LoopClock::time_point due = (*timers_.begin())->due_;
    timer_due = due <= now;
    timer_first = due < until;
    until = std::min(until, due);
  }
  const std::chrono::nanoseconds left =
      until == kNever
          ? kWithoutEnd
          : std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(until - now));
  const bool may_sleep = HeraldSources();
  epoll_event events[kBatch];
  int n;
  counters_->blocking_waits.Add();
  {
    const CancelRestored cancellation_point(cancel);
    n = SleepIn(epoll_fd_, events, kBatch, may_sleep ? left : std::chrono::nanoseconds(0));
  }
  if (n < 0) {
    counters_->interruptions.Add();
    return BlockResult::kInterrupted;
  }
  for (int i = 0; i < n; ++i) NoteReady(events[i].data.fd, events[i].events);
  if (needs_uv_run_) RunUv();
  if (timer_due || (n == 0 && timer_first && may_sleep)) NoteExpired(LoopClock::now());
  return late || (n == 0 && !timer_first && may_sleep) ? BlockResult::kTimedOut
                                                       : BlockResult::kReady;
}

// Runs only what is there now, because a handler that makes new events must not keep this from
// ending. Such events stay in happened_, and destructors unlink events from either list. A handler
// that waits dispatches too. What it waits for may have happened together with its own event, so it
// runs the rest of the list that is being run.
[[gnu::hot]] void EventLoop::Dispatch() {
  if (happened_.next != &happened_) {
    happened_.next->previous = running_.previous;
    happened_.previous->next = &running_;
    running_.previous->next = happened_.next;
    running_.previous = happened_.previous;
    happened_.next = happened_.previous = &happened_;
  }
  while (running_.next != &running_) {
    auto* event = static_cast<LoopEvent*>(running_.next);
    event->Forget();
    event->Fire();
  }
}

}  // namespace softdat::softnet
