// SPDX-License-Identifier: BSD-3-Clause
// What the driver counts. The design promises system calls and wake-ups per operation, and tests
// check the promises against these numbers. They go to the log when an adapter closes.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_COUNTERS_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_COUNTERS_H_

#include <atomic>
#include <cstdint>
#include <string>

namespace softdat::softnet {

// One event count. It is relaxed and not a read-modify-write: concurrent increments may lose one. A
// statistic can bear that, and the data path would otherwise pay for it.
class Counter {
 public:
  void Add(uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// Counters of one adapter's driver.
struct DriverCounters {
  Counter loop_turns;      // non-blocking looks at all sockets
  Counter uv_runs;         // uv_run(NOWAIT)
  Counter blocking_waits;  // sleeps in the loop's descriptor
  Counter interruptions;   // those that a signal handler ended
  Counter parked_waits;    // waits behind another driving thread
  Counter hand_overs;      // of the loop to a parked thread
  Counter kicks;           // writes to the wake-up descriptor
  Counter helper_ticks;    // short sleeps of the helper after which callers were active
  Counter helper_wakeups;  // wake-ups of the helper by a caller
  Counter helper_drives;   // times the helper took the loop
  Counter helper_flushes;  // helper's sleeps that ended with deferred sends to flush
  Counter sockets_opened;
  Counter sockets_closed;

  std::string Text() const;
};

// Counters of one stream. The log has their sums, and tests read them.
struct ChannelCounters {
  Counter send_calls;
  Counter recv_calls;
  Counter recv_empty;  // those that found nothing
  Counter bytes_sent;
  Counter bytes_received;
  Counter inline_sends;    // posts that wrote to the socket themselves
  Counter deferred_sends;  // posts that left their message to a later gathered write
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_COUNTERS_H_
