// SPDX-License-Identifier: BSD-3-Clause
// The base transport header: IBTA vol. 1 §9.2; FECN and BECN as of annex A17.

#ifndef SOFTDAT_WIRE_ROCE_BTH_H_
#define SOFTDAT_WIRE_ROCE_BTH_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"
#include "wire/roce/opcode.h"

namespace softdat::roce {

inline constexpr size_t kBthSize = 12;
/// The octet of the BTH that the ICRC does not cover. It has the congestion marks.
inline constexpr size_t kBthMaskedOctet = 4;
inline constexpr uint16_t kDefaultPKey = 0xffff;
/// QPNs and PSNs have 24 bits.
inline constexpr uint32_t kMask24 = 0xffffff;

struct Bth {
  Opcode opcode = Opcode::kSendOnly;
  bool solicited = false;  ///< SE: the message raises a solicited event.
  bool migrated = false;   ///< M. rxe never sets it, adapters always do, and nobody checks it.
  uint8_t pad = 0;         ///< Octets after the payload, below 4.
  uint16_t pkey = kDefaultPKey;
  bool fecn = false;
  bool becn = false;
  uint32_t dest_qpn = 0;     ///< 24 bits.
  bool ack_request = false;  ///< A: the responder shall acknowledge.
  uint32_t psn = 0;          ///< 24 bits.

  bool operator==(const Bth&) const = default;
};

enum class BthParse : uint8_t {
  kOk,
  kTooShort,       ///< The packet ends inside the BTH.
  kBadVersion,     ///< The transport header version is not 0.
  kUnknownOpcode,  ///< No opcode of RC or UD.
};

/// Reads the header at the front of `packet`. Reserved bits are ignored. `out` is written for kOk
/// and for kUnknownOpcode, because a responder answers an opcode that it does not know with a NAK.
inline BthParse ParseBth(ByteSpan packet, Bth* out) {
  if (packet.size() < kBthSize) return BthParse::kTooShort;
  const uint8_t* p = packet.data();
  if ((p[1] & 0x0f) != 0) return BthParse::kBadVersion;
  out->opcode = static_cast<Opcode>(p[0]);
  out->solicited = (p[1] & 0x80) != 0;
  out->migrated = (p[1] & 0x40) != 0;
  out->pad = (p[1] >> 4) & 3;
  out->pkey = LoadBe16(p + 2);
  out->fecn = (p[kBthMaskedOctet] & 0x80) != 0;
  out->becn = (p[kBthMaskedOctet] & 0x40) != 0;
  out->dest_qpn = LoadBe32(p + 4) & kMask24;
  out->ack_request = (p[8] & 0x80) != 0;
  out->psn = LoadBe32(p + 8) & kMask24;
  return TraitsOf(out->opcode).known() ? BthParse::kOk : BthParse::kUnknownOpcode;
}

/// Writes the header, with the low 24 bits of `dest_qpn` and `psn`, and the low two of `pad`.
inline void EncodeBth(const Bth& bth, std::span<uint8_t, kBthSize> out) {
  uint8_t* p = out.data();
  p[0] = static_cast<uint8_t>(bth.opcode);
  p[1] = static_cast<uint8_t>((bth.solicited ? 0x80 : 0) | (bth.migrated ? 0x40 : 0) |
                              (bth.pad & 3) << 4);
  StoreBe16(p + 2, bth.pkey);
  const uint32_t marks = (bth.fecn ? 0x80000000u : 0) | (bth.becn ? 0x40000000u : 0);
  StoreBe32(p + 4, marks | (bth.dest_qpn & kMask24));
  StoreBe32(p + 8, (bth.ack_request ? 0x80000000u : 0) | (bth.psn & kMask24));
}

/// A fixed text for a parse result.
const char* BthParseText(BthParse result);

}  // namespace softdat::roce

#endif  // SOFTDAT_WIRE_ROCE_BTH_H_
