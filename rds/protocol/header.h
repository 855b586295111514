// SPDX-License-Identifier: BSD-3-Clause
// The header of RDS 3.1, which stands in front of every fragment of a message: 48 octets, numbers
// in network order, a checksum, and 16 octets for extensions.
#ifndef SOFTDAT_RDS_PROTOCOL_HEADER_H_
#define SOFTDAT_RDS_PROTOCOL_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/bytes.h"

namespace softdat::rds {

inline constexpr size_t kHeaderSize = 48;
// Payload of one fragment. Only the last of a message may have less.
inline constexpr size_t kFragmentSize = 4096;     // as Linux has it
inline constexpr size_t kOwnFragmentSize = 8192;  // between ends of SoftDAT, at most

// Bits of Header::flags.
enum HeaderFlag : uint8_t {
  kCongestionBitmap = 0x01,  // the payload is the sender's congestion map
  kAckRequired = 0x02,       // the receiver is to acknowledge soon
  kRetransmitted = 0x04,     // sent before, on a connection that broke
  // Between instances of SoftDAT (rds/socket/node_holder.cc, node_moves.cc). Linux sets none of
  // them.
  kNumbered = 0x20,  // no message: says which number one of the receiver's has at a kernel
  kReturned = 0x40,  // of a message that the receiver has sent, to a port that the sender has not
  kBarrier = 0x80,   // to be returned, whoever has the port
};

// "Here is memory of mine that you may access."
struct RdmaDestination {
  uint32_t rkey = 0;
  uint32_t offset = 0;

  bool operator==(const RdmaDestination&) const = default;
};

// Each of them at most once.
struct Extensions {
  std::optional<uint32_t> version{};
  std::optional<uint32_t> rdma_rkey{};  // an RDMA with this key went in front of the message
  std::optional<RdmaDestination> rdma_destination{};
  std::optional<uint16_t> paths{};       // of probes: how many connections the sender could use
  std::optional<uint32_t> generation{};  // of probes: changes when the sender's host starts anew
  // Of kReturned and kNumbered: which message, by the lower half of its sequence.
  std::optional<uint32_t> returned{};
  // Of a message between a kernel and a process that has no connection to it: its sequence at the
  // kernel, the lower half.
  std::optional<uint32_t> carried{};

  bool operator==(const Extensions&) const = default;
};

struct Header {
  uint64_t sequence = 0;  // of a connection, rising; 0 of what is not counted
  uint64_t ack = 0;       // the highest sequence that came in order
  uint32_t length = 0;    // of the message's payload, the same in each of its fragments
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint8_t flags = 0;
  uint8_t credit = 0;  // fragments more that the receiver of this may send
  Extensions extensions{};

  bool operator==(const Header&) const = default;
};

// False, and nothing is written, when the extensions do not fit.
bool EncodeHeader(const Header& header, std::span<uint8_t, kHeaderSize> out);

enum class HeaderParse : uint8_t {
  kOk,
  kShort,        // fewer octets than a header has
  kBadChecksum,  // it says something else than its checksum; a checksum of 0 says nothing
};

// Extensions of unknown types end the list, because their size is not known. What `header` has is
// unspecified unless the result is kOk.
HeaderParse ParseHeader(ByteSpan octets, Header* header);

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_PROTOCOL_HEADER_H_
