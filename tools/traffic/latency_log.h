// SPDX-License-Identifier: BSD-3-Clause
// Notes how long each iteration takes, while it goes on: one look at the clock, no allocation.
#ifndef SOFTDAT_TOOLS_TRAFFIC_LATENCY_LOG_H_
#define SOFTDAT_TOOLS_TRAFFIC_LATENCY_LOG_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace softdat::tools {

class LatencyLog {
 public:
  // If there are more iterations than `capacity`, keeps evenly spread ones.
  explicit LatencyLog(size_t capacity = 1u << 20) : capacity_(capacity) {}

  // Forgets what it has noted. `iterations` are to come.
  void Start(uint64_t iterations) {
    every_ = iterations / capacity_ + 1;
    left_ = every_;
    nanoseconds_.clear();
    nanoseconds_.reserve(static_cast<size_t>(iterations / every_) + 1);
    last_ = Clock::now();
  }
  // To be called at the end of an iteration, which is the beginning of the next.
  void Lap() {
    const auto now = Clock::now();
    if (--left_ == 0) {
      left_ = every_;
      nanoseconds_.push_back(std::chrono::duration<double, std::nano>(now - last_).count());
    }
    last_ = now;
  }

  const std::vector<double>& nanoseconds() const { return nanoseconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  const size_t capacity_;
  uint64_t every_ = 1;
  uint64_t left_ = 1;
  Clock::time_point last_;
  std::vector<double> nanoseconds_;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_TRAFFIC_LATENCY_LOG_H_
