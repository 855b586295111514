// SPDX-License-Identifier: BSD-3-Clause
// The passive side of a connection until its Request is read and judged, without I/O. Nothing that
// comes on an open port is trusted. Garbage, silence and a peer that leaves end only this one.
//
// The owner moves bytes and keeps time. It calls OnReceived() with at most bytes_wanted() bytes,
// OnLost(), and OnTime() at deadline(), until state() is no longer kReading.
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
    kRead,     // to be judged with Judge()
    kDropped,  // why() gives the reason; nobody is there to answer
  };

  Reception(Time limit, Time now) : deadline_(now + limit) {}

  State state() const { return state_; }
  const std::string& why() const { return why_; }
  Time deadline() const { return deadline_; }

  size_t bytes_wanted() const { return state_ == State::kReading ? wanted_ - have_ : 0; }
  // Where the bytes may be put, so that they need not be copied.
  uint8_t* room() { return frame_.data() + have_; }
  // This many bytes are in room() now.
  void OnReceived(size_t size);
  // The link failed with an errno value. 0: the peer closed it.
  void OnLost(int error);
  void OnTime(Time now);
  // Drops the connection, because another one needs its place.
  void Evict();

  // For a Request that has been read: stores in *qualifier the qualifier that it names in full.
  // Returns false and leaves *qualifier unchanged when it names none or is no Request.
  bool NamesQualifier(uint64_t* qualifier) const;
  // Judges the Request. `config` is that of the service point. The result is in kRequest when it
  // waits for an answer. Otherwise its output() is what to tell the peer, if anything, and
  // RefusalText() is the line for the log. Without `listened` the Request is refused.
  std::unique_ptr<MpaResponder> Judge(const MpaConfig& config, bool listened) const;
  static std::string RefusalText(const MpaResponder& responder);

 private:
  void Drop(std::string why);

  State state_ = State::kReading;
  std::string why_;
  const Time deadline_;
  std::array<uint8_t, iwarp::kMpaMaxFrameSize> frame_;
  size_t have_ = 0;
  size_t wanted_ = iwarp::kMpaEnhancedFrameSize;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_RECEPTION_H_
