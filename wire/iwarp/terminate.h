// SPDX-License-Identifier: BSD-3-Clause
// The Terminate message: RFC 5040 §4.8.

#ifndef SOFTDAT_WIRE_IWARP_TERMINATE_H_
#define SOFTDAT_WIRE_IWARP_TERMINATE_H_

#include <cstddef>
#include <cstdint>

#include "wire/bytes.h"
#include "wire/iwarp/ddp.h"
#include "wire/iwarp/rdmap.h"
#include "wire/iwarp/terminate_code.h"

namespace softdat::iwarp {

/// Control word only.
inline constexpr size_t kTerminateMinPayload = 4;
/// Control word, segment length, untagged DDP header, Read Request.
inline constexpr size_t kTerminateMaxPayload =
    kTerminateMinPayload + 2 + kMaxDdpHeaderSize + kReadRequestSize;
/// Largest whole FPDU of a Terminate.
inline constexpr size_t kTerminateMaxFpdu = FpduSize(kUntaggedHeaderSize + kTerminateMaxPayload);

/// A Terminate's contents.
struct Terminate {
  TerminateCode code = {};
  bool has_segment_length = false;  ///< M
  uint16_t segment_length = 0;      ///< Length of the offending DDP segment.
  /// D: the offending DDP header as received, 14 or 18 octets as its T bit says; empty if absent.
  ByteSpan ddp_header = {};
  /// R: the offending Read Request payload as received, 28 octets; empty if absent. Needs D.
  ByteSpan read_request = {};
};

/// What DecodeTerminate made of a payload.
struct DecodedTerminate {
  Terminate term = {};  ///< Spans point into the payload.
  /// The peer had its nibbles swapped, as a little-endian Linux siw does. `term` has them in the
  /// right order.
  bool swapped = false;
  /// Without header bits, a swapped triple can be a legal one of its own. This is then the other
  /// reading; otherwise kAccept.
  TerminateCode alternate = {};
  /// The header bits promise more than the payload holds. What is missing is left out of `term`.
  bool truncated = false;
};

/// Writes the payload (what follows the DDP header) to `out` of kTerminateMaxPayload octets and
/// returns its size. Leaves out headers whose length is not the RFC's, and clears their bits.
size_t EncodeTerminatePayload(const Terminate& term, uint8_t* out);

/// Writes a whole Terminate FPDU (QN 2, MSN 1, MO 0, last) to `out` of kTerminateMaxFpdu octets and
/// returns its size.
size_t EncodeTerminateFpdu(const Terminate& term, bool crc, uint8_t* out);

/// The Terminate for an error found in `ulpdu`, a segment as received. The front of the segment is
/// enough if `segment_length` tells the length. The code decides which headers are included: none
/// for local catastrophic and LLP errors, the DDP header otherwise, and the Read Request for RDMAP
/// errors that concern one.
Terminate TerminateForSegment(TerminateCode code, ByteSpan ulpdu, size_t segment_length);

/// Reads a payload tolerantly, because a Terminate is evidence for the log and for completion
/// statuses, never a reason to fail. Returns false, and leaves `out` untouched, only if there is no
/// control word (below 4 octets).
bool DecodeTerminate(ByteSpan payload, DecodedTerminate* out);

}  // namespace softdat::iwarp

#endif  // SOFTDAT_WIRE_IWARP_TERMINATE_H_
