// SPDX-License-Identifier: BSD-3-Clause
// Who waits for the events of an adapter: a thread in a blocking call, so that what it waits for
// needs no other thread, or else a thread in the background.
//
// The background thread steps back while calls come. A call that finds it waiting wakes it up and
// takes its place. It takes over again a moment after the last call.
#ifndef SOFTDAT_RDS_API_DRIVER_H_
#define SOFTDAT_RDS_API_DRIVER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "rds/link/adapter.h"
#include "rds/socket/peer.h"

namespace softdat::rds {

Time Now();

// What a driver needs from the library. All of it is called with the lock held.
class Driver;
class DriverHost {
 public:
  DriverHost() = default;
  DriverHost(const DriverHost&) = delete;
  DriverHost& operator=(const DriverHost&) = delete;

  // A turn: a wait for events, and what they do.
  virtual void BeforeWait() = 0;
  virtual void AfterWait(Time now) = 0;
  // After a turn in the background.
  virtual void EndTurn(const Driver& driver, Time now) = 0;
  // And then: lets go of the lock to wake those who will want it.
  virtual void WakeProgram(std::unique_lock<std::mutex>& lock) = 0;
  virtual std::optional<Time> deadline() const = 0;
  // RDS's service at the address of this adapter is this process's from now on.
  virtual void OnHold(Adapter& adapter) = 0;

 protected:
  ~DriverHost() = default;
};

class Driver {
 public:
  // `mutex`: the library's, which every call below expects to be held.
  Driver(Adapter* adapter, std::mutex* mutex, DriverHost* host);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  // Never: a driver lives as long as the process.
  ~Driver() = delete;

  enum class Result : uint8_t {
    kTurn,         // something may have happened
    kInterrupted,  // by a signal
    kBusy,         // another call waits for events
  };
  // Waits for events until `until`, without the lock, and handles them. What they leave to be done
  // the caller does (Library::Settle).
  Result Drive(std::unique_lock<std::mutex>& lock, std::optional<Time> until);
  // The turn under way is one of the background thread.
  bool in_background() const { return holder_ == Holder::kBackground; }
  // The call that waits for events, if one does, comes back from Drive.
  void WakeCaller() {
    if (holder_ == Holder::kCaller) adapter_.Wake();
  }

 private:
  enum class Holder : uint8_t { kNobody, kBackground, kCaller };

  void Run();
  void StepBack(std::unique_lock<std::mutex>& lock);
  std::optional<Time> TryToHold(Time now);
  bool Turn(std::unique_lock<std::mutex>& lock, std::optional<Time> until);

  Adapter& adapter_;
  std::mutex& mutex_;
  DriverHost& host_;
  // All under mutex_.
  Holder holder_ = Holder::kNobody;
  uint64_t holds_ = 0;   // how often a call has become the holder
  int callers_ = 0;      // that wait for the background thread to step back
  Time last_call_{};     // when a call has last been the holder
  Time last_turn_{};     // when anybody's wait has last ended
  Time patience_;        // for how long the background thread leaves events alone now
  Time hold_at_{};       // when to try next to become the one whom RDS's service belongs to
  bool parked_ = false;  // the background thread waits to be woken
  std::condition_variable stepped_back_;
  std::condition_variable wake_background_;
  std::thread background_;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_API_DRIVER_H_
