// SPDX-License-Identifier: BSD-3-Clause
// Addresses and names of RDS sockets, as programs give them and are given them.
#ifndef SOFTDAT_RDS_SOCKET_ADDRESS_H_
#define SOFTDAT_RDS_SOCKET_ADDRESS_H_

#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>

#include "wire/bytes.h"

namespace softdat::rds {

// The address of a host.
struct Address {
  std::array<uint8_t, 16> octets{};  // of an IPv4 address the first four
  bool ipv6 = false;
  uint32_t scope = 0;  // the interface, of a link-local IPv6 address

  // In the order of the octets. Each message compares some, so they are taken in two pieces.
  uint64_t high() const { return LoadBe64(octets.data()); }
  uint64_t low() const { return LoadBe64(octets.data() + 8); }
  bool operator==(const Address& o) const {
    return high() == o.high() && low() == o.low() && ipv6 == o.ipv6 && scope == o.scope;
  }
  std::strong_ordering operator<=>(const Address& o) const {
    if (high() != o.high()) return high() <=> o.high();
    if (low() != o.low()) return low() <=> o.low();
    if (ipv6 != o.ipv6) return ipv6 <=> o.ipv6;
    return scope <=> o.scope;
  }
};

// The name of a socket.
struct SocketName {
  Address address;
  uint16_t port = 0;

  auto operator<=>(const SocketName&) const = default;
};

// A port that no program can bind: Linux uses it for its own pings.
inline constexpr uint16_t kReservedPort = 1;
// What is sent to this port is a ping.
inline constexpr uint16_t kPingPort = 0;

// What the three calls that take a name make of it: 0, or the errno with which the call fails.
// (rds.md 2: each call has rules of its own.)
int ParseBindName(const sockaddr* name, socklen_t length, SocketName* out);
int ParseConnectName(const sockaddr* name, socklen_t length, SocketName* out);
int ParseDestination(const sockaddr* name, socklen_t length, SocketName* out);

// fe80::/10
bool IsLinkLocal(const Address& address);
// Whether one can be reached from the other: a link-local address only by its own link.
bool AreOfOneLink(const Address& a, const Address& b);

// The octets of sockaddr_in or sockaddr_in6.
struct RawName {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};
RawName Raw(const SocketName& name);
// An address of another source: nothing is checked but the family. Port and address are taken.
SocketName NameOf(const sockaddr& address);

// "10.0.0.1" or "fd00::1".
std::string ToText(const Address& address);

}  // namespace softdat::rds

template <>
struct std::hash<softdat::rds::SocketName> {
  size_t operator()(const softdat::rds::SocketName& name) const noexcept {
    constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
    const uint64_t address = name.address.high() ^ name.address.low() * kOdd;
    return (address ^ name.port) * kOdd >> 16;
  }
};

#endif  // SOFTDAT_RDS_SOCKET_ADDRESS_H_
