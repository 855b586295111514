// SPDX-License-Identifier: BSD-3-Clause
// A graceful disconnect waits until the peer has carried out the posted work. The judge compares
// looks at that work. If the peer takes nothing for several looks, it will not take anything later.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_DRAIN_JUDGE_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_DRAIN_JUDGE_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace softdat::softnet {

class DrainJudge {
 public:
  // Work that the peer has not taken.
  struct Untaken {
    uint64_t sent = 0;  // bytes that the link took
    int under_way = 0;  // of these, bytes that the peer's end does not have
    uint32_t work = 0;  // requests that are not over
    bool operator==(const Untaken&) const = default;
  };

  void Begin() { *this = DrainJudge(); }
  // The time between two looks.
  static std::chrono::milliseconds Pause(std::chrono::milliseconds limit) {
    return std::max(limit / kLooks, std::chrono::milliseconds(1));
  }
  // Whether the peer has taken nothing for the whole limit.
  bool IsStuck(const Untaken& now) {
    idle_looks_ = now == before_ ? idle_looks_ + 1 : 0;
    before_ = now;
    return idle_looks_ >= kLooks;
  }

 private:
  static constexpr int kLooks = 4;

  Untaken before_;
  int idle_looks_ = 0;  // looks in a row without a change
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_DRAIN_JUDGE_H_
