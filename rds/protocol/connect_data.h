// SPDX-License-Identifier: BSD-3-Clause
// The private data by which two ends of an RDS connection introduce themselves, in the request and
// in its answer.
#ifndef SOFTDAT_RDS_PROTOCOL_CONNECT_DATA_H_
#define SOFTDAT_RDS_PROTOCOL_CONNECT_DATA_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/bytes.h"

namespace softdat::rds {

// The service on which RDS over InfiniBand listens, a port of rdma_cm's TCP space: for IPv4, and
// for IPv6 and all newer ends.
inline constexpr uint16_t kPort = 18634;
inline constexpr uint16_t kPort6 = 16385;

inline constexpr size_t kConnectDataSize = 32;  // between IPv4 addresses
// Between IPv6 addresses. Linux has four octets of padding behind that, for which not every
// transport has room.
inline constexpr size_t kConnectDataSize6 = 52;

inline constexpr uint8_t kMajor = 3;
inline constexpr uint8_t kMinor = 1;

inline constexpr uint8_t kOwnMark = 0x5d;

struct ConnectData {
  bool ipv6 = false;
  // Of an IPv4 address the first four octets.
  std::array<uint8_t, 16> source{};  // of the end that says it
  std::array<uint8_t, 16> destination{};
  uint8_t major = kMajor;
  uint8_t minor = kMinor;
  uint16_t minor_mask = 0x0003;  // bit n: minor version n is understood
  uint8_t type_of_service = 0;
  uint64_t ack_sequence = 0;    // the highest that came in order, on earlier connections
  uint32_t initial_credit = 0;  // fragments that there is room for; 0: no credits are counted
  // In octets that RDS over InfiniBand reserves. Linux sets them to 0 and does not read them.
  uint8_t own_mark = 0;       // kOwnMark between instances of SoftDAT
  uint16_t own_port = 0;      // rds/socket/introduction.h says what for
  uint32_t own_instance = 0;  // the process that says this; between IPv4 addresses only

  bool operator==(const ConnectData&) const = default;
};

// Returns how many octets it has: one of the two sizes above.
size_t EncodeConnectData(const ConnectData& data, std::span<uint8_t, kConnectDataSize6> out);

// What a peer says. Octets behind it are padding. `ipv6` says how long the addresses are, which the
// data do not. Nothing when it is too short.
std::optional<ConnectData> ParseConnectData(ByteSpan octets, bool ipv6);

// Whether an end of this version can speak with the one that says this: version 3.1, or a later
// major one (4) that shares a minor version.
bool IsCompatible(const ConnectData& peer);

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_PROTOCOL_CONNECT_DATA_H_
