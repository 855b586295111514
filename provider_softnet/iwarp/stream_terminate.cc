// SPDX-License-Identifier: BSD-3-Clause
// A Terminate of the peer: which own work it speaks about, as far as can be known. Sends and writes
// are usually complete by then; reads and atomics are matched exactly.
#include "provider_softnet/iwarp/stream.h"
#include "provider_softnet/iwarp/work_kinds.h"

namespace softdat::softnet {

using transport::Op;
using transport::WorkStatus;

namespace {

WorkStatus StatusFor(iwarp::TerminateCode code) {
  if (code.layer == iwarp::kLayerLlp) return WorkStatus::kTransport;
  if (code.layer == iwarp::kLayerRdmap) {
    return code.etype == iwarp::kRdmapRemoteProtection ||
                   code == iwarp::kTermOperationCannotInvalidate
               ? WorkStatus::kRemoteAccess
               : WorkStatus::kRemoteResponder;
  }
  if (code.etype == iwarp::kDdpTaggedBuffer) return WorkStatus::kRemoteAccess;
  if (code == iwarp::kTermNoBuffer) return WorkStatus::kReceiverNotReady;
  return WorkStatus::kRemoteResponder;
}

bool IsSendOp(Op op) { return op == Op::kSend || op == Op::kSendInvalidate; }

}  // namespace

Stream::Blame Stream::BlameFor(const iwarp::Terminate& terminate) const {
  const WorkStatus status = StatusFor(terminate.code);
  SendQueue& queue = *config_.send_queue;
  iwarp::DdpHeader h;
  const bool has_header = iwarp::ParseDdpHeader(terminate.ddp_header, &h) == iwarp::DdpParse::kOk;
  iwarp::ReadRequest asked;
  const bool has_read = iwarp::ParseReadRequest(terminate.read_request, &asked);
  const bool about_request = has_read || (has_header && h.qn == iwarp::kQnReadRequest && !h.tagged);
  // Requests that are not answered, oldest first.
  for (uint32_t i = pending_front_; i != pending_back_; ++i) {
    const PendingRead& read = pending_[i & pending_mask_];
    if (read.position == kNoWork) continue;
    if (has_read ? !read.atomic && read.read == asked
                 : about_request || (!has_header && terminate.code.layer == iwarp::kLayerRdmap)) {
      return Blame::Send(read.position, status);
    }
  }
  if (about_request) return Blame::Nobody();
  for (uint64_t p = queue.front(); p != queue.back(); ++p) {
    const SendWork& work = queue.at(p);
    // Not begun: cannot be meant.
    if (p > send_next_ || (p == send_next_ && send_offset_ == 0)) break;
    if (!has_header) return Blame::Send(p, status);
    if (h.opcode == iwarp::Opcode::kWrite && IsWrite(work.op) && work.remote_key == h.stag) {
      return Blame::Send(p, status);
    }
    if (!h.tagged && h.qn == iwarp::kQnSend && (IsSendOp(work.op) || IsWrite(work.op))) {
      return Blame::Send(p, status);
    }
  }
  return Blame::Nobody();
}

void Stream::TakeTerminate(ByteSpan payload) {
  iwarp::DecodedTerminate decoded;
  std::string why = "the peer terminated the connection";
  Blame blame;
  if (iwarp::DecodeTerminate(payload, &decoded)) {
    end_.terminate = decoded.term.code;
    why += std::string(": ") + iwarp::TerminateText(decoded.term.code);
    blame = BlameFor(decoded.term);
  }
  Finish(transport::EndReason::kBroken, std::move(why), true, blame);
}

}  // namespace softdat::softnet
