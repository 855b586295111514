// SPDX-License-Identifier: BSD-3-Clause
// What ties two members together while one of them has a request that came to the other one. The
// requester addresses its repeats to the service that it asked for, so they come to the member that
// handed the request off, which tells them by the lease. Either sees when the other one dies.
//
// A request that is handed off once more takes its lease along.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_HANDOFF_LEASE_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_HANDOFF_LEASE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "dat/base/status.h"
#include "provider_softnet/driver/event_loop.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

// A message is one of these, and what belongs to it.
enum class LeaseWord : uint8_t {
  kGone = 0,  // never sent: the other end is closed
  // To the new owner:
  kAgain = 1,      // the request has come again
  kWithdrawn = 2,  // the requester has given up
  kUnheard = 3,    // repeats do not come to the first owner any more
  // To the first owner:
  kAnswered = 4,  // the requester has its answer; behind it the REJ, if that is the answer
};

// With the token, except for its destruction.
class HandoffLease {
 public:
  // kGone is the last word. The handler may close the lease, and must not destroy it.
  using Handler = std::function<void(LeaseWord word, std::span<const uint8_t> rest)>;

  HandoffLease(EventLoop* loop, UniqueFd fd, Handler handler)
      : handler_(std::move(handler)), fd_(std::move(fd)), watch_(loop, [this](int) { Hear(); }) {}

  // What was said before is told soon.
  Status Watch() { return watch_.Start(fd_.get(), kReadable); }
  void Say(LeaseWord word, std::span<const uint8_t> rest = {}) const;
  int descriptor() const { return fd_.get(); }
  // No word any more. What was said before arrives.
  void Close();

 private:
  void Hear();

  const Handler handler_;
  UniqueFd fd_;
  SocketWatch watch_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_HANDOFF_LEASE_H_
