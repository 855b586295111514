// SPDX-License-Identifier: BSD-3-Clause
// Decides which requests of a send queue are signalled. Now and then a suppressed request is
// signalled, too, so that the queue's places become free. Its completion is swallowed. If the last
// requests are not signalled, a marker tells when they are over.
#ifndef SOFTDAT_PROVIDER_VERBS_SIGNALLING_H_
#define SOFTDAT_PROVIDER_VERBS_SIGNALLING_H_

#include <algorithm>
#include <cstdint>

namespace softdat::verbs {

// May be used only with the queue's lock held.
class Signalling {
 public:
  // For a queue of `depth` requests.
  void Adopt(uint32_t depth) { period_ = std::clamp(depth / 2, 1u, 16u); }
  // To be called when nothing is posted any more.
  void Clear() { unsignalled_ = 0, marker_pending_ = false; }

  // Whether the next request is signalled.
  bool Wants(bool suppressed) {
    if (!suppressed || unsignalled_ + 1 >= period_) {
      unsignalled_ = 0;
      return true;
    }
    ++unsignalled_;
    return false;
  }
  void Signalled() { unsignalled_ = 0; }
  // Requests at the tail whose success nothing reports. SetBack() restores the number after a post
  // failed.
  uint32_t unsignalled() const { return unsignalled_; }
  void SetBack(uint32_t unsignalled) { unsignalled_ = unsignalled; }

  // Whether the last marker has not completed. `retired`: the sequence number after the newest
  // completed request.
  bool MarkerInFlight(uint32_t retired) const {
    return marker_pending_ && static_cast<int32_t>(marker_sequence_ - retired) >= 0;
  }
  // Whether a marker was posted. It may still have its place.
  bool marker_pending() const { return marker_pending_; }
  void ForgetMarker() { marker_pending_ = false; }
  void MarkerPosted(uint32_t sequence) {
    marker_sequence_ = sequence;
    marker_pending_ = true;
    unsignalled_ = 0;
  }

 private:
  uint32_t period_ = 1;
  uint32_t unsignalled_ = 0;
  uint32_t marker_sequence_ = 0;
  bool marker_pending_ = false;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_SIGNALLING_H_
