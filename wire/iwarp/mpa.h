// SPDX-License-Identifier: BSD-3-Clause
// MPA start-up frames: RFC 5044 §7.1 (revision 1) and RFC 6581 §4 (revision 2, enhanced set-up).

#ifndef SOFTDAT_WIRE_IWARP_MPA_H_
#define SOFTDAT_WIRE_IWARP_MPA_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"

namespace softdat::iwarp {

inline constexpr size_t kMpaKeySize = 16;
inline constexpr char kMpaRequestKey[kMpaKeySize + 1] = "MPA ID Req Frame";
inline constexpr char kMpaReplyKey[kMpaKeySize + 1] = "MPA ID Rep Frame";

/// Octets of a frame before its private data.
inline constexpr size_t kMpaHeaderSize = 20;
/// Octets of the IRD/ORD words at the start of an enhanced frame's private data.
inline constexpr size_t kMpaEnhancedSize = 4;
/// Octets of an enhanced frame without private data.
inline constexpr size_t kMpaEnhancedFrameSize = kMpaHeaderSize + kMpaEnhancedSize;
/// Largest PD_Length, including the enhanced words (RFC 5044 §7.1.1).
inline constexpr size_t kMpaMaxPrivateData = 512;
/// Largest PD_Length that Linux siw and cxgb4 accept, including the enhanced words.
inline constexpr size_t kMpaMaxPrivateDataLinux = 256;
/// Largest whole frame.
inline constexpr size_t kMpaMaxFrameSize = kMpaHeaderSize + kMpaMaxPrivateData;

inline constexpr uint8_t kMpaRevision1 = 1;
inline constexpr uint8_t kMpaRevision2 = 2;

/// Largest IRD or ORD that the 14-bit fields can state. kMpaDepthUnspecified is not a number.
inline constexpr uint16_t kMpaMaxDepth = 0x3ffe;
/// "No automatic negotiation: the consumer settles it" (RFC 6581 §4.3).
inline constexpr uint16_t kMpaDepthUnspecified = 0x3fff;

/// The enhanced words of RFC 6581 §4.2. Both depths are as seen by the sender of the frame.
struct MpaEnhanced {
  bool peer_to_peer = false;  ///< A: connection model.
  bool rtr_send = false;      ///< B: a zero-length Send can be (Request) or is (Reply) the RTR.
  bool rtr_write = false;     ///< C: the same for a zero-length RDMA Write.
  bool rtr_read = false;      ///< D: the same for a zero-length RDMA Read.
  uint16_t ird = 0;           ///< Inbound reads and atomics that the sender can serve.
  uint16_t ord = 0;           ///< Outbound reads and atomics that the sender wants outstanding.

  bool operator==(const MpaEnhanced&) const = default;
};

/// One Request or Reply frame.
struct MpaStart {
  bool reply = false;     ///< Reply key; false: Request key.
  bool markers = false;   ///< M: the sender wants markers in the stream that it receives.
  bool crc = false;       ///< C: the sender wants CRC.
  bool reject = false;    ///< R: the connection is refused (meaningful in a Reply).
  bool enhanced = false;  ///< S, in revision 2 and later: `words` is valid.
  uint8_t revision = kMpaRevision2;
  MpaEnhanced words = {};      ///< Valid if `enhanced`.
  ByteSpan private_data = {};  ///< The consumer's octets, without the enhanced words.
};

enum class MpaParseStatus : uint8_t {
  kOk,                  ///< A whole frame was read.
  kNeedMore,            ///< What is there is right so far; more octets are needed.
  kBadKey,              ///< Neither a Request nor a Reply; said at the first wrong octet.
  kPrivateDataTooLong,  ///< PD_Length above kMpaMaxPrivateData.
  kEnhancedTooShort,    ///< S is set, but PD_Length leaves no room for the enhanced words.
};

struct MpaParseResult {
  MpaParseStatus status;
  /// kOk: the octets of the frame; the rest of the input follows it. kNeedMore: the total number of
  /// octets that the input must have before another try makes sense (20, then 20 + PD_Length).
  /// Otherwise 0.
  size_t bytes;
};

/// Reads a start-up frame from the front of `in`, where any part may still be missing. Reserved
/// flag bits are ignored, and so is S below revision 2 (RFC 5044 §7.1.1). The caller decides
/// whether the revision suits. `out` is written only for kOk. Its private_data points into `in`.
MpaParseResult ParseMpaStart(ByteSpan in, MpaStart* out);

/// Octets that EncodeMpaStart will write for this frame.
constexpr size_t MpaStartSize(const MpaStart& frame) {
  return kMpaHeaderSize + (frame.enhanced ? kMpaEnhancedSize : 0) + frame.private_data.size();
}

/// Writes the frame. Returns the octets written. Returns 0 when the frame cannot be expressed:
/// private data above the limit, a depth above 14 bits, enhanced words in revision 1, or `out` too
/// small.
size_t EncodeMpaStart(const MpaStart& frame, std::span<uint8_t> out);

/// A fixed text for logs and reasons.
const char* MpaParseStatusText(MpaParseStatus status);

}  // namespace softdat::iwarp

#endif  // SOFTDAT_WIRE_IWARP_MPA_H_
