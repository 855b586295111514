// SPDX-License-Identifier: BSD-3-Clause
// The addresses of the nodes of a simulated network: 10.0.0.0 is node 0.
#ifndef SOFTDAT_TESTS_SIM_NODE_ADDRESS_H_
#define SOFTDAT_TESTS_SIM_NODE_ADDRESS_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>

namespace softdat::sim {

inline constexpr uint32_t kAddressOfNode0 = 0x0a000000;

inline sockaddr_storage AddressOfNode(int number) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(kAddressOfNode0 + static_cast<uint32_t>(number));
  sockaddr_storage address{};
  std::memcpy(&address, &in, sizeof(in));
  return address;
}

inline int NodeOfAddress(const sockaddr_storage& address) {
  sockaddr_in in;
  std::memcpy(&in, &address, sizeof(in));
  return static_cast<int>(ntohl(in.sin_addr.s_addr) - kAddressOfNode0);
}

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_NODE_ADDRESS_H_
