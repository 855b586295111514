// SPDX-License-Identifier: BSD-3-Clause
// Receiver: places arriving payload. The memory for the next bytes is checked at the moment when
// they move.
#include <algorithm>
#include <cstring>

#include "provider_softnet/iwarp/access_terminate.h"
#include "provider_softnet/iwarp/receiver.h"
#include "provider_softnet/memory/brief_access.h"
#include "provider_softnet/memory/polled_copy.h"

namespace softdat::softnet {

using iwarp::Opcode;

// Finds the access for the next contiguous piece of at most `want` bytes at the cursor, and moves
// the cursor on. Returns false when the receive's segments are used up (its length was checked, so
// this cannot happen).
[[gnu::always_inline]] inline bool Receiver::Piece(Cursor* cursor, size_t want,
                                                   AccessRequest* request) const {
  if (header_.opcode == Opcode::kWrite) {
    *request = state_.Access(header_.stag, Access::kRemoteWrite, cursor->offset, want);
    cursor->offset += want;
    return true;
  }
  if (header_.opcode == Opcode::kReadResponse) {
    const OwnRequest& own = own_.oldest();
    const bool window = own.position != kNoWork && ledger_.sends().at(own.position).sink_is_window;
    *request = state_.Access(own.read.sink_stag, window ? Access::kWindowSink : Access::kLocalWrite,
                             cursor->offset, want);
    cursor->offset += want;
    return true;
  }
  const ReceiveWork* const receive = ledger_.held();
  if (receive == nullptr || cursor->segment >= receive->segment_count) return false;
  const Segment& s = receive->segments[cursor->segment];
  const size_t piece = std::min<size_t>(want, s.segment_length - cursor->segment_offset);
  *request = state_.Access(s.lmr_context, Access::kLocalWrite,
                           s.virtual_address + cursor->segment_offset, piece);
  request->pd = ledger_.receive_domain();
  cursor->segment_offset += static_cast<uint32_t>(piece);
  if (cursor->segment_offset == s.segment_length) {
    ++cursor->segment;
    cursor->segment_offset = 0;
  }
  return true;
}

bool Receiver::NextPiece(Cursor* cursor, size_t want, AccessRequest* request) const {
  return Piece(cursor, want, request);
}

// The destination of the segment being received cannot be written.
void Receiver::RefusePlacement(AccessError error) {
  const char* const text = AccessErrorText(error);
  if (header_.opcode == Opcode::kWrite) {
    ++state_.counters.remote_accesses_refused;
    return FailSegment(TaggedTerminate(error), Blame::Nobody(),
                       "the peer's RDMA write was refused: ", text);
  }
  if (header_.opcode == Opcode::kReadResponse) {
    const OwnRequest& own = own_.oldest();
    confirmation_.Confirmed(own.covers);  // it is an answer nevertheless
    return FailSegment(TaggedTerminate(error),
                       Blame::Send(own.position, transport::WorkStatus::kLocalProtection),
                       "the sink of an RDMA read cannot be written: ", text);
  }
  // The Terminate for a local catastrophe would have no header to name the message.
  FailSegment(iwarp::kTermRemoteOperationUnspecified,
              Blame::Receive(transport::WorkStatus::kLocalProtection),
              "a receive buffer cannot be written: ", text);
}

// `ends`: with the last byte of the message, which programs poll.
[[gnu::always_inline]] inline AccessError Receiver::PlacePiece(const AccessRequest& piece,
                                                               const uint8_t* data, bool ends) {
  const BriefAccess to(state_.memory(), piece);
  if (!to.granted()) return to.error();
  if (ends) {
    CopyPolledEnd(to.address(), data, piece.length);
  } else {
    std::memcpy(to.address(), data, piece.length);
  }
  return AccessError::kNone;
}

// Copies staged payload to its destination. Returns false when that has failed.
bool Receiver::Place(const uint8_t* data, size_t size) {
  const bool ends = size == payload_left_ && EndIsPolled();
  size_t left = size;
  while (left > 0) {
    AccessRequest piece;
    if (!Piece(&cursor_, left, &piece)) {
      RefusePlacement(AccessError::kBounds);
      return false;
    }
    const AccessError error = PlacePiece(piece, data, ends && piece.length == left);
    if (error != AccessError::kNone) [[unlikely]] {
      RefusePlacement(error);
      return false;
    }
    data += piece.length;
    left -= piece.length;
  }
  return true;
}

}  // namespace softdat::softnet
