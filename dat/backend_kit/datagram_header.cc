// SPDX-License-Identifier: BSD-3-Clause
// MakeDatagramHeader.
#include "dat/backend_kit/datagram_header.h"

#include <netinet/in.h>

#include <cstring>

namespace softdat {
namespace {

constexpr size_t kIpv4Header = 20;
constexpr size_t kUdpHeader = 8;
constexpr uint8_t kHops = 64;

void PutBigEndian16(size_t value, uint8_t* at) {
  at[0] = static_cast<uint8_t>(value >> 8);
  at[1] = static_cast<uint8_t>(value);
}

// RFC 791: the ones' complement of the ones' complement sum of the header.
uint16_t Checksum(const uint8_t* header) {
  uint32_t sum = 0;
  for (size_t i = 0; i < kIpv4Header; i += 2)
    sum += static_cast<uint32_t>(header[i]) << 8 | header[i + 1];
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

void FillIpv4(const sockaddr_storage& from, const sockaddr_storage& to, size_t udp_payload,
              uint8_t* header) {
  sockaddr_in source{}, target{};
  std::memcpy(&source, &from, sizeof source);
  std::memcpy(&target, &to, sizeof target);
  header[0] = 0x45;  // version 4, five words
  PutBigEndian16(kIpv4Header + kUdpHeader + udp_payload, header + 2);
  header[6] = 0x40;  // do not fragment
  header[8] = kHops;
  header[9] = IPPROTO_UDP;
  std::memcpy(header + 12, &source.sin_addr, sizeof source.sin_addr);
  std::memcpy(header + 16, &target.sin_addr, sizeof target.sin_addr);
  PutBigEndian16(Checksum(header), header + 10);
}

void FillIpv6(const sockaddr_storage& from, const sockaddr_storage& to, size_t udp_payload,
              uint8_t* header) {
  sockaddr_in6 source{}, target{};
  std::memcpy(&source, &from, sizeof source);
  std::memcpy(&target, &to, sizeof target);
  header[0] = 0x60;  // version 6
  PutBigEndian16(kUdpHeader + udp_payload, header + 4);
  header[6] = IPPROTO_UDP;
  header[7] = kHops;
  std::memcpy(header + 8, &source.sin6_addr, sizeof source.sin6_addr);
  std::memcpy(header + 24, &target.sin6_addr, sizeof target.sin6_addr);
}

}  // namespace

DatagramHeader MakeDatagramHeader(const sockaddr_storage& from, const sockaddr_storage& to,
                                  size_t udp_payload) {
  DatagramHeader header{};
  if (to.ss_family == AF_INET6) {
    FillIpv6(from, to, udp_payload, header.data());
  } else {
    FillIpv4(from, to, udp_payload, header.data() + header.size() - kIpv4Header);
  }
  return header;
}

}  // namespace softdat
