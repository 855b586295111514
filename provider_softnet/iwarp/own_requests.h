// SPDX-License-Identifier: BSD-3-Clause
// Read Requests and atomics that were sent and are not answered, the oldest first. The peer answers
// in order (RFC 5040 §5.2, RFC 7306 §5). Some of them do not come from the consumer: the
// ready-to-receive read, and confirmations.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_OWN_REQUESTS_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_OWN_REQUESTS_H_

#include <cstdint>
#include <new>

#include "provider_softnet/iwarp/request_ring.h"
#include "wire/iwarp/rdmap.h"

namespace softdat::softnet {

// Not a position of a send queue.
inline constexpr uint64_t kNoWork = ~uint64_t{0};

struct OwnRequest {
  uint64_t position = 0;    // in the send queue; kNoWork: the ready-to-receive read, a confirmation
  uint64_t covers = 0;      // its answer confirms all work in front of this position
  iwarp::ReadRequest read;  // as sent
  uint32_t msn = 0;
  uint32_t placed = 0;  // bytes
  bool atomic = false;
  bool confirmation = false;
  uint32_t request_id = 0;
};

class OwnRequests {
 public:
  // `slots`: how many the peer allows at a time.
  explicit OwnRequests(uint32_t slots)
      : slots_(slots), ring_(slots + 1) {}  // a ready-to-receive read takes no slot

  uint32_t slots() const { return slots_; }
  // Makes sure of memory for the next one. Returns false without memory.
  bool Have() { return ring_.Have(front_, back_); }
  // Does the same for a new connection that sends a request first. Throws bad_alloc.
  void MustHave() {
    if (!Have()) throw std::bad_alloc();
  }

  bool empty() const { return front_ == back_; }
  uint32_t count() const { return back_ - front_; }
  // The number of reads of the consumer, and of confirmations.
  uint32_t reads() const { return reads_; }
  uint32_t confirmations() const { return confirmations_; }

  OwnRequest& oldest() { return ring_[front_]; }
  const OwnRequest& oldest() const { return ring_[front_]; }
  const OwnRequest& newest() const { return ring_[back_ - 1]; }

  // The place of the next request, to be filled before Add().
  OwnRequest& Prepare() {
    OwnRequest& next = ring_[back_];
    next = {};
    return next;
  }
  void Add() { Count(ring_[back_++], 1); }
  // The oldest request was answered. It can still be read until the next Prepare().
  void PopOldest() { Count(ring_[front_++], ~uint32_t{0}); }
  // The newest request was not sent after all.
  OwnRequest TakeNewestBack() {
    const OwnRequest request = ring_[--back_];
    Count(request, ~uint32_t{0});
    return request;
  }

  // Calls `function` for each, the oldest first, until it returns true.
  template <typename Function>
  void Find(Function&& function) const {
    for (uint32_t i = front_; i != back_; ++i) {
      if (function(ring_[i])) return;
    }
  }

 private:
  void Count(const OwnRequest& request, uint32_t by) {
    if (request.position != kNoWork) reads_ += by;
    if (request.confirmation) confirmations_ += by;
  }

  const uint32_t slots_;
  RequestRing<OwnRequest> ring_;
  uint32_t front_ = 0, back_ = 0;  // free-running
  uint32_t reads_ = 0;
  uint32_t confirmations_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_OWN_REQUESTS_H_
