// SPDX-License-Identifier: BSD-3-Clause
// Reads and atomics of the peer: those whose responses are still to be sent, and those that are
// remembered in case the peer asks again (IBTA vol. 1 §9.4.5, "responder resources").
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_PEER_READS_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_PEER_READS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "provider_softnet/roce/psn.h"

namespace softdat::softnet {

struct PeerRead {
  Psn first = 0;
  uint32_t packets = 0;  // responses
  bool atomic = false;   // one response, of `original`
  uint64_t original = 0;
  uint64_t va = 0;
  uint32_t key = 0;
  uint32_t length = 0;
  uint32_t msn = 0;
  bool answered = false;  // all responses were sent once
  // What is to be sent now, as indices of responses: those of the last time that the peer asked.
  uint32_t start = 0, next = 0, stop = 0;
  uint64_t stop_bytes = 0;  // where that ends within the read

  Psn end() const { return first + packets; }
  bool due() const { return next < stop; }
};

class PeerReads {
 public:
  explicit PeerReads(uint32_t slots) : slots_(slots) {}

  // Whether the peer may ask for another one: the oldest of as many as it may have outstanding was
  // answered.
  bool HasRoom() const { return slots_ > 0 && (reads_.size() < slots_ || oldest().answered); }
  // Remembers a new one, whose responses are due; the oldest is forgotten for it.
  void Add(const PeerRead& read) {
    if (reads_.size() < slots_) {
      reads_.push_back(read);
    } else {
      reads_[oldest_] = read;
      oldest_ = (oldest_ + 1) % slots_;
    }
  }
  // The one that has this PSN; null if there is none, or it is forgotten.
  PeerRead* Find(Psn psn) {
    for (PeerRead& r : reads_) {
      if (psn >= r.first && psn < r.end()) return &r;
    }
    return nullptr;
  }
  // The first one that has responses to be sent.
  PeerRead* Due() {
    PeerRead* found = nullptr;
    for (PeerRead& r : reads_) {
      if (r.due() && (found == nullptr || r.first < found->first)) found = &r;
    }
    return found;
  }
  // None of their responses are sent until they are asked for again.
  void Hold() {
    for (PeerRead& r : reads_) r.stop = r.next;
  }
  void Forget() {
    reads_.clear();
    oldest_ = 0;
  }

 private:
  const PeerRead& oldest() const { return reads_[oldest_]; }

  const uint32_t slots_;
  std::vector<PeerRead> reads_;  // a ring once it is full; allocated by the first that come
  size_t oldest_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_PEER_READS_H_
