// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: a received FPDU through framing, DDP header, every payload codec and the receiver's
// checks.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "wire/iwarp/frame_check.h"
#include "wire/iwarp/rdmap.h"
#include "wire/iwarp/terminate.h"

namespace softdat::iwarp {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// The header octets that our encoder writes for `h`, without the reserved bits that a peer may set.
void CheckHeader(const DdpHeader& h, ByteSpan ulpdu) {
  std::array<uint8_t, kMaxDdpHeaderSize> out = {};
  if (h.tagged) {
    EncodeTagged(out.data(), h.opcode, h.last, h.stag, h.to);
  } else {
    EncodeUntagged(out.data(), h.opcode, h.last, h.stag, h.qn, h.msn, h.mo);
  }
  Require(out[0] == (ulpdu[0] & (kDdpTagged | kDdpLast | kDdpVersionMask)));
  Require(out[1] == (ulpdu[1] & (kRdmapVersionMask | kRdmapOpcodeMask)));
  Require(std::equal(out.begin() + 2, out.begin() + h.size, ulpdu.begin() + 2));
}

void CheckPayload(const DdpHeader& h, ByteSpan payload) {
  std::array<uint8_t, kAtomicRequestSize> out = {};
  const auto rewritten = [&] { return std::equal(payload.begin(), payload.end(), out.begin()); };
  if (ReadRequest m; ParseReadRequest(payload, &m)) {
    EncodeReadRequest(out.data(), m);
    Require(rewritten());
  }
  if (AtomicRequest m; ParseAtomicRequest(payload, &m)) {
    EncodeAtomicRequest(out.data(), m);
    Require(out[3] == (payload[3] & 0x0f));
    Require(std::equal(payload.begin() + 4, payload.end(), out.begin() + 4));
  }
  if (AtomicResponse m; ParseAtomicResponse(payload, &m)) {
    EncodeAtomicResponse(out.data(), m);
    Require(rewritten());
  }
  uint32_t immediate = 0;
  Require(ParseImmediate(payload, &immediate) == (payload.size() == kImmediateSize));
  const TerminateCode fixed = CheckFixedForm(h, payload.size());
  Require(fixed.ok() || IsKnownTerminate(fixed));
}

// For everything that is refused there is a Terminate, which fits and decodes.
void CheckTerminateFor(TerminateCode code, ByteSpan ulpdu) {
  Require(IsKnownTerminate(code));
  const Terminate term = TerminateForSegment(code, ulpdu, ulpdu.size());
  std::array<uint8_t, kTerminateMaxFpdu> out;
  const size_t size = EncodeTerminateFpdu(term, /*crc=*/true, out.data());
  ReceiveContext ctx;
  ctx.crc = true;
  Segment s;
  Require(ClassifyFpdu(ByteSpan(out).first(size), ctx, &s).ok());
  DecodedTerminate decoded;
  Require(DecodeTerminate(s.payload, &decoded));
  Require(!decoded.swapped && !decoded.truncated && decoded.term.code == code);
  Require(std::ranges::equal(decoded.term.ddp_header, term.ddp_header));
  Require(std::ranges::equal(decoded.term.read_request, term.read_request));
}

void Fuzz(ByteSpan in) {
  FpduView view;
  const size_t needed = PeekFpdu(in, &view);
  if (needed != 0) {
    Require(needed > in.size() && needed <= FpduSize(kMaxUlpdu));
    // A receiver may be asked even about a cut frame, and must refuse it.
    ReceiveContext ctx;
    Segment s;
    Require(!ClassifyFpdu(in, ctx, &s).ok());
    return;
  }
  Require(view.size <= in.size() && view.ulpdu.size() <= kMaxUlpdu);
  const ByteSpan fpdu = in.first(view.size);
  DdpHeader h;
  const DdpParse parsed = ParseDdpHeader(view.ulpdu, &h);
  Require(DdpParseText(parsed) != nullptr);
  Require(TerminateFor(parsed).ok() == (parsed == DdpParse::kOk));
  ReceiveContext ctx;
  if (parsed == DdpParse::kOk) {
    CheckHeader(h, view.ulpdu);
    CheckPayload(h, view.ulpdu.subspan(h.size));
    if (!h.tagged) {
      ctx.queues[h.qn].msn = h.msn;
      ctx.queues[h.qn].mo = h.mo;
    }
  }
  Segment s;
  const TerminateCode verdict = ClassifyFpdu(fpdu, ctx, &s);
  if (!verdict.ok()) CheckTerminateFor(verdict, view.ulpdu);
  Require(!verdict.ok() || parsed == DdpParse::kOk);
  ctx.crc = true;
  Require(ClassifyFpdu(fpdu, ctx, &s) == (FpduCrcOk(fpdu) ? verdict : kTermMpaCrc));
}

}  // namespace
}  // namespace softdat::iwarp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  softdat::iwarp::Fuzz({data, size});
  return 0;
}
