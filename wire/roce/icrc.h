// SPDX-License-Identifier: BSD-3-Clause
// The invariant CRC of a RoCEv2 packet: IBTA vol. 1 §7.8.1 and annex A17. It covers the IP header,
// the UDP header and everything after them. Fields that a router may change count as all ones. A
// socket sees neither header, so both are made from what the socket knows.
//
// A state runs through the packet, so that payload can be summed while it is in the cache:
//   IcrcStart(flow, size), IcrcOfBth, IcrcExtend (extended headers, payload, pad), IcrcFinish.

#ifndef SOFTDAT_WIRE_ROCE_ICRC_H_
#define SOFTDAT_WIRE_ROCE_ICRC_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"
#include "wire/crc32.h"
#include "wire/roce/bth.h"

namespace softdat::roce {

inline constexpr size_t kIcrcSize = 4;
inline constexpr uint16_t kUdpPort = 4791;
/// The state after eight octets of ones, which stand for the link header of InfiniBand.
inline constexpr uint32_t kIcrcSeed = 0xdebb20e3;
/// Flags and fragment offset of an IPv4 header: do not fragment.
inline constexpr uint16_t kDontFragment = 0x4000;

/// The fields of the IPv4 (without options) and UDP headers that the ICRC covers, except for the
/// lengths.
struct Ipv4Flow {
  std::array<uint8_t, 4> source = {};
  std::array<uint8_t, 4> destination = {};
  uint16_t source_port = 0;
  uint16_t destination_port = kUdpPort;
  uint16_t identification = 0;
  uint16_t fragment = kDontFragment;
};

/// The same for IPv6 without extension headers.
struct Ipv6Flow {
  std::array<uint8_t, 16> source = {};
  std::array<uint8_t, 16> destination = {};
  uint16_t source_port = 0;
  uint16_t destination_port = kUdpPort;
};

/// The state after both headers of a datagram with `udp_payload` octets, including the ICRC.
uint32_t IcrcStart(const Ipv4Flow& flow, size_t udp_payload);
uint32_t IcrcStart(const Ipv6Flow& flow, size_t udp_payload);

/// What an identification adds (by exclusive or) to the IcrcStart state of a flow whose
/// identification is 0: the CRC is linear. It depends neither on the flow nor on the size.
uint32_t IcrcShareOfIdentification(uint16_t identification);

/// Takes in the BTH, whose congestion marks count as ones.
uint32_t IcrcOfBth(uint32_t state, std::span<const uint8_t, kBthSize> bth);

/// Takes in any part of the packet after the BTH.
inline uint32_t IcrcExtend(uint32_t state, ByteSpan part) {
  return Crc32Extend(state, part.data(), part.size());
}

constexpr uint32_t IcrcFinish(uint32_t state) { return Crc32Finish(state); }

/// The ICRC is sent least significant octet first, unlike every other field.
inline void StoreIcrc(uint8_t* out, uint32_t value) { StoreLe32(out, value); }
inline uint32_t LoadIcrc(const uint8_t* in) { return LoadLe32(in); }

/// The ICRC of a whole packet, from the BTH to the pad. `start` is IcrcStart's state. Returns 0 if
/// the packet is shorter than a BTH.
uint32_t IcrcOf(uint32_t start, ByteSpan packet_without_icrc);

/// Whether a UDP payload ends with its right ICRC.
bool IcrcOk(uint32_t start, ByteSpan udp_payload);

}  // namespace softdat::roce

#endif  // SOFTDAT_WIRE_ROCE_ICRC_H_
