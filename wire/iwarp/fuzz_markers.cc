// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: markers. The first octet chooses the stream position; the rest is a stream with
// markers to strip, and an FPDU without to put them in.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "wire/iwarp/markers.h"

namespace softdat::iwarp {
namespace {

constexpr size_t kRoom = 16384;

void Require(bool condition) {
  if (!condition) std::abort();
}

void Strip(uint64_t at, ByteSpan in) {
  static std::array<uint8_t, kRoom> plain;
  static std::array<uint8_t, kRoom> marked;
  const StripResult r = StripMarkers(at, in, /*crc=*/false, plain);
  if (r.status == StripStatus::kNeedMore) {
    Require(r.stream_bytes > in.size());
    return;
  }
  if (r.status != StripStatus::kOk) return;
  Require(r.stream_bytes <= in.size() && r.stream_bytes == MarkedSize(at, r.fpdu_bytes));
  const ByteSpan fpdu = ByteSpan(plain).first(r.fpdu_bytes);
  // Put back, all is as before but for the CRC and the bits of a marker that are not looked at.
  Require(InsertMarkers(at, fpdu, /*crc=*/true, marked) == r.stream_bytes);
  for (size_t i = 0; i + kFpduCrcSize < r.stream_bytes; ++i) {
    if ((at + i) % kMarkerInterval >= kMarkerSize) Require(marked[i] == in[i]);
  }
  const ByteSpan again = ByteSpan(marked).first(r.stream_bytes);
  Require(StripMarkers(at, again, /*crc=*/true, plain).status == StripStatus::kOk);
}

void Fuzz(ByteSpan in) {
  if (in.empty()) return;
  const uint64_t at = uint64_t{in[0]} * kFpduAlign;
  const ByteSpan rest = in.subspan(1);
  Strip(at, rest);
  static std::array<uint8_t, kRoom> marked;
  const size_t size = InsertMarkers(at, rest, /*crc=*/true, marked);
  if (size == 0) return;
  Require(size == MarkedSize(at, rest.size()));
  static std::array<uint8_t, kRoom> plain;
  const StripResult r = StripMarkers(at, ByteSpan(marked).first(size), /*crc=*/true, plain);
  Require(r.status == StripStatus::kOk && r.fpdu_bytes == rest.size());
}

}  // namespace
}  // namespace softdat::iwarp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  softdat::iwarp::Fuzz({data, size});
  return 0;
}
