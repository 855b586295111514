// SPDX-License-Identifier: BSD-3-Clause
// How many packets may be on their way: slow start, then one more for each window that arrived. A
// lost packet takes a thirty-second, and all that are lost in one round trip at most three tenths:
// single losses are no sign of congestion, and many are. So where one packet in a hundred is lost,
// a window of 64 shrinks as fast as it grows.
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
  // A round trip begins in which losses are noticed.
  void OnLossyRound() { floor_ = std::max(window_ * 7 / 10, kLeast); }
  void OnLoss() { Shrink(window_ - std::max(window_ / 32, 1u)); }
  // All that was on its way is sent again.
  void OnLossOfMany() { Shrink(0); }
  void OnTimeout() {
    threshold_ = std::max(window_ / 2, kLeast);
    window_ = kLeast;
    credit_ = 0;
  }

 private:
  static constexpr uint32_t kLeast = 2;

  void Shrink(uint32_t to) {
    window_ = std::min(window_, std::max({to, floor_, kLeast}));
    threshold_ = window_;
  }

  const uint32_t most_;
  uint32_t threshold_;
  uint32_t window_;
  uint32_t floor_ = 0;   // of the lossy round
  uint64_t credit_ = 0;  // packets acknowledged since the window grew
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_CONGESTION_WINDOW_H_
