// SPDX-License-Identifier: BSD-3-Clause
// Makes the connection, listener and asynchronous upcalls of one adapter, one at a time and in
// order. A thread in Progress() makes them. If there is none, a worker does, so that a program that
// makes no DAT call is served, too.
#ifndef SOFTDAT_PROVIDER_TOY_DISPATCHER_H_
#define SOFTDAT_PROVIDER_TOY_DISPATCHER_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "dat/backend_kit/upcall_gate.h"
#include "dat/transport/transport.h"

namespace softdat::toy {

// When a timeout that begins now is over. If that lies beyond the clock, never.
transport::Clock::time_point DeadlineOf(std::chrono::microseconds timeout);

class Dispatcher {
 public:
  using TimerId = std::pair<transport::Clock::time_point, uint64_t>;

  Dispatcher();
  // Drops the queued upcalls.
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Queues an upcall. May be called with the fabric's lock held (lock order: fabric, dispatcher).
  void Post(std::shared_ptr<UpcallGate> gate, std::function<void()> upcall);

  // Queues an upcall that must not be made before `when`.
  TimerId PostAt(transport::Clock::time_point when, std::shared_ptr<UpcallGate> gate,
                 std::function<void()> upcall);
  void Cancel(const TimerId& timer);

  // Makes the queued upcalls with the calling thread. Returns false when there were none, or when
  // another thread (or this one, further up its stack) is making them.
  bool RunPending();

  // To be called in a forked child, where the worker does not exist and the mutex may be held for
  // ever.
  void AbandonAfterFork() { abandoned_ = true; }

 private:
  struct Upcall {
    std::shared_ptr<UpcallGate> gate;
    std::function<void()> function;
  };
  class Turn;

  void Work();

  std::mutex mutex_;  // protects everything below
  std::condition_variable changed_;
  std::deque<Upcall> queue_;
  std::map<TimerId, Upcall> timers_;
  uint64_t last_timer_ = 0;
  bool busy_ = false;  // a thread makes upcalls; this serialises them
  bool stop_ = false;

  bool abandoned_ = false;  // written only in a child with one thread
  std::thread worker_;
};

}  // namespace softdat::toy

#endif  // SOFTDAT_PROVIDER_TOY_DISPATCHER_H_
