// SPDX-License-Identifier: BSD-3-Clause
// How two processes with SoftDAT find each other, by what RDS's private data leave free.
//
// RDS has one listener for each address, but here each process has its own connections. So a
// process that wants to send to a port first asks the listener of that address where the port is
// ("locate"), which answers by a rejection. Then it connects to the service of that process
// ("join"). A kernel takes the first question for an ordinary connection and accepts it.
#ifndef SOFTDAT_RDS_SOCKET_INTRODUCTION_H_
#define SOFTDAT_RDS_SOCKET_INTRODUCTION_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "rds/protocol/connect_data.h"
#include "rds/socket/address.h"
#include "wire/bytes.h"

namespace softdat::rds {

// A process, while it has sockets at an address. Drawn at random; 0 stands for a kernel.
using Instance = uint32_t;
inline constexpr Instance kKernelInstance = 0;

// Where a port is.
struct Location {
  Instance instance = kKernelInstance;
  uint16_t service = 0;  // on which that process takes connections; 0: nobody has the port

  bool operator==(const Location&) const = default;
};

// What a process says when it connects.
struct Introduction {
  enum class Kind : uint8_t {
    kKernel,  // the peer is no SoftDAT
    kLocate,  // `port` is the port that is looked for
    kJoin,    // `port` is the service of the process that says this
  };
  Kind kind = Kind::kKernel;
  Address own, peer;  // as the one who says it sees them
  uint16_t port = 0;
  Instance instance = kKernelInstance;
  // Of kJoin between IPv4 addresses: the process that is to hear this. Another one may have its
  // service by now.
  Instance for_instance = kKernelInstance;
  // Of kJoin: both processes are of one address, `own` or `peer`. One of them holds the connection
  // to a kernel, which has the other address, for both.
  bool for_kernel = false;
  uint64_t ack_sequence = 0;  // of kJoin: 48 bits
  uint32_t credit = 0;        // of kJoin: 16 bits
};

std::vector<uint8_t> Encode(const Introduction& introduction);
// Nothing when the versions do not fit, or it is too short.
std::optional<Introduction> ParseIntroduction(ByteSpan data, bool ipv6);

// What a rejection says.
struct Refusal {
  enum class Kind : uint8_t {
    kOther,    // no SoftDAT said this, or one that understood nothing
    kLocated,  // the answer to kLocate
    kBusy,     // the other end is connecting to this one, or starts over: try again
  };
  Kind kind = Kind::kOther;
  Location location;
};
// kOther: what Linux says.
std::vector<uint8_t> Encode(const Refusal& refusal);
Refusal ParseRefusal(ByteSpan data);

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_INTRODUCTION_H_
