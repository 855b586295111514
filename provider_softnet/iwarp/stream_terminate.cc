// SPDX-License-Identifier: BSD-3-Clause
// A Terminate of the peer: which own work it speaks about. Untagged messages have numbers; a write
// is known by where it went. Without confirmation, sends and writes are usually over by then.
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

}  // namespace

// The read or atomic that the peer refused: by its number, or by what it asked for.
Stream::Meant Stream::RequestMeant(const iwarp::Terminate& terminate,
                                   const iwarp::DdpHeader* header) const {
  iwarp::ReadRequest asked;
  const bool has_read = iwarp::ParseReadRequest(terminate.read_request, &asked);
  Meant alike;
  for (uint32_t i = pending_front_; i != pending_back_; ++i) {
    const PendingRead& read = pending_[i & pending_mask_];
    if (header != nullptr && header->msn == read.msn) return {read.position, true};
    const bool same = has_read && !read.atomic && read.read == asked;
    // The oldest that asks for the same: what stands in front of it stands in front of all of them.
    if ((same || !has_read) && alike.position == kNoWork) alike = {read.position, same};
  }
  return alike;
}

// Whether something of the work at `position` was gathered.
bool Stream::HasBegun(uint64_t position) const {
  if (position != send_next_) return position < send_next_;
  return send_offset_ > 0 || send_stage_ == WriteStage::kImmediate;
}

// The send or write whose segment the peer refused: the oldest that fits and is not over.
Stream::Meant Stream::TransferMeant(const iwarp::DdpHeader& header) const {
  SendQueue& queue = *config_.send_queue;
  Meant alike;
  for (uint64_t p = std::max(queue.front(), confirmed_); p != queue.back(); ++p) {
    if (!HasBegun(p)) break;  // cannot be meant
    const SendWork& work = queue.at(p);
    if (!header.tagged) {
      if (!(IsSendOp(work.op) || work.op == Op::kRdmaWriteImmediate)) continue;
      if (work.msn == header.msn) return {p, true};
    } else if (IsWrite(work.op) && work.remote_key == header.stag) {
      if (header.to - work.remote_address < work.length) return {p, true};
    } else {
      continue;
    }
    if (alike.position == kNoWork) alike.position = p;
  }
  return alike;
}

// Without a name it is the oldest request that has begun.
Stream::Meant Stream::OldestBegun() const {
  const uint64_t front = config_.send_queue->front();
  return {HasBegun(front) ? front : kNoWork, false};
}

Stream::Meant Stream::MeantBy(const iwarp::Terminate& terminate) const {
  iwarp::DdpHeader h;
  const bool has_header = iwarp::ParseDdpHeader(terminate.ddp_header, &h) == iwarp::DdpParse::kOk;
  const bool names_request = has_header && !h.tagged && h.qn == iwarp::kQnReadRequest;
  iwarp::ReadRequest asked;
  if (names_request || iwarp::ParseReadRequest(terminate.read_request, &asked)) {
    return RequestMeant(terminate, names_request ? &h : nullptr);
  }
  if (!has_header) return OldestBegun();
  // The rest are answers, which are no work of the consumer's.
  const bool transfer = h.tagged ? h.opcode == iwarp::Opcode::kWrite : h.qn == iwarp::kQnSend;
  return transfer ? TransferMeant(h) : Meant{};
}

void Stream::TakeTerminate(ByteSpan payload) {
  iwarp::DecodedTerminate decoded;
  std::string why = "the peer terminated the connection";
  Blame blame;
  if (iwarp::DecodeTerminate(payload, &decoded)) {
    end_.terminate = decoded.term.code;
    why += std::string(": ") + iwarp::TerminateText(decoded.term.code);
    const Meant meant = MeantBy(decoded.term);
    if (meant.position != kNoWork) {
      blame = Blame::Send(meant.position, StatusFor(decoded.term.code));
      // The peer takes one thing after the other: what stood in front of this was carried out. A
      // peer that names nothing may have failed by itself, in front of whatever is under way.
      if (meant.named) Confirmed(meant.position);
    }
  }
  Finish(transport::EndReason::kBroken, std::move(why), true, blame);
}

}  // namespace softdat::softnet
