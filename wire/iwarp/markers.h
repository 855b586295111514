// SPDX-License-Identifier: BSD-3-Clause
// MPA markers: a 4-octet pointer every 512 octets of the stream (RFC 5044 §4.3).

#ifndef SOFTDAT_WIRE_IWARP_MARKERS_H_
#define SOFTDAT_WIRE_IWARP_MARKERS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::iwarp {

inline constexpr size_t kMarkerInterval = 512;
inline constexpr size_t kMarkerSize = 4;

/// Stream octets that `plain_size` octets take when they start at stream position `stream_offset`
/// and markers are put in. The position counts from the first octet behind the start-up frame and
/// includes earlier markers; it and the size are multiples of 4. A marker due exactly behind the
/// last octet belongs to what follows.
constexpr size_t MarkedSize(uint64_t stream_offset, size_t plain_size) {
  if (plain_size == 0) return 0;
  const size_t room_per_marker = kMarkerInterval - kMarkerSize;
  const size_t phase = static_cast<size_t>(stream_offset % kMarkerInterval);
  // Octets that still fit before the first marker.
  const size_t before = phase == 0 ? 0 : kMarkerInterval - phase;
  if (plain_size <= before) return plain_size;
  const size_t markers = (plain_size - before + room_per_marker - 1) / room_per_marker;
  return plain_size + markers * kMarkerSize;
}

/// Puts markers into one FPDU.
/// `fpdu`: the whole FPDU without markers, its last 4 octets being the CRC field, which is not
/// read: it is computed anew over the octets with the markers in (or written as 0 without `crc`).
/// Returns the octets written, MarkedSize(stream_offset, fpdu.size()), or 0 when `fpdu` is no FPDU
/// or too long for the 16-bit pointer, the position is no multiple of 4 or `out` is too small.
size_t InsertMarkers(uint64_t stream_offset, ByteSpan fpdu, bool crc, std::span<uint8_t> out);

enum class StripStatus : uint8_t {
  kOk,         ///< One FPDU taken.
  kNeedMore,   ///< Not all of it is there.
  kBadMarker,  ///< Marker and ULPDU_Length disagree: Terminate 2/0/3.
  kBadCrc,     ///< Terminate 2/0/2.
  kMisuse,     ///< Position no multiple of 4, or `out` too small.
};

struct StripResult {
  StripStatus status;
  size_t stream_bytes;  ///< kOk: stream octets used up. kNeedMore: octets needed in all. Else 0.
  size_t fpdu_bytes;    ///< kOk: octets of the FPDU in `out`. Else 0.
};

/// Takes one FPDU with markers from the front of `in`, which stands at stream position
/// `stream_offset`, and writes it without them to `out` (at least FpduSize(ULPDU_Length) octets).
/// Its CRC, if `crc`, is checked here, because it covers the markers; the CRC field in `out` is the
/// one received and does not fit the FPDU without markers.
StripResult StripMarkers(uint64_t stream_offset, ByteSpan in, bool crc, std::span<uint8_t> out);

}  // namespace softdat::iwarp

#endif  // SOFTDAT_WIRE_IWARP_MARKERS_H_
