// SPDX-License-Identifier: BSD-3-Clause
// Flow control of a connection whose transport fails when a frame finds no receive (iWARP): each
// end says how many receives it has posted, and the other one sends no more than that. Two ends
// that can do without it do not count.
#ifndef SOFTDAT_RDS_PROTOCOL_CREDITS_H_
#define SOFTDAT_RDS_PROTOCOL_CREDITS_H_

#include <algorithm>
#include <cstdint>

namespace softdat::rds {

class Credits {
 public:
  // Fewer receives than this are too few: the last credit is kept back, and a frame that brings
  // credits has to bring more than it takes.
  static constexpr uint32_t kFewest = 4;

  // At the beginning of a connection: what each end has said of its receives. If either says 0,
  // nothing is counted.
  void Start(uint32_t own, uint32_t peers) {
    counted_ = own != 0 && peers != 0;
    available_ = peers;
    posted_ = 0;
    enough_ = std::clamp(own / 2, 2u, kEnough);
  }

  bool counted() const { return counted_; }
  // Whether a frame may leave. The last credit is kept for one that brings the peer new credits:
  // otherwise both ends might wait for each other.
  bool MaySend() const { return !counted_ || available_ > 1 || (available_ == 1 && posted_ > 0); }
  // Whether a frame is to leave for its credits alone.
  bool owes() const { return counted_ && posted_ >= enough_; }

  // A frame leaves. Returns the credits that its header is to bring.
  uint8_t Spend() {
    if (!counted_) return 0;
    --available_;
    const uint32_t granted = std::min<uint32_t>(posted_, UINT8_MAX);
    posted_ -= granted;
    return static_cast<uint8_t>(granted);
  }
  // A header has brought some.
  void Take(uint8_t granted) {
    if (counted_) available_ += granted;
  }
  // Receives were posted anew.
  void Post(uint32_t receives) {
    if (counted_) posted_ += receives;
  }

 private:
  static constexpr uint32_t kEnough = 16;  // as in Linux

  bool counted_ = false;
  uint32_t available_ = 0;  // frames that may leave
  uint32_t posted_ = 0;     // receives that the peer does not know of
  uint32_t enough_ = kEnough;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_PROTOCOL_CREDITS_H_
