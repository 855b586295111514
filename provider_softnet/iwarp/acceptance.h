// SPDX-License-Identifier: BSD-3-Clause
// The passive side of a connection from the consumer's accept until it is established, without I/O.
// In the peer-to-peer model it is established when the initiator's ready-to-receive message arrives
// (RFC 6581 §4). No byte of that message is read before the consumer knows, so that no completion
// overtakes the event of the connection.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_ACCEPTANCE_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_ACCEPTANCE_H_

#include <string.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "provider_softnet/iwarp/mpa_handshake.h"

namespace softdat::softnet {

class Acceptance {
 public:
  using Time = std::chrono::microseconds;

  enum class State : uint8_t { kWaiting, kEstablished, kFailed };

  // To be made when the Reply is sent. `requester_gone`: why the requester was gone before that,
  // empty as far as is known. An end that comes before the Reply means that the requester never had
  // a connection. An end after the Reply may belong to a connection that was made and left.
  Acceptance(const MpaAgreement& agreement, std::string requester_gone, Time limit, Time now)
      : deadline_(now + limit) {
    if (!requester_gone.empty()) {
      Fail(std::move(requester_gone));
    } else if (agreement.rtr == Rtr::kNone) {
      state_ = State::kEstablished;
    }
  }

  State state() const { return state_; }
  const std::string& why() const { return why_; }
  Time deadline() const { return deadline_; }

  // The first byte has arrived. It is not read here.
  void OnReadable() {
    if (state_ == State::kWaiting) state_ = State::kEstablished;
  }
  // The link failed with an errno value. 0: the peer closed it.
  void OnLost(int error) { Fail(error == 0 ? "the peer closed" : strerror(error)); }
  void OnTime(Time now) {
    if (now >= deadline_) Fail("the peer sent nothing after our Reply");
  }
  void Fail(std::string why) {
    if (state_ == State::kFailed) return;
    state_ = State::kFailed;
    why_ = std::move(why);
  }

 private:
  State state_ = State::kWaiting;
  std::string why_;
  Time deadline_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_ACCEPTANCE_H_
