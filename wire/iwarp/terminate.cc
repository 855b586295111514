// SPDX-License-Identifier: BSD-3-Clause
// The Terminate message: the codec.

#include "wire/iwarp/terminate.h"

#include <cstring>

namespace softdat::iwarp {
namespace {

// Header control octet, and the same three bits as a little-endian Linux siw lays them out.
constexpr uint8_t kHasSegmentLength = 0x80;
constexpr uint8_t kHasDdpHeader = 0x40;
constexpr uint8_t kHasReadRequest = 0x20;
constexpr uint8_t kControlMask = 0xe0;
constexpr uint8_t kSwappedSegmentLength = 0x01;
constexpr uint8_t kSwappedDdpHeader = 0x02;
constexpr uint8_t kSwappedReadRequest = 0x04;
constexpr uint8_t kSwappedControlMask = 0x07;

constexpr size_t kSegmentLengthSize = 2;

size_t DdpHeaderSize(uint8_t ddp_control) {
  return (ddp_control & kDdpTagged) != 0 ? kTaggedHeaderSize : kUntaggedHeaderSize;
}

uint8_t Unswap(uint8_t control) {
  return static_cast<uint8_t>(((control & kSwappedSegmentLength) != 0 ? kHasSegmentLength : 0) |
                              ((control & kSwappedDdpHeader) != 0 ? kHasDdpHeader : 0) |
                              ((control & kSwappedReadRequest) != 0 ? kHasReadRequest : 0));
}

// Reads layer and error type in both orders, and settles which order is meant.
void DecodeCode(const uint8_t* p, DecodedTerminate* out) {
  const auto high = static_cast<uint8_t>(p[0] >> 4);
  const auto low = static_cast<uint8_t>(p[0] & 0x0f);
  const TerminateCode standard{high, low, p[1]};
  const TerminateCode swapped{low, high, p[1]};
  if ((p[2] & kControlMask) != 0) {
    out->term.code = standard;
    return;
  }
  if ((p[2] & kSwappedControlMask) != 0) {
    out->term.code = swapped;
    out->swapped = true;
    return;
  }
  // There are no header bits, so only the triple itself can tell.
  const bool swapped_known = high != low && IsKnownTerminate(swapped);
  if (swapped_known && !IsKnownTerminate(standard)) {
    out->term.code = swapped;
    out->swapped = true;
    return;
  }
  out->term.code = standard;
  if (swapped_known) out->alternate = swapped;
}

}  // namespace

size_t EncodeTerminatePayload(const Terminate& term, uint8_t* out) {
  const bool header =
      !term.ddp_header.empty() && term.ddp_header.size() == DdpHeaderSize(term.ddp_header[0]);
  const bool read_request = header && term.read_request.size() == kReadRequestSize;
  // The headers stand behind the segment length, so a header requires it.
  const bool length = term.has_segment_length || header;
  out[0] = static_cast<uint8_t>(term.code.layer << 4 | (term.code.etype & 0x0f));
  out[1] = term.code.code;
  out[2] = static_cast<uint8_t>((length ? kHasSegmentLength : 0) | (header ? kHasDdpHeader : 0) |
                                (read_request ? kHasReadRequest : 0));
  out[3] = 0;
  size_t size = kTerminateMinPayload;
  if (length) {
    StoreBe16(out + size, term.segment_length);
    size += kSegmentLengthSize;
  }
  if (header) {
    std::memcpy(out + size, term.ddp_header.data(), term.ddp_header.size());
    size += term.ddp_header.size();
  }
  if (read_request) {
    std::memcpy(out + size, term.read_request.data(), kReadRequestSize);
    size += kReadRequestSize;
  }
  return size;
}

size_t EncodeTerminateFpdu(const Terminate& term, bool crc, uint8_t* out) {
  const size_t payload = EncodeTerminatePayload(term, out + kUntaggedFpduHeaderSize);
  EncodeUntaggedFpduHeader(out, Opcode::kTerminate, /*last=*/true, 0, kQnTerminate, kFirstMsn, 0,
                           payload);
  const size_t ulpdu = kUntaggedHeaderSize + payload;
  uint8_t* trailer = out + kFpduLengthSize + ulpdu;
  if (crc) {
    StoreFpduTrailer(trailer, ulpdu, Crc32cExtend(kCrc32cInit, out, kFpduLengthSize + ulpdu));
  } else {
    StoreFpduTrailerWithoutCrc(trailer, ulpdu);
  }
  return FpduSize(ulpdu);
}

Terminate TerminateForSegment(TerminateCode code, ByteSpan ulpdu, size_t segment_length) {
  Terminate term;
  term.code = code;
  const bool local_or_llp = code.layer == kLayerLlp || code.etype == kRdmapLocalCatastrophic;
  if (local_or_llp || ulpdu.empty()) return term;
  const size_t header = DdpHeaderSize(ulpdu[0]);
  if (ulpdu.size() < header) return term;
  term.has_segment_length = true;
  term.segment_length = static_cast<uint16_t>(segment_length);
  term.ddp_header = ulpdu.first(header);
  const bool read_request =
      header == kUntaggedHeaderSize &&
      (ulpdu[1] & kRdmapOpcodeMask) == static_cast<uint8_t>(Opcode::kReadRequest);
  if (code.layer == kLayerRdmap && read_request && ulpdu.size() >= header + kReadRequestSize) {
    term.read_request = ulpdu.subspan(header, kReadRequestSize);
  }
  return term;
}

bool DecodeTerminate(ByteSpan payload, DecodedTerminate* out) {
  if (payload.size() < kTerminateMinPayload) return false;
  *out = DecodedTerminate{};
  DecodeCode(payload.data(), out);
  const uint8_t control = out->swapped ? Unswap(payload[2]) : payload[2];
  ByteSpan rest = payload.subspan(kTerminateMinPayload);
  if ((control & kHasSegmentLength) != 0) {
    if (rest.size() < kSegmentLengthSize) {
      out->truncated = true;
      return true;
    }
    out->term.has_segment_length = true;
    out->term.segment_length = LoadBe16(rest.data());
    rest = rest.subspan(kSegmentLengthSize);
  }
  if ((control & kHasDdpHeader) != 0) {
    if (rest.empty() || rest.size() < DdpHeaderSize(rest[0])) {
      out->truncated = true;
      return true;
    }
    out->term.ddp_header = rest.first(DdpHeaderSize(rest[0]));
    rest = rest.subspan(out->term.ddp_header.size());
  }
  if ((control & kHasReadRequest) != 0) {
    if (out->term.ddp_header.empty() || rest.size() < kReadRequestSize) {
      out->truncated = true;
      return true;
    }
    out->term.read_request = rest.first(kReadRequestSize);
  }
  return true;
}

}  // namespace softdat::iwarp
