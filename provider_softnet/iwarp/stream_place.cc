// SPDX-License-Identifier: BSD-3-Clause
// Placement of arriving payload: which memory the next bytes go to, judged at the moment they move.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "provider_softnet/iwarp/access_terminate.h"
#include "provider_softnet/iwarp/stream.h"

namespace softdat::softnet {

using iwarp::Opcode;

namespace {

// Copies the end of a message or an RDMA write so that its last bytes become visible last, and
// after everything before them: a program may poll them (semantics 10.3). The last unit is one
// store of up to 8 bytes.
void CopyPolledEnd(uint8_t* to, const uint8_t* from, size_t size) {
  const uintptr_t end = reinterpret_cast<uintptr_t>(to) + size;
  const size_t unit = end % 8 == 0 && size >= 8 ? 8 : end % 4 == 0 && size >= 4 ? 4 : 1;
  const size_t rest = size - unit;
  if (rest > 0) std::memcpy(to, from, rest);
  to += rest;
  from += rest;
  if (unit == 8) {
    uint64_t v;
    std::memcpy(&v, from, sizeof v);
    __atomic_store_n(reinterpret_cast<uint64_t*>(to), v, __ATOMIC_RELEASE);
  } else if (unit == 4) {
    uint32_t v;
    std::memcpy(&v, from, sizeof v);
    __atomic_store_n(reinterpret_cast<uint32_t*>(to), v, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(to, *from, __ATOMIC_RELEASE);
  }
}

}  // namespace

// The access for the next contiguous piece of at most `want` bytes at the cursor; moves the cursor
// on. False when the receive's segments are used up (its length was checked: cannot happen).
bool Stream::NextPiece(RxCursor* cursor, size_t want, AccessRequest* request) const {
  request->pd = config_.pd;
  request->qp = config_.qp;
  if (rx_header_.opcode == Opcode::kWrite) {
    *request = {rx_header_.stag,      config_.pd,     config_.qp,
                Access::kRemoteWrite, cursor->offset, want};
    cursor->offset += want;
    return true;
  }
  if (rx_header_.opcode == Opcode::kReadResponse) {
    const PendingRead& read = pending_[pending_front_ & pending_mask_];
    const bool window =
        read.position != kNoWork && config_.send_queue->at(read.position).sink_is_window;
    *request = {read.read.sink_stag, config_.pd,
                config_.qp,          window ? Access::kWindowSink : Access::kLocalWrite,
                cursor->offset,      want};
    cursor->offset += want;
    return true;
  }
  if (rx_receive_ == nullptr || cursor->segment >= rx_receive_->segment_count) return false;
  const Segment& s = rx_receive_->segments[cursor->segment];
  const size_t piece = std::min<size_t>(want, s.segment_length - cursor->segment_offset);
  *request = {s.lmr_context,
              ReceiveDomain(),
              config_.qp,
              Access::kLocalWrite,
              s.virtual_address + cursor->segment_offset,
              piece};
  cursor->segment_offset += static_cast<uint32_t>(piece);
  if (cursor->segment_offset == s.segment_length) {
    ++cursor->segment;
    cursor->segment_offset = 0;
  }
  return true;
}

// The destination of the segment being received cannot be written.
void Stream::RefusePlacement(AccessError error) {
  const std::string text = AccessErrorText(error);
  if (rx_header_.opcode == Opcode::kWrite) {
    ++counters_.remote_accesses_refused;
    return BreakSegment(TaggedTerminate(error), Blame::Nobody(),
                        "the peer's RDMA write was refused: " + text);
  }
  if (rx_header_.opcode == Opcode::kReadResponse) {
    const PendingRead& read = pending_[pending_front_ & pending_mask_];
    Confirmed(read.covers);  // it is an answer all the same
    return BreakSegment(TaggedTerminate(error),
                        Blame::Send(read.position, transport::WorkStatus::kLocalProtection),
                        "the sink of an RDMA read cannot be written: " + text);
  }
  // A local catastrophe would come without the header that names the message.
  BreakSegment(iwarp::kTermRemoteOperationUnspecified,
               Blame::Receive(transport::WorkStatus::kLocalProtection),
               "a receive buffer cannot be written: " + text);
}

// Copies staged payload to its destination. False when that ended the connection.
bool Stream::Place(const uint8_t* data, size_t size) {
  const bool ends = size == rx_payload_left_ && EndIsPolled();
  size_t left = size;
  while (left > 0) {
    AccessRequest piece;
    if (!NextPiece(&rx_cursor_, left, &piece)) {
      RefusePlacement(AccessError::kBounds);
      return false;
    }
    Pin pin;
    const AccessError error = config_.memory->Acquire(piece, &pin);
    if (error != AccessError::kNone) {
      pin.Release();
      RefusePlacement(error);
      return false;
    }
    if (ends && piece.length == left) {
      CopyPolledEnd(pin.address(), data, piece.length);
    } else {
      std::memcpy(pin.address(), data, piece.length);
    }
    data += piece.length;
    left -= piece.length;
  }
  return true;
}

}  // namespace softdat::softnet
