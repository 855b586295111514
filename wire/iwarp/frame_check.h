// SPDX-License-Identifier: BSD-3-Clause
// What a receiver checks on each segment, as small functions. Each returns kAccept, or the
// Terminate that the violation calls for (RFC 5040 §7, RFC 5041 §7 and §8, RFC 5044 §8).

#ifndef SOFTDAT_WIRE_IWARP_FRAME_CHECK_H_
#define SOFTDAT_WIRE_IWARP_FRAME_CHECK_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/bytes.h"
#include "wire/iwarp/ddp.h"
#include "wire/iwarp/terminate_code.h"

namespace softdat::iwarp {

/// The position of one untagged queue of one direction (RFC 5041 §5.3).
struct UntaggedSequence {
  uint32_t msn = kFirstMsn;       ///< Expected in the next segment.
  uint32_t mo = 0;                ///< Expected in the next segment.
  bool in_message = false;        ///< A message has begun and its last segment has not come.
  Opcode opcode = Opcode::kSend;  ///< Of that message.
  uint32_t inval_stag = 0;        ///< Of that message, if HasInvalidate(opcode).

  /// Whether this segment may come next: MSN, MO, and the opcode of a message that is continued.
  TerminateCode Check(const DdpHeader& h) const {
    if (h.msn != msn) return kTermMsnRange;
    if (h.mo != mo) return kTermInvalidMo;
    if (in_message && (h.opcode != opcode || (HasInvalidate(opcode) && h.stag != inval_stag))) {
      return kTermUnexpectedOpcode;
    }
    return kAccept;
  }

  /// Counts a segment that Check and CheckFits accepted.
  void Advance(const DdpHeader& h, size_t payload_size) {
    if (h.last) {
      ++msn;
      mo = 0;
      in_message = false;
      return;
    }
    in_message = true;
    opcode = h.opcode;
    inval_stag = h.stag;
    mo += static_cast<uint32_t>(payload_size);
  }
};

/// Whether the payload fits a receive buffer of `capacity` octets at the segment's MO.
inline TerminateCode CheckFits(const DdpHeader& h, size_t payload_size, uint64_t capacity) {
  return uint64_t{h.mo} + payload_size <= capacity ? kAccept : kTermMessageTooLong;
}

/// Whether the tagged offsets of the payload stay below 2^64. Ending exactly there is not a wrap.
inline TerminateCode CheckToWrap(const DdpHeader& h, size_t payload_size) {
  const bool wraps = payload_size != 0 && h.to + (payload_size - 1) < h.to;
  return wraps ? kTermTaggedToWrap : kAccept;
}

/// A tagged message that comes in several segments. Linux siw insists that they stay on one STag
/// and follow one another without a gap, and every sender does so.
struct TaggedSequence {
  bool in_message = false;
  uint32_t stag = 0;
  uint64_t next_to = 0;

  TerminateCode Check(const DdpHeader& h) const {
    if (!in_message) return kAccept;
    if (h.stag != stag) return kTermTaggedInvalidStag;
    return h.to == next_to ? kAccept : kTermTaggedBounds;
  }

  void Advance(const DdpHeader& h, size_t payload_size) {
    in_message = !h.last;
    stag = h.stag;
    next_to = h.to + payload_size;
  }
};

/// What the next segment of the oldest outstanding Read must look like.
struct ReadResponseExpectation {
  uint32_t sink_stag = 0;
  uint64_t next_to = 0;
  uint32_t remaining = 0;  ///< Octets still to come.
};

/// Whether a Read Response segment continues that Read: same sink STag, contiguous TO, no more
/// octets than asked for, and L exactly at the end of the data.
inline TerminateCode CheckReadResponse(const DdpHeader& h, size_t payload_size,
                                       const ReadResponseExpectation& expect) {
  if (h.stag != expect.sink_stag) return kTermTaggedInvalidStag;
  if (h.to != expect.next_to || payload_size > expect.remaining ||
      h.last != (payload_size == expect.remaining)) {
    return kTermTaggedBounds;
  }
  return kAccept;
}

/// Whether a message of fixed form (Read Request, Atomics, Immediate Data, Terminate) is one
/// segment of the right size. If it is too long or not the last segment, it does not fit the buffer
/// that the queue has for it. If it is too short, no RFC names a code. Sends and tagged messages
/// may have any size.
TerminateCode CheckFixedForm(const DdpHeader& h, size_t payload_size);

/// The receive side of a stream, as far as a whole FPDU can be judged without memory or queues.
struct ReceiveContext {
  bool crc = false;     ///< CRC was agreed at start-up.
  bool rfc7306 = true;  ///< Opcodes 8 and above are understood.
  std::array<UntaggedSequence, kQnCount> queues = {};
};

/// Header and payload of an FPDU that ClassifyFpdu accepted.
struct Segment {
  DdpHeader header = {};
  ByteSpan payload = {};
};

/// Judges one whole FPDU (as sized by PeekFpdu, without markers): length, CRC, header, queue
/// sequence, fixed form, TO wrap, in that order. `out` is written only for kAccept. The caller then
/// advances ctx.queues[header.qn] if the segment is untagged.
TerminateCode ClassifyFpdu(ByteSpan fpdu, const ReceiveContext& ctx, Segment* out);

}  // namespace softdat::iwarp

#endif  // SOFTDAT_WIRE_IWARP_FRAME_CHECK_H_
