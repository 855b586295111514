// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace softdat::rds {
namespace {

enum class Kind : uint8_t { kUnicast, kAny, kBroadcast, kMulticast };

// What a sockaddr says, and what kind of an address that is.
struct Read {
  int error = 0;
  SocketName name;
  Kind kind = Kind::kUnicast;
};

Kind KindOf4(uint32_t host) {
  if (host == INADDR_ANY) return Kind::kAny;
  if (host == INADDR_BROADCAST) return Kind::kBroadcast;
  return IN_MULTICAST(host) ? Kind::kMulticast : Kind::kUnicast;
}

Read Read4(const sockaddr* name) {
  sockaddr_in in;
  std::memcpy(&in, name, sizeof in);
  Read out;
  std::memcpy(out.name.address.octets.data(), &in.sin_addr, 4);
  out.name.port = ntohs(in.sin_port);
  out.kind = KindOf4(ntohl(in.sin_addr.s_addr));
  return out;
}

Read Read6(const sockaddr* name) {
  sockaddr_in6 in;
  std::memcpy(&in, name, sizeof in);
  Read out;
  out.name.port = ntohs(in.sin6_port);
  if (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr)) {
    std::memcpy(out.name.address.octets.data(), &in.sin6_addr.s6_addr[12], 4);
    uint32_t host = 0;
    std::memcpy(&host, &in.sin6_addr.s6_addr[12], 4);
    out.kind = KindOf4(ntohl(host));
    return out;
  }
  out.name.address.ipv6 = true;
  std::memcpy(out.name.address.octets.data(), &in.sin6_addr, 16);
  if (IN6_IS_ADDR_UNSPECIFIED(&in.sin6_addr)) out.kind = Kind::kAny;
  if (IN6_IS_ADDR_MULTICAST(&in.sin6_addr)) out.kind = Kind::kMulticast;
  if (IN6_IS_ADDR_LINKLOCAL(&in.sin6_addr)) {
    out.name.address.scope = in.sin6_scope_id;
    if (in.sin6_scope_id == 0) out.error = EINVAL;
  }
  return out;
}

Read ReadName(const sockaddr* name, socklen_t length, int wrong_family) {
  Read out;
  out.error = EINVAL;
  if (name == nullptr || length < sizeof(sa_family_t)) return out;
  if (name->sa_family == AF_INET) return length < sizeof(sockaddr_in) ? out : Read4(name);
  if (name->sa_family == AF_INET6) return length < sizeof(sockaddr_in6) ? out : Read6(name);
  // Short ones are short before they are of a wrong family.
  if (length >= sizeof(sockaddr_in)) out.error = wrong_family;
  return out;
}

}  // namespace

int ParseBindName(const sockaddr* name, socklen_t length, SocketName* out) {
  const Read read = ReadName(name, length, EINVAL);
  if (read.error != 0) return read.error;
  if (read.kind != Kind::kUnicast) return EINVAL;
  *out = read.name;
  return 0;
}

int ParseConnectName(const sockaddr* name, socklen_t length, SocketName* out) {
  const Read read = ReadName(name, length, EAFNOSUPPORT);
  if (read.error != 0) return read.error;
  if (read.kind != Kind::kUnicast) {
    if (name->sa_family == AF_INET6) return EPROTOTYPE;
    return read.kind == Kind::kAny ? EDESTADDRREQ : EINVAL;
  }
  *out = read.name;
  return 0;
}

int ParseDestination(const sockaddr* name, socklen_t length, SocketName* out) {
  const Read read = ReadName(name, length, EINVAL);
  if (read.error != 0) return read.error;
  if (read.kind != Kind::kUnicast) return EINVAL;
  *out = read.name;
  return 0;
}

bool IsLinkLocal(const Address& address) {
  return address.ipv6 && address.octets[0] == 0xfe && (address.octets[1] & 0xc0) == 0x80;
}

bool AreOfOneLink(const Address& a, const Address& b) {
  return a.scope == 0 || b.scope == 0 || a.scope == b.scope;
}

RawName Raw(const SocketName& name) {
  RawName out;
  if (name.address.ipv6) {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(name.port);
    in.sin6_scope_id = name.address.scope;
    std::memcpy(&in.sin6_addr, name.address.octets.data(), 16);
    std::memcpy(&out.storage, &in, sizeof in);
    out.length = sizeof in;
    return out;
  }
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(name.port);
  std::memcpy(&in.sin_addr, name.address.octets.data(), 4);
  std::memcpy(&out.storage, &in, sizeof in);
  out.length = sizeof in;
  return out;
}

SocketName NameOf(const sockaddr& address) {
  if (address.sa_family == AF_INET6) return Read6(&address).name;
  return address.sa_family == AF_INET ? Read4(&address).name : SocketName{};
}

std::string ToText(const Address& address) {
  char text[INET6_ADDRSTRLEN];
  inet_ntop(address.ipv6 ? AF_INET6 : AF_INET, address.octets.data(), text, sizeof text);
  return text;
}

}  // namespace softdat::rds
