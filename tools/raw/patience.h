// SPDX-License-Identifier: BSD-3-Clause
// How one end of a job spins while it waits for the other.
#ifndef SOFTDAT_TOOLS_RAW_PATIENCE_H_
#define SOFTDAT_TOOLS_RAW_PATIENCE_H_

#include <sched.h>

#include <chrono>
#include <cstdint>

namespace softdat::tools {

inline constexpr std::chrono::seconds kPatience(5);

// Counts the looks of one wait. As long as something comes soon, this costs only a counter.
class Patience {
 public:
  // After this number of looks in vain, the CPU is left to others, because one of them may be the
  // other end.
  explicit Patience(uint32_t looks) : looks_(looks) {}

  // To be called after a look in vain. Returns true if the CPU was left to others meanwhile. Then
  // there is also time to ask whether waiting makes sense.
  bool Pause() {
    if (++count_ % looks_ != 0) [[likely]]
      return false;
    sched_yield();
    return true;
  }
  // Whether kPatience has passed since the first call of this function.
  bool IsOver() {
    const auto now = std::chrono::steady_clock::now();
    if (first_asked_ == std::chrono::steady_clock::time_point()) first_asked_ = now;
    return now - first_asked_ > kPatience;
  }

 private:
  const uint32_t looks_;
  uint32_t count_ = 0;
  std::chrono::steady_clock::time_point first_asked_;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RAW_PATIENCE_H_
