// SPDX-License-Identifier: BSD-3-Clause
// A whole packet as a UDP datagram carries it: BTH, extended headers, payload, pad, ICRC.

#ifndef SOFTDAT_WIRE_ROCE_PACKET_H_
#define SOFTDAT_WIRE_ROCE_PACKET_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"
#include "wire/roce/bth.h"
#include "wire/roce/extended_headers.h"
#include "wire/roce/icrc.h"
#include "wire/roce/opcode.h"

namespace softdat::roce {

inline constexpr size_t kMaxPad = 3;
/// The largest numbers of octets before the payload and after it.
inline constexpr size_t kMaxHeaderSize = kBthSize + kMaxExtendedSize;
inline constexpr size_t kMaxTrailerSize = kMaxPad + kIcrcSize;
inline constexpr size_t kMaxMtu = 4096;
/// The largest packet that fits into one datagram of IPv4.
inline constexpr size_t kMaxPacketSize = 65535 - 28;

struct Packet {
  Bth bth = {};  ///< `pad` is that of the packet. An encoder makes its own.
  ExtendedHeaders headers = {};
  ByteSpan payload = {};  ///< Without pad.
};

enum class PacketParse : uint8_t {
  kOk,
  kTooShort,       ///< Shorter than BTH and ICRC.
  kUnaligned,      ///< Not a multiple of four octets.
  kBadVersion,     ///< The transport header version is not 0.
  kUnknownOpcode,  ///< No opcode of RC or UD.
  kHeadersCut,     ///< The packet ends inside its extended headers.
  kBadPad,         ///< More pad than there are octets after the headers.
};

/// The number of pad octets after a payload.
constexpr size_t PadOf(size_t payload) { return (0 - payload) & kMaxPad; }

/// The number of octets before the payload.
constexpr size_t HeaderSize(Opcode op) { return kBthSize + TraitsOf(op).extended_size; }

/// The number of octets of the whole packet.
constexpr size_t PacketSize(Opcode op, size_t payload) {
  return HeaderSize(op) + payload + PadOf(payload) + kIcrcSize;
}

/// Takes a UDP payload apart. It does not look at the ICRC (IcrcOk does). `out` is written for kOk,
/// and its payload points into the input. From kUnknownOpcode on, its BTH is written too, because
/// an answer needs it.
PacketParse ParsePacket(ByteSpan udp_payload, Packet* out);

/// The way in which a payload disagrees with its opcode and the path MTU (IBTA vol. 1 §9.7.4.1.6).
enum class PayloadCheck : uint8_t {
  kOk,
  kUnexpected,  ///< The opcode has none.
  kMissing,     ///< The last packet of several must have some.
  kNotMtu,      ///< A packet that others follow must be as long as the MTU.
  kTooLong,     ///< Longer than the MTU.
};
PayloadCheck CheckPayload(Opcode op, size_t payload, size_t mtu);

/// Writes BTH and extended headers, with the pad count that `payload` needs. Returns their size, or
/// 0 if the opcode is unknown or `out` is too small.
size_t EncodeHeaders(const Packet& packet, size_t payload, std::span<uint8_t> out);

/// Writes pad and ICRC for a sender that has run everything before them through `state`. `out` has
/// room for kMaxTrailerSize octets. Returns the number of octets written.
size_t StoreTrailer(uint8_t* out, size_t payload, uint32_t state);

/// Writes the whole packet. `start` is IcrcStart's state for PacketSize octets. Returns the size,
/// or 0 if the opcode is unknown or `out` is too small.
size_t EncodePacket(const Packet& packet, uint32_t start, std::span<uint8_t> out);

/// Fixed texts.
const char* PacketParseText(PacketParse result);
const char* PayloadCheckText(PayloadCheck result);

}  // namespace softdat::roce

#endif  // SOFTDAT_WIRE_ROCE_PACKET_H_
