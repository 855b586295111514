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

namespace softdat::rds {

// The address of a host.
struct Address {
  std::array<uint8_t, 16> octets{};  // of an IPv4 address the first four
  bool ipv6 = false;
  uint32_t scope = 0;  // the interface, of a link-local IPv6 address

  auto operator<=>(const Address&) const = default;
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
  size_t operator()(const softdat::rds::SocketName& name) const noexcept;
};

#endif  // SOFTDAT_RDS_SOCKET_ADDRESS_H_
