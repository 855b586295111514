// SPDX-License-Identifier: BSD-3-Clause
// The invariant CRC over masked headers.

#include "wire/roce/icrc.h"

#include <algorithm>
#include <cstring>

namespace softdat::roce {
namespace {

constexpr size_t kIpv4Size = 20;
constexpr size_t kIpv6Size = 40;
constexpr size_t kUdpSize = 8;
constexpr uint8_t kProtocolUdp = 17;
constexpr uint8_t kOnes = 0xff;
constexpr uint16_t kOnes16 = 0xffff;

void StoreUdp(uint8_t* p, uint16_t source_port, uint16_t destination_port, size_t udp_payload) {
  StoreBe16(p, source_port);
  StoreBe16(p + 2, destination_port);
  StoreBe16(p + 4, static_cast<uint16_t>(kUdpSize + udp_payload));
  StoreBe16(p + 6, kOnes16);  // checksum
}

/// Octets of both headers behind the identification of an IPv4 header.
constexpr size_t kBehindIdentification = 22;
constexpr uint32_t kPolynomial = 0xedb88320;  // reflected

/// Shares of all values of each octet of the identification.
struct Shares {
  std::array<uint32_t, 256> high;
  std::array<uint32_t, 256> low;
};

constexpr uint32_t Behind(uint32_t state, size_t octets) {
  for (size_t bit = 0; bit < 8 * octets; ++bit) {
    state = (state >> 1) ^ ((state & 1) != 0 ? kPolynomial : 0);
  }
  return state;
}

constexpr Shares MakeShares() {
  Shares shares{};
  for (uint32_t octet = 0; octet < 256; ++octet) {
    shares.low[octet] = Behind(octet, 1 + kBehindIdentification);
    shares.high[octet] = Behind(shares.low[octet], 1);
  }
  return shares;
}
constexpr Shares kShares = MakeShares();

}  // namespace

[[gnu::hot]] uint32_t IcrcShareOfIdentification(uint16_t identification) {
  return kShares.high[identification >> 8] ^ kShares.low[identification & 0xff];
}

[[gnu::hot]] uint32_t IcrcStart(const Ipv4Flow& flow, size_t udp_payload) {
  std::array<uint8_t, kIpv4Size + kUdpSize> headers;
  uint8_t* p = headers.data();
  p[0] = 0x45;
  p[1] = kOnes;  // type of service
  StoreBe16(p + 2, static_cast<uint16_t>(headers.size() + udp_payload));
  StoreBe16(p + 4, flow.identification);
  StoreBe16(p + 6, flow.fragment);
  p[8] = kOnes;  // time to live
  p[9] = kProtocolUdp;
  StoreBe16(p + 10, kOnes16);  // header checksum
  std::memcpy(p + 12, flow.source.data(), flow.source.size());
  std::memcpy(p + 16, flow.destination.data(), flow.destination.size());
  StoreUdp(p + kIpv4Size, flow.source_port, flow.destination_port, udp_payload);
  return IcrcExtend(kIcrcSeed, headers);
}

[[gnu::hot]] uint32_t IcrcStart(const Ipv6Flow& flow, size_t udp_payload) {
  std::array<uint8_t, kIpv6Size + kUdpSize> headers;
  uint8_t* p = headers.data();
  StoreBe32(p, 0x6fffffff);  // version; traffic class and flow label are ones
  StoreBe16(p + 4, static_cast<uint16_t>(kUdpSize + udp_payload));
  p[6] = kProtocolUdp;
  p[7] = kOnes;  // hop limit
  std::memcpy(p + 8, flow.source.data(), flow.source.size());
  std::memcpy(p + 24, flow.destination.data(), flow.destination.size());
  StoreUdp(p + kIpv6Size, flow.source_port, flow.destination_port, udp_payload);
  return IcrcExtend(kIcrcSeed, headers);
}

uint32_t IcrcOfBth(uint32_t state, std::span<const uint8_t, kBthSize> bth) {
  std::array<uint8_t, kBthSize> masked;
  std::copy(bth.begin(), bth.end(), masked.begin());
  masked[kBthMaskedOctet] = kOnes;
  return IcrcExtend(state, masked);
}

[[gnu::hot]] uint32_t IcrcOf(uint32_t start, ByteSpan packet_without_icrc) {
  if (packet_without_icrc.size() < kBthSize) return 0;
  const uint32_t state = IcrcOfBth(start, packet_without_icrc.first<kBthSize>());
  return IcrcFinish(IcrcExtend(state, packet_without_icrc.subspan(kBthSize)));
}

bool IcrcOk(uint32_t start, ByteSpan udp_payload) {
  if (udp_payload.size() < kBthSize + kIcrcSize) return false;
  const size_t covered = udp_payload.size() - kIcrcSize;
  return IcrcOf(start, udp_payload.first(covered)) == LoadIcrc(udp_payload.data() + covered);
}

}  // namespace softdat::roce
