// SPDX-License-Identifier: BSD-3-Clause
// Judging one received FPDU.

#include "wire/iwarp/frame_check.h"

#include "wire/iwarp/fpdu.h"
#include "wire/iwarp/rdmap.h"
#include "wire/iwarp/terminate.h"

namespace softdat::iwarp {
namespace {

struct Form {
  size_t min;
  size_t max;
};

// The payload sizes of a message of fixed form. Returns false for a message of any size.
bool FormOf(Opcode op, Form* form) {
  switch (op) {
    case Opcode::kReadRequest:
      *form = {kReadRequestSize, kReadRequestSize};
      return true;
    case Opcode::kAtomicRequest:
      *form = {kAtomicRequestSize, kAtomicRequestSize};
      return true;
    case Opcode::kAtomicResponse:
      *form = {kAtomicResponseSize, kAtomicResponseSize};
      return true;
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited:
      *form = {kImmediateSize, kImmediateSize};
      return true;
    case Opcode::kTerminate:
      // DecodeTerminate settles how much of a Terminate makes sense.
      *form = {kTerminateMinPayload, kMaxUlpdu};
      return true;
    default:
      return false;
  }
}

}  // namespace

TerminateCode CheckFixedForm(const DdpHeader& h, size_t payload_size) {
  Form form;
  if (!FormOf(h.opcode, &form)) return kAccept;
  if (payload_size > form.max || !h.last) return kTermMessageTooLong;
  if (payload_size < form.min) return kTermRemoteOperationUnspecified;
  return kAccept;
}

TerminateCode ClassifyFpdu(ByteSpan fpdu, const ReceiveContext& ctx, Segment* out) {
  FpduView view;
  // There are fewer or more octets than the length field says, so the framing is lost.
  if (PeekFpdu(fpdu, &view) != 0 || view.size != fpdu.size()) return kTermMpaMarkerMismatch;
  if (ctx.crc && !FpduCrcOk(fpdu)) return kTermMpaCrc;
  DdpHeader h;
  if (const DdpParse parsed = ParseDdpHeader(view.ulpdu, &h); parsed != DdpParse::kOk) {
    return TerminateFor(parsed);
  }
  if (!ctx.rfc7306 && static_cast<uint8_t>(h.opcode) >= kRfc5040OpcodeCount) {
    return kTermUnexpectedOpcode;
  }
  const ByteSpan payload = view.ulpdu.subspan(h.size);
  TerminateCode verdict;
  if (h.tagged) {
    verdict = CheckToWrap(h, payload.size());
  } else {
    verdict = ctx.queues[h.qn].Check(h);
    if (verdict.ok()) verdict = CheckFixedForm(h, payload.size());
  }
  if (!verdict.ok()) return verdict;
  *out = {h, payload};
  return kAccept;
}

}  // namespace softdat::iwarp
