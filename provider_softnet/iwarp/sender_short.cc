// SPDX-License-Identifier: BSD-3-Clause
// Sender: the short way of small messages. A send or write of at most one small segment, with
// nothing in front of it, becomes an FPDU in the post itself: its memory is looked up once, header
// and payload go into the buffer, and its place in the send queue is filled. Everything else, and
// whatever is to be refused, is left to the general way, as if nobody had looked.
#include "provider_softnet/iwarp/sender.h"
#include "provider_softnet/memory/brief_access.h"
#include "provider_softnet/memory/polled_copy.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::softnet {

using iwarp::Opcode;

[[gnu::hot]] bool Sender::PostShort(const transport::SendRequest& request, bool confirm) {
  const bool write = request.op == transport::Op::kRdmaWrite;
  const size_t header = write ? iwarp::kTaggedHeaderSize : iwarp::kUntaggedHeaderSize;
  const Segment segment = request.local.empty() ? Segment{} : request.local[0];
  const uint64_t length = segment.segment_length;
  if (length > kInlineMessage || header + length > state_.mulpdu) return false;
  // A write of nothing may look like a parting word.
  if (write && (length == 0 || length > request.remote.segment_length)) return false;
  if (sends_.full() || sends_.max_segments() == 0 || (confirm && !own_.Have())) return false;
  if (!HaveBuffer()) return false;
  TxFpdu* const fpdu = buffer_.New();
  if (fpdu == nullptr) return false;
  const size_t payload = static_cast<size_t>(length);
  uint8_t* const head = buffer_.head_of(*fpdu);
  const size_t front = iwarp::kFpduLengthSize + header;
  if (payload > 0) {
    const BriefAccess from(state_.memory(), state_.Access(segment.lmr_context, Access::kLocalRead,
                                                          segment.virtual_address, payload));
    if (!from.granted()) return false;
    CopyBrief(head + front, from.address(), payload);
  }
  SendWork& work = ledger_.FillAccepted(request, segment, confirm);
  if (write) {
    work.msn = writes_++;
    iwarp::EncodeTaggedFpduHeader(head, Opcode::kWrite, /*last=*/true, work.remote.key,
                                  work.remote.address, payload);
  } else {
    work.msn = send_msn_++;
    iwarp::EncodeUntaggedFpduHeader(head, Opcode::kSend, /*last=*/true, 0, iwarp::kQnSend, work.msn,
                                    0, payload);
  }
  fpdu->head_size = static_cast<uint32_t>(front + payload);
  fpdu->of_work = fpdu->ends_work = true;
  fpdu->position = next_;
  ++state_.counters.posted_short;
  state_.counters.bytes_inlined += payload;
  buffer_.Commit(fpdu, header + payload, /*crc_state=*/0);
  sends_.Commit();
  confirmation_.NoteGathered(sends_, next_++, work);
  return true;
}

}  // namespace softdat::softnet
