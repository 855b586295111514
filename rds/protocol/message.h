// SPDX-License-Identifier: BSD-3-Clause
// A message of RDS, before it is cut into fragments and after it was put together again.
#ifndef SOFTDAT_RDS_PROTOCOL_MESSAGE_H_
#define SOFTDAT_RDS_PROTOCOL_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rds/protocol/header.h"

namespace softdat::rds {

// No socket sends a longer one.
inline constexpr size_t kMaxMessage = 1 << 20;

struct Message {
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  Extensions extensions{};
  std::vector<uint8_t> payload{};
  uint8_t marks = 0;      // kNumbered, kReturned, kBarrier
  uint64_t sequence = 0;  // of one that has come
  bool again = false;     // of one that has come: its sender had sent it before
};

struct OutgoingMessage {
  uint64_t id = 0;  // the sender's name for it
  Message message{};
  // An RDMA operation of the same call goes in front of it. Such a message is never sent again:
  // both are carried out, or neither is known to be.
  bool behind_rdma = false;
  // As `behind_rdma`, but both are carried out again when a connection was lost.
  bool behind_atomic = false;
  // The operation goes alone: the peer is not to hear of it. Only with one of those above.
  bool silent = false;
  bool asks_for_ack = false;     // its sender waits for one, or soon will
  bool has_little_room = false;  // its sender: half of it is in use
  // A process of this address may have sent it to this peer, with this sequence (the lower half).
  std::optional<uint32_t> had_sequence{};
  // It says that this message of the peer, by its sequence, is the peer's again.
  std::optional<uint64_t> returns{};
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_PROTOCOL_MESSAGE_H_
