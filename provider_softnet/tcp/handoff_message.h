// SPDX-License-Identifier: BSD-3-Clause
// dat_cr_handoff to another process of the same user: the messages between the two processes, and
// the place where they meet. Pure functions over bytes.
//
// Each service point has its own socket in the abstract name space of local sockets
// (SOCK_SEQPACKET), "softdat-handoff/UID/HOST/QUALIFIER". HOST is empty for a service point on
// every local address. That name space belongs to the network name space, and so does the
// connection.
//
//   offer   0  8  magic  53 44 41 54 48 4f 01 bf  ("SDATHO", version 1, a byte that is no text)
//           8  8  the whole qualifier of the service point, big-endian
//          16  n  the MPA Request frame, as it was read from the connection
//          with the connection's socket (SCM_RIGHTS)
//   answer  0  8  magic  53 44 41 54 48 41 01 bf  ("SDATHA", version 1)
//           8  8  a HandoffVerdict, big-endian
//
// The request changes hands at the moment of the answer kTaken. That moment cannot be missed. A
// sender that gives up waiting first shuts its socket for reading, so that a later answer cannot be
// sent. It then checks whether an answer came before.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_MESSAGE_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_MESSAGE_H_

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "provider_softnet/driver/local_socket.h"
#include "wire/iwarp/mpa.h"

namespace softdat::softnet {

enum class HandoffVerdict : uint64_t {
  kTaken = 0,       // the request now belongs to the process that answers
  kNoListener = 1,  // the service point is gone
  kRefused = 2,     // the offer or its request is not acceptable
};

inline constexpr size_t kHandoffHeaderSize = 16;
inline constexpr size_t kMaxHandoffOffer = kHandoffHeaderSize + iwarp::kMpaMaxFrameSize;
inline constexpr size_t kHandoffAnswerSize = 16;

struct HandoffOffer {
  uint64_t conn_qual = 0;
  std::span<const uint8_t> frame;  // at most kMpaMaxFrameSize bytes, not inspected
};

// Returns the size written, or 0 when the frame is too long.
size_t EncodeHandoffOffer(const HandoffOffer& offer, std::span<uint8_t, kMaxHandoffOffer> out);
// Returns nothing when the bytes are no offer of this version. The frame points into `in`.
std::optional<HandoffOffer> DecodeHandoffOffer(std::span<const uint8_t> in);

std::array<uint8_t, kHandoffAnswerSize> EncodeHandoffAnswer(HandoffVerdict verdict);
// Returns nothing when the bytes are no answer of this version.
std::optional<HandoffVerdict> DecodeHandoffAnswer(std::span<const uint8_t> in);

// The address where a service point takes requests from other processes.
LocalName HandoffAddressOf(uid_t user, const std::string& host, uint64_t conn_qual);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_MESSAGE_H_
