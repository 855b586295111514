// SPDX-License-Identifier: BSD-3-Clause
// The error triples that a Terminate states: RFC 5040 §4.8 and §7, RFC 5041 §8.2, RFC 5044 §8,
// RFC 6581 §5.

#ifndef SOFTDAT_WIRE_IWARP_TERMINATE_CODE_H_
#define SOFTDAT_WIRE_IWARP_TERMINATE_CODE_H_

#include <cstdint>

namespace softdat::iwarp {

/// Layer, error type and error code of a Terminate, or "nothing wrong", which has no value on the
/// wire.
struct TerminateCode {
  uint8_t layer = kNone;
  uint8_t etype = kNone;
  uint8_t code = kNone;

  static constexpr uint8_t kNone = 0xff;

  /// True for the value that says "accept". No layer on the wire has it, because layers have 4
  /// bits.
  constexpr bool ok() const { return layer == kNone; }
  constexpr bool operator==(const TerminateCode&) const = default;
};

/// Nothing wrong.
inline constexpr TerminateCode kAccept{};

inline constexpr uint8_t kLayerRdmap = 0;
inline constexpr uint8_t kLayerDdp = 1;
inline constexpr uint8_t kLayerLlp = 2;

inline constexpr uint8_t kRdmapLocalCatastrophic = 0;
inline constexpr uint8_t kRdmapRemoteProtection = 1;
inline constexpr uint8_t kRdmapRemoteOperation = 2;
inline constexpr uint8_t kDdpLocalCatastrophic = 0;
inline constexpr uint8_t kDdpTaggedBuffer = 1;
inline constexpr uint8_t kDdpUntaggedBuffer = 2;
inline constexpr uint8_t kDdpLlpReserved = 3;
inline constexpr uint8_t kLlpMpa = 0;

// RDMAP, local catastrophic error.
inline constexpr TerminateCode kTermLocalCatastrophic{0, 0, 0};
// RDMAP, remote protection error.
inline constexpr TerminateCode kTermRemoteInvalidStag{0, 1, 0x00};
inline constexpr TerminateCode kTermRemoteBounds{0, 1, 0x01};
inline constexpr TerminateCode kTermRemoteAccess{0, 1, 0x02};
inline constexpr TerminateCode kTermRemoteStagNotAssociated{0, 1, 0x03};
inline constexpr TerminateCode kTermRemoteToWrap{0, 1, 0x04};
inline constexpr TerminateCode kTermRemoteCannotInvalidate{0, 1, 0x09};
inline constexpr TerminateCode kTermRemoteProtectionUnspecified{0, 1, 0xff};
// RDMAP, remote operation error.
inline constexpr TerminateCode kTermRdmapVersion{0, 2, 0x05};
inline constexpr TerminateCode kTermUnexpectedOpcode{0, 2, 0x06};
inline constexpr TerminateCode kTermStreamCatastrophic{0, 2, 0x07};
inline constexpr TerminateCode kTermAllStreamsCatastrophic{0, 2, 0x08};
inline constexpr TerminateCode kTermOperationCannotInvalidate{0, 2, 0x09};
inline constexpr TerminateCode kTermRemoteOperationUnspecified{0, 2, 0xff};
// DDP, local catastrophic error.
inline constexpr TerminateCode kTermDdpLocalCatastrophic{1, 0, 0x00};
// DDP, tagged buffer error.
inline constexpr TerminateCode kTermTaggedInvalidStag{1, 1, 0x00};
inline constexpr TerminateCode kTermTaggedBounds{1, 1, 0x01};
inline constexpr TerminateCode kTermTaggedStagNotAssociated{1, 1, 0x02};
inline constexpr TerminateCode kTermTaggedToWrap{1, 1, 0x03};
inline constexpr TerminateCode kTermTaggedDdpVersion{1, 1, 0x04};
// DDP, untagged buffer error.
inline constexpr TerminateCode kTermInvalidQn{1, 2, 0x01};
inline constexpr TerminateCode kTermNoBuffer{1, 2, 0x02};
inline constexpr TerminateCode kTermMsnRange{1, 2, 0x03};
inline constexpr TerminateCode kTermInvalidMo{1, 2, 0x04};
inline constexpr TerminateCode kTermMessageTooLong{1, 2, 0x05};
inline constexpr TerminateCode kTermUntaggedDdpVersion{1, 2, 0x06};
// LLP (MPA).
inline constexpr TerminateCode kTermMpaConnectionLost{2, 0, 0x01};
inline constexpr TerminateCode kTermMpaCrc{2, 0, 0x02};
inline constexpr TerminateCode kTermMpaMarkerMismatch{2, 0, 0x03};
inline constexpr TerminateCode kTermMpaBadStartFrame{2, 0, 0x04};
inline constexpr TerminateCode kTermMpaLocalCatastrophic{2, 0, 0x05};
inline constexpr TerminateCode kTermMpaInsufficientIrd{2, 0, 0x06};
inline constexpr TerminateCode kTermMpaNoMatchingRtr{2, 0, 0x07};

/// A fixed text for logs and reasons, never null. Unknown triples get a text that names the layer.
const char* TerminateText(uint8_t layer, uint8_t etype, uint8_t code);
inline const char* TerminateText(TerminateCode c) {
  return TerminateText(c.layer, c.etype, c.code);
}

/// Whether the triple is one that the RFCs define.
bool IsKnownTerminate(TerminateCode code);

}  // namespace softdat::iwarp

#endif  // SOFTDAT_WIRE_IWARP_TERMINATE_CODE_H_
