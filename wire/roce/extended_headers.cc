// SPDX-License-Identifier: BSD-3-Clause
// The extended transport headers: the codec.

#include "wire/roce/extended_headers.h"

#include "wire/roce/bth.h"

namespace softdat::roce {

[[gnu::hot]] bool ParseExtendedHeaders(Opcode op, ByteSpan in, ExtendedHeaders* out) {
  const OpcodeTraits& traits = TraitsOf(op);
  if (in.size() < traits.extended_size) return false;
  const uint8_t* p = in.data();
  if (traits.has(kHasDeth)) {
    out->deth = {LoadBe32(p), LoadBe32(p + 4) & kMask24};
    p += kDethSize;
  }
  if (traits.has(kHasReth)) {
    out->reth = {LoadBe64(p), LoadBe32(p + 8), LoadBe32(p + 12)};
    p += kRethSize;
  }
  if (traits.has(kHasAtomicEth)) {
    out->atomic = {LoadBe64(p), LoadBe32(p + 8), LoadBe64(p + 12), LoadBe64(p + 20)};
    p += kAtomicEthSize;
  }
  if (traits.has(kHasAeth)) {
    out->aeth = {p[0], LoadBe32(p) & kMask24};
    p += kAethSize;
  }
  if (traits.has(kHasAtomicAckEth)) {
    out->original = LoadBe64(p);
    p += kAtomicAckEthSize;
  }
  if (traits.has(kHasImmediate)) out->immediate = LoadBe32(p);
  if (traits.has(kHasIeth)) out->invalidate_rkey = LoadBe32(p);
  return true;
}

[[gnu::hot]] size_t EncodeExtendedHeaders(Opcode op, const ExtendedHeaders& headers,
                                          std::span<uint8_t> out) {
  const OpcodeTraits& traits = TraitsOf(op);
  if (out.size() < traits.extended_size) return 0;
  uint8_t* p = out.data();
  if (traits.has(kHasDeth)) {
    StoreBe32(p, headers.deth.qkey);
    StoreBe32(p + 4, headers.deth.source_qpn & kMask24);
    p += kDethSize;
  }
  if (traits.has(kHasReth)) {
    StoreBe64(p, headers.reth.va);
    StoreBe32(p + 8, headers.reth.rkey);
    StoreBe32(p + 12, headers.reth.length);
    p += kRethSize;
  }
  if (traits.has(kHasAtomicEth)) {
    StoreBe64(p, headers.atomic.va);
    StoreBe32(p + 8, headers.atomic.rkey);
    StoreBe64(p + 12, headers.atomic.swap_or_add);
    StoreBe64(p + 20, headers.atomic.compare);
    p += kAtomicEthSize;
  }
  if (traits.has(kHasAeth)) {
    StoreBe32(p, uint32_t{headers.aeth.syndrome} << 24 | (headers.aeth.msn & kMask24));
    p += kAethSize;
  }
  if (traits.has(kHasAtomicAckEth)) {
    StoreBe64(p, headers.original);
    p += kAtomicAckEthSize;
  }
  if (traits.has(kHasImmediate)) StoreBe32(p, headers.immediate);
  if (traits.has(kHasIeth)) StoreBe32(p, headers.invalidate_rkey);
  return traits.extended_size;
}

}  // namespace softdat::roce
