// SPDX-License-Identifier: BSD-3-Clause
// Takes an IP packet of a vector or a capture apart, for tests.

#include "wire/roce/ip_headers.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace softdat::roce {
namespace {

constexpr size_t kIpv4Size = 20;
constexpr size_t kIpv6Size = 40;
constexpr size_t kUdpSize = 8;
constexpr uint8_t kUdp = 17;

template <size_t kSize>
std::array<uint8_t, kSize> Take(const uint8_t* p) {
  std::array<uint8_t, kSize> out;
  std::copy(p, p + kSize, out.begin());
  return out;
}

// Reads the ports and returns the octets after the UDP header.
template <typename Flow>
ByteSpan TakeUdp(ByteSpan udp, Flow* flow) {
  if (udp.size() < kUdpSize || LoadBe16(&udp[4]) != udp.size()) {
    ADD_FAILURE() << "no whole UDP datagram";
    return {};
  }
  flow->source_port = LoadBe16(udp.data());
  flow->destination_port = LoadBe16(&udp[2]);
  return udp.subspan(kUdpSize);
}

Datagram ParseIpv4(ByteSpan ip) {
  EXPECT_EQ(LoadBe16(&ip[2]), ip.size());
  Ipv4Flow flow;
  flow.identification = LoadBe16(&ip[4]);
  flow.fragment = LoadBe16(&ip[6]);
  flow.source = Take<4>(&ip[12]);
  flow.destination = Take<4>(&ip[16]);
  const ByteSpan payload = TakeUdp(ip.subspan(kIpv4Size), &flow);
  return {flow, payload};
}

Datagram ParseIpv6(ByteSpan ip) {
  EXPECT_EQ(LoadBe16(&ip[4]) + kIpv6Size, ip.size());
  Ipv6Flow flow;
  flow.source = Take<16>(&ip[8]);
  flow.destination = Take<16>(&ip[24]);
  const ByteSpan payload = TakeUdp(ip.subspan(kIpv6Size), &flow);
  return {flow, payload};
}

}  // namespace

Datagram ParseIp(ByteSpan ip) {
  if (ip.size() >= kIpv4Size && ip[0] == 0x45 && ip[9] == kUdp) return ParseIpv4(ip);
  if (ip.size() >= kIpv6Size && ip[0] >> 4 == 6 && ip[6] == kUdp) return ParseIpv6(ip);
  ADD_FAILURE() << "neither UDP over IPv4 without options nor UDP over IPv6";
  return {};
}

}  // namespace softdat::roce
