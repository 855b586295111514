// SPDX-License-Identifier: BSD-3-Clause
// Socket addresses.
#include "tools/common/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <charconv>
#include <cstring>

namespace softdat::tools {

Outcome ResolveHost(const std::string& host, int family, sockaddr_storage* address) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) {
    const char* wanted = family == AF_INET6 ? "IPv6 " : family == AF_INET ? "IPv4 " : "";
    return Outcome::Fail(
        fmt::format("no {}address for host '{}': {}", wanted, host, gai_strerror(error)));
  }
  const addrinfo* chosen = nullptr;
  for (const addrinfo* info = list; info != nullptr; info = info->ai_next) {
    if (info->ai_family != AF_INET && info->ai_family != AF_INET6) continue;
    if (chosen == nullptr || (chosen->ai_family != AF_INET && info->ai_family == AF_INET))
      chosen = info;
  }
  if (chosen != nullptr) std::memcpy(address, chosen->ai_addr, chosen->ai_addrlen);
  freeaddrinfo(list);
  if (chosen == nullptr) return Outcome::Fail(fmt::format("no IP address for host '{}'", host));
  return {};
}

std::string FormatAddress(const sockaddr* address) {
  if (address == nullptr) return "no address";
  socklen_t length = 0;
  if (address->sa_family == AF_INET) length = sizeof(sockaddr_in);
  if (address->sa_family == AF_INET6) length = sizeof(sockaddr_in6);
  char text[NI_MAXHOST];
  if (length == 0 ||
      getnameinfo(address, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
    return "no address";
  return text;
}

bool ParseConnQual(const std::string& text, uint64_t* conn_qual) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const char* first = text.data() + (hex ? 2 : 0);
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, *conn_qual, hex ? 16 : 10);
  return error == std::errc() && end == last && first != last;
}

}  // namespace softdat::tools
