// SPDX-License-Identifier: BSD-3-Clause
// How one process tells another what it has: RDS_INFO_* are about all sockets of the host.
#ifndef SOFTDAT_RDS_SOCKET_INFO_EXCHANGE_H_
#define SOFTDAT_RDS_SOCKET_INFO_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rds/socket/info.h"
#include "wire/bytes.h"

namespace softdat::rds {

// Items of one list that are told. Those beyond them are not.
inline constexpr size_t kMostInfoItems = 16384;
// What an answer has at most, in octets: more is not taken.
inline constexpr size_t kMostInfoOctets = size_t{8} << 20;

// Only another process of this version, on this host, can read it.
std::vector<uint8_t> EncodeForOthers(const Info& info);
// Nothing when it is of another version, too short, too long, or has what no process says.
std::optional<Info> DecodeFromOther(ByteSpan octets);

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_INFO_EXCHANGE_H_
