// SPDX-License-Identifier: BSD-3-Clause
// Socket addresses: host names to addresses, addresses to text.
#ifndef SOFTDAT_TOOLS_COMMON_ADDRESS_H_
#define SOFTDAT_TOOLS_COMMON_ADDRESS_H_

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "tools/common/outcome.h"

namespace softdat::tools {

// The first address of a host name or a numeric address ("127.0.0.1", "fe80::1%eth0").
// `family` is AF_INET, AF_INET6, or AF_UNSPEC for IPv4 if there is one, else IPv6. May block on
// the resolver.
Outcome ResolveHost(const std::string& host, int family, sockaddr_storage* address);

// "127.0.0.1" or "fe80::1%2", without the port. "no address" for nullptr or another family.
std::string FormatAddress(const sockaddr* address);

// Connection qualifiers have 64 bits. The text is decimal or 0x hexadecimal.
bool ParseConnQual(const std::string& text, uint64_t* conn_qual);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_COMMON_ADDRESS_H_
