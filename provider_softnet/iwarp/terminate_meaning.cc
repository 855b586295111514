// SPDX-License-Identifier: BSD-3-Clause
// MeantBy.
#include "provider_softnet/iwarp/terminate_meaning.h"

#include <algorithm>

#include "provider_softnet/queue/work_kinds.h"
#include "wire/iwarp/ddp.h"

namespace softdat::softnet {

using transport::Op;
using transport::WorkStatus;

namespace {

// Finds the read or atomic that the peer refused, by its number or by what it asked for.
Meant RequestMeant(const iwarp::Terminate& terminate, const iwarp::DdpHeader* header,
                   const OwnRequests& own) {
  iwarp::ReadRequest asked;
  const bool has_read = iwarp::ParseReadRequest(terminate.read_request, &asked);
  Meant alike;
  own.Find([&](const OwnRequest& request) {
    if (header != nullptr && header->msn == request.msn) {
      alike = {request.position, true};
      return true;
    }
    const bool same = has_read && !request.atomic && request.read == asked;
    // The oldest one that asks for the same. Everything in front of it is in front of all of them.
    if ((same || !has_read) && alike.position == kNoWork) alike = {request.position, same};
    return false;
  });
  return alike;
}

// The bytes of the refused segment. 0 when the Terminate does not say.
uint64_t RefusedBytes(const iwarp::Terminate& terminate, const iwarp::DdpHeader& header) {
  if (!terminate.has_segment_length || terminate.segment_length < header.size) return 0;
  return terminate.segment_length - header.size;
}

// Finds the send or write whose segment the peer refused: the oldest one that fits and is not over.
// A write beyond the end of a region may begin where an earlier write went that is too short for
// the segment.
Meant TransferMeant(const iwarp::Terminate& terminate, const iwarp::DdpHeader& header,
                    SendQueue& queue, const Sender& sender, uint64_t confirmed) {
  const uint64_t size = RefusedBytes(terminate, header);
  Meant alike;
  for (uint64_t p = std::max(queue.front(), confirmed); p != queue.back(); ++p) {
    if (!sender.HasBegun(p)) break;  // cannot be meant
    const SendWork& work = queue.at(p);
    if (!header.tagged) {
      if (!(IsSendOp(work.op) || work.op == Op::kRdmaWriteImmediate)) continue;
      if (work.msn == header.msn) return {p, true};
    } else if (IsWrite(work.op) && work.remote.key == header.stag) {
      const uint64_t offset = header.to - work.remote.address;
      if (offset < work.length && size <= work.length - offset) return {p, true};
      // For a peer that counts the segment's bytes in another way.
      if (offset < work.length && !alike.named) alike = {p, true};
    } else {
      continue;
    }
    if (alike.position == kNoWork) alike.position = p;
  }
  return alike;
}

}  // namespace

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

Meant MeantBy(const iwarp::Terminate& terminate, SendQueue& queue, const OwnRequests& own,
              const Sender& sender, uint64_t confirmed) {
  iwarp::DdpHeader h;
  const bool has_header = iwarp::ParseDdpHeader(terminate.ddp_header, &h) == iwarp::DdpParse::kOk;
  const bool names_request = has_header && !h.tagged && h.qn == iwarp::kQnReadRequest;
  iwarp::ReadRequest asked;
  if (names_request || iwarp::ParseReadRequest(terminate.read_request, &asked)) {
    return RequestMeant(terminate, names_request ? &h : nullptr, own);
  }
  if (!has_header) {  // without a name, it means the oldest request that has begun
    return {sender.HasBegun(queue.front()) ? queue.front() : kNoWork, false};
  }
  // The rest are answers, which are not work of the consumer.
  const bool transfer = h.tagged ? h.opcode == iwarp::Opcode::kWrite : h.qn == iwarp::kQnSend;
  return transfer ? TransferMeant(terminate, h, queue, sender, confirmed) : Meant{};
}

}  // namespace softdat::softnet
