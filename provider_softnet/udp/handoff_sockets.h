// SPDX-License-Identifier: BSD-3-Clause
// The local sockets by which two members speak about a request that is handed off. They are made in
// pairs, and one end of each goes to the other member with an offer (forward_message.h). When a
// member dies, the other one reads the end.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_HANDOFF_SOCKETS_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_HANDOFF_SOCKETS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "dat/base/status.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

struct LocalPair {
  UniqueFd own;
  UniqueFd other;
};
// Messages keep their bounds. Each says who sent it. kNoResources.
Result<LocalPair> OpenLocalPair();
// Another descriptor of the same end. Not valid when there is none left.
UniqueFd Duplicate(int fd);

// Sends a message. Never blocks. False when the other end is gone or does not read. Any thread.
bool SayOn(int fd, std::span<const uint8_t> message);

struct Heard {
  enum class What : uint8_t {
    kNothing,  // yet
    kMessage,
    kGone,  // the other end is closed, or another user has it
  };
  What what = What::kNothing;
  size_t size = 0;  // of the message; it is cut to the room
};
// Receives a message. Never blocks. Any thread.
Heard HearOn(int fd, std::span<uint8_t> room);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_HANDOFF_SOCKETS_H_
