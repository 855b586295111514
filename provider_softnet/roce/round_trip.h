// SPDX-License-Identifier: BSD-3-Clause
// How long to wait for an answer before a packet counts as lost: the estimator of RFC 6298, with
// the bounds of a local network.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_ROUND_TRIP_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_ROUND_TRIP_H_

#include <algorithm>
#include <cstdint>

namespace softdat::softnet {

class RoundTrip {
 public:
  // A peer that computes answers by its helper thread, which looks around every millisecond.
  static constexpr uint64_t kShortestUs = 3000;
  static constexpr uint64_t kFirstUs = 20000;
  // The same for a probe, which is one packet and costs little if it was not needed.
  static constexpr uint64_t kShortestProbeUs = 1500;
  static constexpr uint64_t kFirstProbeUs = 4000;
  // And for one in place of an answer that the peer gives at once.
  static constexpr uint64_t kShortestQuickProbeUs = 300;

  // `longest_us`: what the peer's coded time-out allows.
  explicit RoundTrip(uint64_t longest_us) : longest_us_(longest_us) {}

  // One round trip was measured. Not to be called for a packet that was sent twice (Karn).
  void OnSample(uint64_t us) {
    if (smoothed_us_ == 0) {
      smoothed_us_ = std::max<uint64_t>(us, 1);
      variation_us_ = us / 2;
      return;
    }
    const uint64_t off = us > smoothed_us_ ? us - smoothed_us_ : smoothed_us_ - us;
    variation_us_ = (3 * variation_us_ + off) / 4;
    smoothed_us_ = std::max<uint64_t>((7 * smoothed_us_ + us) / 8, 1);
  }
  void OnTimeout() { back_off_ = std::min(back_off_ + 1, kMostDoublings); }
  void OnProgress() { back_off_ = 0; }

  // When the oldest packet is sent again, ahead of the time-out: two round trips (RFC 8985, 7.2).
  uint64_t probe_us() const {
    const uint64_t estimate = smoothed_us_ == 0 ? kFirstProbeUs : 2 * smoothed_us_;
    return std::min(std::max(estimate, kShortestProbeUs), timeout_us());
  }
  uint64_t quick_probe_us() const {
    if (smoothed_us_ == 0) return probe_us();
    return std::min(std::max(2 * smoothed_us_ + 4 * variation_us_, kShortestQuickProbeUs),
                    probe_us());
  }
  uint64_t timeout_us() const {
    const uint64_t estimate = smoothed_us_ == 0 ? kFirstUs : smoothed_us_ + 4 * variation_us_;
    return std::min(std::max(estimate, kShortestUs) << back_off_, longest_us_);
  }

 private:
  static constexpr uint32_t kMostDoublings = 10;

  const uint64_t longest_us_;
  uint64_t smoothed_us_ = 0;  // 0: nothing was measured yet
  uint64_t variation_us_ = 0;
  uint32_t back_off_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_ROUND_TRIP_H_
