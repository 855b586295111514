// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: a Terminate's payload. The decoder must always read something, and what it reads
// must encode to something that reads the same.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "wire/iwarp/terminate.h"

namespace softdat::iwarp {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void Fuzz(ByteSpan payload) {
  DecodedTerminate d;
  if (!DecodeTerminate(payload, &d)) {
    Require(payload.size() < kTerminateMinPayload);
    return;
  }
  Require(payload.size() >= kTerminateMinPayload);
  Require(TerminateText(d.term.code) != nullptr && TerminateText(d.alternate) != nullptr);
  std::array<uint8_t, kTerminateMaxPayload> out;
  const size_t size = EncodeTerminatePayload(d.term, out.data());
  Require(size >= kTerminateMinPayload && size <= out.size());
  DecodedTerminate again;
  Require(DecodeTerminate(ByteSpan(out).first(size), &again));
  Require(!again.truncated);
  // siw's header bits may have told two readings apart. Without them the code may be ambiguous.
  if (again.term.has_segment_length) Require(again.term.code == d.term.code);
  // A peer may send a header without the segment length. We never do.
  Require(again.term.has_segment_length ==
          (d.term.has_segment_length || !d.term.ddp_header.empty()));
  Require(again.term.segment_length == d.term.segment_length);
  Require(std::ranges::equal(again.term.ddp_header, d.term.ddp_header));
  Require(std::ranges::equal(again.term.read_request, d.term.read_request));
}

}  // namespace
}  // namespace softdat::iwarp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  softdat::iwarp::Fuzz({data, size});
  return 0;
}
