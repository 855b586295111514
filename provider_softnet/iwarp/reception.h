// SPDX-License-Identifier: BSD-3-Clause
// The passive side of a connection until its Request is read and judged, without I/O. What comes on
// an open port is not to be trusted: garbage, silence and a peer that goes away end this one only.
//
// The owner moves bytes and keeps time: OnReceived() with at most bytes_wanted() bytes, OnLost(),
// OnTime() at deadline(), until state() is no longer kReading.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_RECEPTION_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_RECEPTION_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "provider_softnet/iwarp/mpa_handshake.h"
#include "wire/iwarp/mpa.h"

namespace softdat::softnet {

class Reception {
 public:
  using Time = std::chrono::microseconds;

  enum class State : uint8_t {
    kReading,
    kRead,     // Judge() it
    kDropped,  // why() says why; there is nobody to answer
  };

  Reception(Time limit, Time now) : deadline_(now + limit) {}

  State state() const { return state_; }
  const std::string& why() const { return why_; }
  Time deadline() const { return deadline_; }

  size_t bytes_wanted() const { return state_ == State::kReading ? wanted_ - have_ : 0; }
  // Where they may be put, so that they need not be copied.
  uint8_t* room() { return frame_.data() + have_; }
  // Bytes that are in room() now.
  void OnReceived(size_t size);
  // The link failed with an errno value; 0: the peer closed it.
  void OnLost(int error);
  void OnTime(Time now);
  // Another one needs its place.
  void Evict();

  // Of a Request that is read: the qualifier that it names in full, in *qualifier. False when it
  // names none, or is no Request; *qualifier is unchanged then.
  bool NamesQualifier(uint64_t* qualifier) const;
  // What comes of it. `config` is that of the service point. In kRequest when it waits for an
  // answer; else output() is what the peer is to be told, if anything, and RefusalText() the line
  // for the log. Without `listened` it is refused.
  std::unique_ptr<MpaResponder> Judge(const MpaConfig& config, bool listened) const;
  static std::string RefusalText(const MpaResponder& responder);

 private:
  void Drop(std::string why);

  State state_ = State::kReading;
  std::string why_;
  const Time deadline_;
  std::array<uint8_t, iwarp::kMpaMaxFrameSize> frame_;
  size_t have_ = 0;
  size_t wanted_ = iwarp::kMpaHeaderSize;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_RECEPTION_H_
