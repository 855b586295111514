// SPDX-License-Identifier: BSD-3-Clause
// FPDU framing: ULPDU_Length, pad, CRC and segment size (RFC 5044 §4).

#ifndef SOFTDAT_WIRE_IWARP_FPDU_H_
#define SOFTDAT_WIRE_IWARP_FPDU_H_

#include <cstddef>
#include <cstdint>

#include "wire/bytes.h"
#include "wire/crc32c.h"

namespace softdat::iwarp {

inline constexpr size_t kFpduLengthSize = 2;
inline constexpr size_t kFpduAlign = 4;
inline constexpr size_t kFpduMaxPad = 3;
inline constexpr size_t kFpduCrcSize = kCrc32cSize;
/// Most octets that can follow the ULPDU: pad and CRC.
inline constexpr size_t kFpduMaxTrailer = kFpduMaxPad + kFpduCrcSize;
/// Largest ULPDU that the 16-bit length can state.
inline constexpr size_t kMaxUlpdu = 65535;
/// Smallest MULPDU that MPA may offer to DDP (RFC 5044 §5.1).
inline constexpr size_t kMinMulpdu = 128;

/// Pad octets behind a ULPDU: they make length field + ULPDU + pad a multiple of 4.
constexpr size_t FpduPad(size_t ulpdu) { return (0 - (kFpduLengthSize + ulpdu)) & 3; }

/// Octets of the whole FPDU, without markers.
constexpr size_t FpduSize(size_t ulpdu) {
  return ((kFpduLengthSize + ulpdu + 3) & ~size_t{3}) + kFpduCrcSize;
}

/// Where the CRC stands, counted from the ULPDU_Length field.
constexpr size_t FpduCrcOffset(size_t ulpdu) { return FpduSize(ulpdu) - kFpduCrcSize; }

/// Octets behind the ULPDU: pad and CRC (4 to 7).
constexpr size_t FpduTrailerSize(size_t ulpdu) { return FpduPad(ulpdu) + kFpduCrcSize; }

/// Largest ULPDU with which one FPDU fits one TCP segment of `emss` octets in a stream without
/// markers (RFC 5044 §5.1), kept within [kMinMulpdu, kMaxUlpdu].
constexpr size_t Mulpdu(size_t emss) {
  const size_t overhead = kFpduLengthSize + kFpduCrcSize + emss % kFpduAlign;
  if (emss < overhead + kMinMulpdu) return kMinMulpdu;
  const size_t room = emss - overhead;
  return room < kMaxUlpdu ? room : kMaxUlpdu;
}

/// Largest payload of a segment that is not its message's last: behind a DDP header of
/// `header_size` octets, within `mulpdu`, and such that no pad is needed.
constexpr size_t FullSegmentPayload(size_t mulpdu, size_t header_size) {
  const size_t framed = (kFpduLengthSize + mulpdu) & ~size_t{3};
  return framed - kFpduLengthSize - header_size;
}

/// One whole FPDU in a buffer.
struct FpduView {
  ByteSpan ulpdu = {};  ///< The DDP segment: header and payload.
  size_t size = 0;      ///< Octets of the FPDU; the next one starts there.
};

/// Reads the FPDU at the front of `in`. Returns 0 and fills `out` when all of it is there.
/// Otherwise returns the total number of octets that `in` must have before another try makes sense
/// (2, then the FPDU's size). Accepts every length that 16 bits can state. ParseDdpHeader refuses
/// what is too short for a DDP header.
inline size_t PeekFpdu(ByteSpan in, FpduView* out) {
  if (in.size() < kFpduLengthSize) return kFpduLengthSize;
  const size_t ulpdu = LoadBe16(in.data());
  const size_t size = FpduSize(ulpdu);
  if (in.size() < size) return size;
  out->ulpdu = in.subspan(kFpduLengthSize, ulpdu);
  out->size = size;
  return 0;
}

/// Whether the CRC of one whole FPDU (as sized by PeekFpdu, without markers) is right. Ask only
/// when CRC was agreed, because otherwise the field must be ignored (RFC 5044 §4.4).
inline bool FpduCrcOk(ByteSpan fpdu) {
  if (fpdu.size() < kFpduCrcSize) return false;
  const size_t covered = fpdu.size() - kFpduCrcSize;
  return Crc32c(fpdu.data(), covered) == LoadCrc32c(fpdu.data() + covered);
}

/// Writes pad and CRC for a sender that has run the length field and the whole ULPDU through
/// `crc_state`. Returns the octets written, FpduTrailerSize(ulpdu).
inline size_t StoreFpduTrailer(uint8_t* out, size_t ulpdu, uint32_t crc_state) {
  const size_t pad = FpduPad(ulpdu);
  StoreLe32(out, 0);
  StoreCrc32c(out + pad, Crc32cFinish(Crc32cExtend(crc_state, out, pad)));
  return pad + kFpduCrcSize;
}

/// The same when CRC is off: the pad and a CRC field of zero.
inline size_t StoreFpduTrailerWithoutCrc(uint8_t* out, size_t ulpdu) {
  const size_t pad = FpduPad(ulpdu);
  StoreLe32(out, 0);
  StoreLe32(out + pad, 0);
  return pad + kFpduCrcSize;
}

}  // namespace softdat::iwarp

#endif  // SOFTDAT_WIRE_IWARP_FPDU_H_
