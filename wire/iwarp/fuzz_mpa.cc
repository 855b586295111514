// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: MPA start-up frames. Whatever parses must encode to a frame that parses to the same.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "wire/iwarp/mpa.h"

namespace softdat::iwarp {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

bool Same(const MpaStart& a, const MpaStart& b) {
  return a.reply == b.reply && a.markers == b.markers && a.crc == b.crc && a.reject == b.reject &&
         a.enhanced == b.enhanced && a.revision == b.revision && a.words == b.words &&
         std::ranges::equal(a.private_data, b.private_data);
}

void Fuzz(ByteSpan in) {
  MpaStart frame;
  const MpaParseResult r = ParseMpaStart(in, &frame);
  Require(MpaParseStatusText(r.status) != nullptr);
  if (r.status == MpaParseStatus::kNeedMore) {
    Require(r.bytes > in.size() && r.bytes <= kMpaMaxFrameSize);
    return;
  }
  if (r.status != MpaParseStatus::kOk) {
    Require(r.bytes == 0);
    return;
  }
  Require(r.bytes <= in.size() && r.bytes == MpaStartSize(frame));
  // A part of a good frame is never called bad.
  MpaStart part;
  Require(ParseMpaStart(in.first(r.bytes - 1), &part).status == MpaParseStatus::kNeedMore);

  std::array<uint8_t, kMpaMaxFrameSize> wire;
  Require(EncodeMpaStart(frame, wire) == r.bytes);
  MpaStart again;
  Require(ParseMpaStart(ByteSpan(wire).first(r.bytes), &again).bytes == r.bytes);
  Require(Same(frame, again));
}

}  // namespace
}  // namespace softdat::iwarp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  softdat::iwarp::Fuzz({data, size});
  return 0;
}
