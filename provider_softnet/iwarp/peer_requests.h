// SPDX-License-Identifier: BSD-3-Clause
// Reads and atomics of the peer until their answers are sent, in the order of arrival. Three marks
// move through them: answers that are sent, answers that are being put into FPDUs, and urgent
// answers.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_PEER_REQUESTS_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_PEER_REQUESTS_H_

#include <cstdint>
#include <new>

#include "provider_softnet/iwarp/request_ring.h"
#include "wire/iwarp/rdmap.h"

namespace softdat::softnet {

struct PeerRequest {
  iwarp::ReadRequest read;  // as received
  uint32_t msn = 0;         // that of the request
  uint32_t gathered = 0;    // bytes of the answer
  bool atomic = false;
  iwarp::AtomicResponse answer;
};

class PeerRequests {
 public:
  // `slots`: how many the peer may have at a time.
  explicit PeerRequests(uint32_t slots)
      : slots_(slots), ring_(slots + 1) {}  // a ready-to-receive read takes no slot

  uint32_t slots() const { return slots_; }
  // Makes sure of memory for the next one. Returns false without memory.
  bool Have() { return ring_.Have(front_, back_); }
  // Does the same for a connection that begins with one. Throws bad_alloc.
  void MustHave() {
    if (!Have()) throw std::bad_alloc();
  }

  bool empty() const { return front_ == back_; }
  uint32_t count() const { return back_ - front_; }

  // The place of the next request, to be filled before Add().
  PeerRequest& Prepare() {
    PeerRequest& next = ring_[back_];
    next = {};
    return next;
  }
  // `urgent`: somebody waits for its answer, and so for those in front of it.
  void Add(bool urgent) {
    ++back_;
    if (urgent) due_ = back_;
  }

  // Whether an answer is not wholly gathered, and whether that answer is urgent.
  bool AnyToGather() const { return gather_ != back_; }
  bool Due() const { return static_cast<int32_t>(due_ - gather_) > 0; }
  void MakeAllDue() { due_ = back_; }
  PeerRequest& gathering() { return ring_[gather_]; }
  void Gathered() { ++gather_; }
  // The answer to the oldest request is sent.
  void PopOldest() { ++front_; }
  const PeerRequest& oldest() const { return ring_[front_]; }
  // The i-th oldest request. i < count().
  const PeerRequest& at(uint32_t i) const { return ring_[(front_ + i)]; }
  // None of them is answered any more.
  void Drop() { front_ = gather_ = due_ = back_; }

 private:
  const uint32_t slots_;
  RequestRing<PeerRequest> ring_;
  uint32_t front_ = 0, gather_ = 0, back_ = 0;  // free-running
  uint32_t due_ = 0;                            // after the last urgent one
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_PEER_REQUESTS_H_
