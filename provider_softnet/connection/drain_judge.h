// SPDX-License-Identifier: BSD-3-Clause
// A graceful disconnect waits for the peer to carry out what was posted. This judges looks at it: a
// peer that has taken nothing for several of them will not.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_DRAIN_JUDGE_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_DRAIN_JUDGE_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace softdat::softnet {

class DrainJudge {
 public:
  // What the peer has not taken.
  struct Untaken {
    uint64_t sent = 0;  // bytes that the link took
    int under_way = 0;  // of these, what the peer's end does not have
    uint32_t work = 0;  // requests that are not over
    bool operator==(const Untaken&) const = default;
  };

  void Begin() { *this = DrainJudge(); }
  // How long to wait between two looks.
  static std::chrono::milliseconds Pause(std::chrono::milliseconds limit) {
    return std::max(limit / kLooks, std::chrono::milliseconds(1));
  }
  // Whether the peer took nothing for the limit.
  bool IsStuck(const Untaken& now) {
    idle_looks_ = now == before_ ? idle_looks_ + 1 : 0;
    before_ = now;
    return idle_looks_ >= kLooks;
  }

 private:
  static constexpr int kLooks = 4;

  Untaken before_;
  int idle_looks_ = 0;  // in a row that found the same
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_DRAIN_JUDGE_H_
