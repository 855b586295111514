// SPDX-License-Identifier: BSD-3-Clause
// MPA markers: insertion and removal, one FPDU at a time.

#include "wire/iwarp/markers.h"

#include <algorithm>
#include <cstring>

namespace softdat::iwarp {
namespace {

// What the 16-bit FPDUPTR, a multiple of 4, can state at most.
constexpr size_t kMaxFpduPointer = 0xfffc;

// Octets from stream position `at` to the next marker; 0 when one is due here.
size_t UntilMarker(uint64_t at) {
  const size_t phase = static_cast<size_t>(at % kMarkerInterval);
  return phase == 0 ? 0 : kMarkerInterval - phase;
}

}  // namespace

size_t InsertMarkers(uint64_t stream_offset, ByteSpan fpdu, bool crc, std::span<uint8_t> out) {
  FpduView view;
  if (stream_offset % kFpduAlign != 0 || PeekFpdu(fpdu, &view) != 0 || view.size != fpdu.size()) {
    return 0;
  }
  const size_t total = MarkedSize(stream_offset, fpdu.size());
  if (out.size() < total) return 0;
  const size_t covered = fpdu.size() - kFpduCrcSize;
  size_t header_at = 0;  // where in `out` the ULPDU_Length field stands
  size_t written = 0;
  size_t taken = 0;
  for (;;) {
    size_t run = UntilMarker(stream_offset + written);
    if (run == 0) {
      if (taken == 0) header_at = kMarkerSize;
      // FPDUPTR counts stream octets, earlier markers included; 0 directly before the header.
      const size_t pointer = taken == 0 ? 0 : written - header_at;
      if (pointer > kMaxFpduPointer) return 0;
      StoreBe32(&out[written], static_cast<uint32_t>(pointer));
      written += kMarkerSize;
      run = kMarkerInterval - kMarkerSize;
    }
    // Only here may the loop end: a marker directly before the CRC field is covered by it.
    if (taken == covered) break;
    run = std::min(run, covered - taken);
    std::memcpy(&out[written], &fpdu[taken], run);
    written += run;
    taken += run;
  }
  StoreCrc32c(&out[written], crc ? Crc32c(out.data(), written) : 0);
  return written + kFpduCrcSize;
}

StripResult StripMarkers(uint64_t stream_offset, ByteSpan in, bool crc, std::span<uint8_t> out) {
  if (stream_offset % kFpduAlign != 0) return {StripStatus::kMisuse, 0, 0};
  const size_t header_at = UntilMarker(stream_offset) == 0 ? kMarkerSize : 0;
  if (in.size() < header_at + kFpduLengthSize) {
    return {StripStatus::kNeedMore, header_at + kFpduLengthSize, 0};
  }
  const size_t plain = FpduSize(LoadBe16(&in[header_at]));
  const size_t total = MarkedSize(stream_offset, plain);
  // A leading marker can be judged at once: it has to point at the header directly behind it.
  if (in.size() < total) {
    if (header_at != 0 && (LoadBe32(in.data()) & kMaxFpduPointer) != 0) {
      return {StripStatus::kBadMarker, 0, 0};
    }
    return {StripStatus::kNeedMore, total, 0};
  }
  if (out.size() < plain) return {StripStatus::kMisuse, 0, 0};
  size_t written = 0;
  for (size_t at = 0; at < total;) {
    size_t run = UntilMarker(stream_offset + at);
    if (run == 0) {
      // The reserved upper half and the two low bits of FPDUPTR are not looked at.
      const size_t pointer = LoadBe32(&in[at]) & kMaxFpduPointer;
      if (pointer != (at < header_at ? 0 : at - header_at)) {
        return {StripStatus::kBadMarker, 0, 0};
      }
      at += kMarkerSize;
      run = kMarkerInterval - kMarkerSize;
    }
    run = std::min(run, total - at);
    std::memcpy(&out[written], &in[at], run);
    written += run;
    at += run;
  }
  const size_t crc_at = total - kFpduCrcSize;
  if (crc && Crc32c(in.data(), crc_at) != LoadCrc32c(&in[crc_at])) {
    return {StripStatus::kBadCrc, 0, 0};
  }
  return {StripStatus::kOk, total, plain};
}

}  // namespace softdat::iwarp
