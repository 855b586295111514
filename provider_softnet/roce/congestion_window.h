// SPDX-License-Identifier: BSD-3-Clause
// How many packets may be on their way: slow start, then one more for each window that arrived, and
// half of it after a loss (RFC 5681).
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_CONGESTION_WINDOW_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_CONGESTION_WINDOW_H_

#include <algorithm>
#include <cstdint>

namespace softdat::softnet {

class CongestionWindow {
 public:
  // `most` keeps one connection from filling the receive buffer of the peer's socket.
  CongestionWindow(uint32_t first, uint32_t most)
      : most_(most), threshold_(most), window_(std::min(first, most)) {}

  uint32_t packets() const { return window_; }

  void OnAcknowledged(uint64_t packets) {
    if (window_ >= most_) return;
    if (window_ < threshold_) {
      window_ = static_cast<uint32_t>(std::min<uint64_t>(window_ + packets, most_));
      return;
    }
    credit_ += packets;
    if (credit_ < window_) return;
    credit_ = 0;
    ++window_;
  }
  void OnLoss() {
    threshold_ = std::max(window_ / 2, kLeast);
    window_ = threshold_;
    credit_ = 0;
  }
  void OnTimeout() {
    threshold_ = std::max(window_ / 2, kLeast);
    window_ = kLeast;
    credit_ = 0;
  }

 private:
  static constexpr uint32_t kLeast = 2;

  const uint32_t most_;
  uint32_t threshold_;
  uint32_t window_;
  uint64_t credit_ = 0;  // packets acknowledged since the window grew
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_CONGESTION_WINDOW_H_
