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
  // A peer that computes answers by its helper thread, which looks around every other
  // millisecond.
  static constexpr uint64_t kShortestUs = 3000;
  static constexpr uint64_t kFirstUs = 20000;
  // The same for a probe, which is one packet and costs little if it was not needed. A peer that
  // computes is noticed by its late answers, and by probes that were not needed.
  static constexpr uint64_t kShortestProbeUs = 300;
  static constexpr uint64_t kFirstProbeUs = 4000;
  // And for one in place of an answer that the peer gives at once.
  static constexpr uint64_t kShortestQuickProbeUs = 100;

  // `longest_us`: what the peer's coded time-out allows.
  explicit RoundTrip(uint64_t longest_us) : longest_us_(longest_us) {}

  // One round trip was measured. Not to be called for a packet that was sent twice (Karn).
  void OnSample(uint64_t us) {
    doubts_ = 0;
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

  // A probe leaves. The answer to it shows no round trip, so the next one waits for longer until
  // one is measured again: the answers of a peer that now computes would never be measured.
  void OnProbe() { doubts_ = std::min(doubts_ + 1, kMostDoubts); }

  // When the oldest packet is sent again, ahead of the time-out: two round trips (RFC 8985, 7.2),
  // and what they vary by.
  uint64_t probe_us() const { return ProbeUs(kShortestProbeUs); }
  uint64_t quick_probe_us() const { return ProbeUs(kShortestQuickProbeUs); }
  uint64_t timeout_us() const {
    const uint64_t estimate = smoothed_us_ == 0 ? kFirstUs : smoothed_us_ + 4 * variation_us_;
    return std::min(std::max(estimate, kShortestUs) << back_off_, longest_us_);
  }

 private:
  static constexpr uint32_t kMostDoublings = 10;
  static constexpr uint32_t kMostDoubts = 4;

  uint64_t ProbeUs(uint64_t shortest_us) const {
    const uint64_t estimate =
        smoothed_us_ == 0 ? kFirstProbeUs : 2 * smoothed_us_ + 4 * variation_us_;
    return std::min(std::max(estimate, shortest_us << doubts_), timeout_us());
  }

  const uint64_t longest_us_;
  uint64_t smoothed_us_ = 0;  // 0: nothing was measured yet
  uint64_t variation_us_ = 0;
  uint32_t back_off_ = 0;
  uint32_t doubts_ = 0;  // probes since the last sample
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_ROUND_TRIP_H_
