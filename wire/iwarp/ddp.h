// SPDX-License-Identifier: BSD-3-Clause
// DDP segment headers with their RDMAP control octet: RFC 5041 §4, RFC 5040 §4.1, RFC 7306 §4.

#ifndef SOFTDAT_WIRE_IWARP_DDP_H_
#define SOFTDAT_WIRE_IWARP_DDP_H_

#include <cstddef>
#include <cstdint>

#include "wire/bytes.h"
#include "wire/iwarp/fpdu.h"
#include "wire/iwarp/terminate_code.h"

namespace softdat::iwarp {

/// RDMAP opcodes (RFC 5040 §4.1, RFC 7306 §4.2).
enum class Opcode : uint8_t {
  kWrite = 0,
  kReadRequest = 1,
  kReadResponse = 2,
  kSend = 3,
  kSendInvalidate = 4,
  kSendSolicited = 5,
  kSendSolicitedInvalidate = 6,
  kTerminate = 7,
  kImmediate = 8,
  kImmediateSolicited = 9,
  kAtomicRequest = 10,
  kAtomicResponse = 11,
};
inline constexpr uint8_t kOpcodeCount = 12;
/// Number of opcodes that RFC 5040 defines. RFC 7306 added those from here on.
inline constexpr uint8_t kRfc5040OpcodeCount = 8;

/// Untagged queues (RFC 5040 §4.1, RFC 7306 §6).
inline constexpr uint32_t kQnSend = 0;
inline constexpr uint32_t kQnReadRequest = 1;
inline constexpr uint32_t kQnTerminate = 2;
inline constexpr uint32_t kQnAtomicResponse = 3;
inline constexpr uint32_t kQnCount = 4;

/// First message sequence number of every queue. It rises by 1 per message, modulo 2^32.
inline constexpr uint32_t kFirstMsn = 1;

inline constexpr size_t kTaggedHeaderSize = 14;
inline constexpr size_t kUntaggedHeaderSize = 18;
inline constexpr size_t kMaxDdpHeaderSize = kUntaggedHeaderSize;
/// The same with the FPDU's length field in front.
inline constexpr size_t kTaggedFpduHeaderSize = kFpduLengthSize + kTaggedHeaderSize;
inline constexpr size_t kUntaggedFpduHeaderSize = kFpduLengthSize + kUntaggedHeaderSize;

/// Bits of the DDP control octet.
inline constexpr uint8_t kDdpTagged = 0x80;
inline constexpr uint8_t kDdpLast = 0x40;
inline constexpr uint8_t kDdpVersionMask = 0x03;
inline constexpr uint8_t kDdpVersion = 0x01;
/// Bits of the RDMAP control octet.
inline constexpr uint8_t kRdmapVersionMask = 0xc0;
inline constexpr uint8_t kRdmapVersion = 0x40;
inline constexpr uint8_t kRdmapOpcodeMask = 0x0f;

constexpr bool IsSend(Opcode op) {
  return op >= Opcode::kSend && op <= Opcode::kSendSolicitedInvalidate;
}
constexpr bool IsImmediate(Opcode op) {
  return op == Opcode::kImmediate || op == Opcode::kImmediateSolicited;
}
/// Whether the message raises a solicited event at its receiver.
constexpr bool IsSolicited(Opcode op) {
  return op == Opcode::kSendSolicited || op == Opcode::kSendSolicitedInvalidate ||
         op == Opcode::kImmediateSolicited;
}
constexpr bool HasInvalidate(Opcode op) {
  return op == Opcode::kSendInvalidate || op == Opcode::kSendSolicitedInvalidate;
}
/// Whether the opcode goes in tagged segments.
constexpr bool IsTagged(Opcode op) { return op == Opcode::kWrite || op == Opcode::kReadResponse; }

/// A segment's header. Which fields are valid follows from `tagged`.
struct DdpHeader {
  Opcode opcode = Opcode::kWrite;
  bool tagged = false;
  bool last = false;
  uint8_t size = 0;   ///< Octets of the header; the payload lies behind.
  uint32_t stag = 0;  ///< Tagged: STag. Untagged: Invalidate STag (HasInvalidate), else ignore.
  uint64_t to = 0;    ///< Tagged: offset of the first payload octet.
  uint32_t qn = 0;    ///< Untagged: queue number, below kQnCount.
  uint32_t msn = 0;   ///< Untagged: message sequence number.
  uint32_t mo = 0;    ///< Untagged: offset of the payload in the message.
};

/// What ParseDdpHeader found.
enum class DdpParse : uint8_t {
  kOk,
  kTooShort,            ///< The segment ends inside its header.
  kBadTaggedVersion,    ///< DDP version is not 1.
  kBadUntaggedVersion,  ///< The same in an untagged segment.
  kBadQn,               ///< A queue that no opcode uses.
  kBadRdmapVersion,     ///< RDMAP version is not 1.
  kUnexpectedOpcode,    ///< Unknown, or not for this model (tagged, untagged) or queue.
};

/// The Terminate that a parse result calls for; kAccept for kOk. No code fits a segment that is
/// shorter than its header. The nearest is MPA's "marker and ULPDU_Length disagree", as the length
/// is wrong.
constexpr TerminateCode TerminateFor(DdpParse result) {
  switch (result) {
    case DdpParse::kOk:
      return kAccept;
    case DdpParse::kTooShort:
      return kTermMpaMarkerMismatch;
    case DdpParse::kBadTaggedVersion:
      return kTermTaggedDdpVersion;
    case DdpParse::kBadUntaggedVersion:
      return kTermUntaggedDdpVersion;
    case DdpParse::kBadQn:
      return kTermInvalidQn;
    case DdpParse::kBadRdmapVersion:
      return kTermRdmapVersion;
    case DdpParse::kUnexpectedOpcode:
      return kTermUnexpectedOpcode;
  }
  return kTermLocalCatastrophic;
}

namespace ddp_internal {

// For each opcode the queue that it travels on, or a mark for the tagged model or for "no such
// opcode".
inline constexpr uint8_t kTaggedModel = 0xfe;
inline constexpr uint8_t kNoOpcode = 0xff;
inline constexpr uint8_t kRoute[16] = {
    kTaggedModel, kQnReadRequest, kTaggedModel, kQnSend,  kQnSend,        kQnSend,
    kQnSend,      kQnTerminate,   kQnSend,      kQnSend,  kQnReadRequest, kQnAtomicResponse,
    kNoOpcode,    kNoOpcode,      kNoOpcode,    kNoOpcode};

}  // namespace ddp_internal

/// The queue that an untagged opcode travels on. Not for tagged opcodes.
constexpr uint32_t QueueOf(Opcode op) { return ddp_internal::kRoute[static_cast<uint8_t>(op)]; }

/// Reads the header at the front of `ulpdu`, a whole DDP segment. DDP's own checks (version, queue)
/// come before RDMAP's (version, opcode), as the layers do. Reserved bits are ignored. `out` is
/// written only for kOk.
inline DdpParse ParseDdpHeader(ByteSpan ulpdu, DdpHeader* out) {
  if (ulpdu.size() < kTaggedHeaderSize) return DdpParse::kTooShort;
  const uint8_t* p = ulpdu.data();
  const uint8_t ddp = p[0];
  const uint8_t rdmap = p[1];
  const uint8_t route = ddp_internal::kRoute[rdmap & kRdmapOpcodeMask];
  if ((ddp & kDdpTagged) != 0) {
    if ((ddp & kDdpVersionMask) != kDdpVersion) return DdpParse::kBadTaggedVersion;
    if ((rdmap & kRdmapVersionMask) != kRdmapVersion) return DdpParse::kBadRdmapVersion;
    if (route != ddp_internal::kTaggedModel) return DdpParse::kUnexpectedOpcode;
    out->tagged = true;
    out->size = kTaggedHeaderSize;
    out->stag = LoadBe32(p + 2);
    out->to = LoadBe64(p + 6);
    out->qn = out->msn = out->mo = 0;
  } else {
    if ((ddp & kDdpVersionMask) != kDdpVersion) return DdpParse::kBadUntaggedVersion;
    if (ulpdu.size() < kUntaggedHeaderSize) return DdpParse::kTooShort;
    const uint32_t qn = LoadBe32(p + 6);
    if (qn >= kQnCount) return DdpParse::kBadQn;
    if ((rdmap & kRdmapVersionMask) != kRdmapVersion) return DdpParse::kBadRdmapVersion;
    if (route != qn) return DdpParse::kUnexpectedOpcode;
    out->tagged = false;
    out->size = kUntaggedHeaderSize;
    out->stag = LoadBe32(p + 2);
    out->to = 0;
    out->qn = qn;
    out->msn = LoadBe32(p + 10);
    out->mo = LoadBe32(p + 14);
  }
  out->opcode = static_cast<Opcode>(rdmap & kRdmapOpcodeMask);
  out->last = (ddp & kDdpLast) != 0;
  return DdpParse::kOk;
}

namespace ddp_internal {

// Length field and both control octets as one big-endian word.
constexpr uint32_t LeadWord(size_t ulpdu, bool tagged, bool last, Opcode op) {
  return static_cast<uint32_t>(ulpdu) << 16 |
         static_cast<uint32_t>(kDdpVersion | (tagged ? kDdpTagged : 0) | (last ? kDdpLast : 0))
             << 8 |
         static_cast<uint32_t>(kRdmapVersion | static_cast<uint8_t>(op));
}

}  // namespace ddp_internal

/// Both control octets of the only segment of a message, as a big-endian word.
constexpr uint16_t OnlySegmentControl(Opcode op) {
  return static_cast<uint16_t>(ddp_internal::LeadWord(0, IsTagged(op), /*last=*/true, op));
}

/// Writes FPDU length field and tagged header, kTaggedFpduHeaderSize octets.
/// `payload_size` + 14 is at most kMaxUlpdu.
inline void EncodeTaggedFpduHeader(uint8_t* out, Opcode op, bool last, uint32_t stag, uint64_t to,
                                   size_t payload_size) {
  const uint32_t lead =
      ddp_internal::LeadWord(kTaggedHeaderSize + payload_size, /*tagged=*/true, last, op);
  StoreBe64(out, static_cast<uint64_t>(lead) << 32 | stag);
  StoreBe64(out + 8, to);
}

/// Writes FPDU length field and untagged header, kUntaggedFpduHeaderSize octets.
/// `payload_size` + 18 is at most kMaxUlpdu; `inval_stag` is 0 unless HasInvalidate(op).
inline void EncodeUntaggedFpduHeader(uint8_t* out, Opcode op, bool last, uint32_t inval_stag,
                                     uint32_t qn, uint32_t msn, uint32_t mo, size_t payload_size) {
  const uint32_t lead =
      ddp_internal::LeadWord(kUntaggedHeaderSize + payload_size, /*tagged=*/false, last, op);
  StoreBe64(out, static_cast<uint64_t>(lead) << 32 | inval_stag);
  StoreBe64(out + 8, static_cast<uint64_t>(qn) << 32 | msn);
  StoreBe32(out + 16, mo);
}

/// Writes the tagged header alone, kTaggedHeaderSize octets.
inline void EncodeTagged(uint8_t* out, Opcode op, bool last, uint32_t stag, uint64_t to) {
  StoreBe16(out, static_cast<uint16_t>(ddp_internal::LeadWord(0, /*tagged=*/true, last, op)));
  StoreBe32(out + 2, stag);
  StoreBe64(out + 6, to);
}

/// Writes the untagged header alone, kUntaggedHeaderSize octets.
inline void EncodeUntagged(uint8_t* out, Opcode op, bool last, uint32_t inval_stag, uint32_t qn,
                           uint32_t msn, uint32_t mo) {
  StoreBe16(out, static_cast<uint16_t>(ddp_internal::LeadWord(0, /*tagged=*/false, last, op)));
  StoreBe32(out + 2, inval_stag);
  StoreBe64(out + 6, static_cast<uint64_t>(qn) << 32 | msn);
  StoreBe32(out + 14, mo);
}

/// A fixed name for logs ("Send", "RDMA Write", ...); "unknown" outside the known opcodes.
const char* OpcodeText(Opcode op);

/// A fixed text for a parse result.
const char* DdpParseText(DdpParse result);

}  // namespace softdat::iwarp

#endif  // SOFTDAT_WIRE_IWARP_DDP_H_
