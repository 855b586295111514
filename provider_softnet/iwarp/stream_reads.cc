// SPDX-License-Identifier: BSD-3-Clause
// Reads and atomics: requests of the peer, and the answers to own ones (RFC 5040 §5.2, RFC 7306
// §5).
#include <cstring>

#include "provider_softnet/iwarp/access_terminate.h"
#include "provider_softnet/iwarp/stream.h"

namespace softdat::softnet {

using transport::WorkStatus;

// Whether the peer kept to the number of requests that was agreed on. The ready-to-receive read is
// one more.
bool Stream::RoomForResponse() {
  if (!responses_.allocated() && !responses_.Allocate(response_mask_ + 1)) {
    BreakSegment(iwarp::kTermStreamCatastrophic, Blame::Nobody(), "no memory for the peer's reads");
    return false;
  }
  const bool is_rtr = !first_fpdu_seen_ && config_.agreement.rtr == Rtr::kRead;
  const uint32_t limit = slots_in_ + (is_rtr ? 1u : 0u);
  if (response_back_ - response_front_ < limit) return true;
  BreakSegment(
      iwarp::kTermStreamCatastrophic, Blame::Nobody(),
      "the peer has more than " + std::to_string(slots_in_) + " reads and atomics outstanding");
  return false;
}

void Stream::TakeReadRequest(ByteSpan payload) {
  if (!RoomForResponse()) return;
  Response& r = responses_[response_back_ & response_mask_];
  r = {};
  iwarp::ParseReadRequest(payload, &r.read);
  r.msn = rx_header_.msn;
  if (r.read.size > 0) {
    if (!ReadsAllowed()) return;
    const AccessError error =
        config_.memory->Check({r.read.source_stag, config_.pd, config_.qp, Access::kRemoteRead,
                               r.read.source_to, r.read.size});
    if (error != AccessError::kNone) {
      ++counters_.remote_accesses_refused;
      const uint8_t* ulpdu = staging_ + begin_ + iwarp::kFpduLengthSize;
      return Break(RequestTerminate(error), {ulpdu, rx_ulpdu_}, rx_ulpdu_, Blame::Nobody(),
                   std::string("the peer's RDMA read was refused: ") + AccessErrorText(error));
    }
  }
  ++response_back_;
  // A read of nothing is a confirmation, and nobody's hurry. The one that opens a stream is.
  if (r.read.size > 0 || !first_fpdu_seen_) response_due_ = response_back_;
}

// A consumer that takes no reads has none, though the wire leaves room for a confirmation.
bool Stream::ReadsAllowed() {
  if (config_.agreement.ird > 0) return true;
  BreakSegment(iwarp::kTermStreamCatastrophic, Blame::Nobody(),
               "the peer reads, or has atomics, where none may be outstanding");
  return false;
}

void Stream::TakeAtomicRequest(ByteSpan payload) {
  if (!RoomForResponse() || !ReadsAllowed()) return;
  iwarp::AtomicRequest request;
  iwarp::ParseAtomicRequest(payload, &request);
  if (request.op != iwarp::kAtomicFetchAdd && request.op != iwarp::kAtomicCmpSwap) {
    return BreakSegment(iwarp::kTermUnexpectedOpcode, Blame::Nobody(),
                        "an unknown atomic operation");
  }
  if (request.to % sizeof(uint64_t) != 0) {
    return BreakSegment(iwarp::kTermStreamCatastrophic, Blame::Nobody(),
                        "the peer's atomic is not aligned to 8 bytes");
  }
  Response& r = responses_[response_back_ & response_mask_];
  r = {};
  r.atomic = true;
  r.answer.request_id = request.request_id;
  const AccessError error = ExecuteAtomic(request, &r.answer.original);
  if (phase_ > Phase::kDraining) return;
  if (error != AccessError::kNone) {
    ++counters_.remote_accesses_refused;
    return BreakSegment(RequestTerminate(error), Blame::Nobody(),
                        std::string("the peer's atomic was refused: ") + AccessErrorText(error));
  }
  response_due_ = ++response_back_;
}

// On the processor's own atomics, so that connections and local threads all agree.
AccessError Stream::ExecuteAtomic(const iwarp::AtomicRequest& request, uint64_t* original) {
  Pin pin;
  const AccessError error = config_.memory->Acquire(
      {request.stag, config_.pd, config_.qp, Access::kRemoteAtomic, request.to, sizeof(uint64_t)},
      &pin);
  if (error != AccessError::kNone) return error;
  if (reinterpret_cast<uintptr_t>(pin.address()) % sizeof(uint64_t) != 0) {
    pin.Release();
    BreakSegment(iwarp::kTermStreamCatastrophic, Blame::Nobody(),
                 "the peer's atomic falls on memory that is not aligned to 8 bytes");
    return AccessError::kNone;
  }
  auto* word = reinterpret_cast<uint64_t*>(pin.address());
  uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  uint64_t next = 0;
  do {
    next = request.op == iwarp::kAtomicFetchAdd
               ? iwarp::FetchAddResult(seen, request.add_or_swap, request.add_or_swap_mask)
               : iwarp::CmpSwapResult(seen, request.compare, request.compare_mask,
                                      request.add_or_swap, request.add_or_swap_mask);
  } while (!__atomic_compare_exchange_n(word, &seen, next, /*weak=*/true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED));
  *original = seen;
  return AccessError::kNone;
}

void Stream::TakeAtomicResponse(ByteSpan payload) {
  iwarp::AtomicResponse answer;
  iwarp::ParseAtomicResponse(payload, &answer);
  const PendingRead* read =
      pending_front_ == pending_back_ ? nullptr : &pending_[pending_front_ & pending_mask_];
  if (read == nullptr || !read->atomic || read->request_id != answer.request_id) {
    const Blame blame =
        read == nullptr ? Blame::Nobody() : Blame::Send(read->position, WorkStatus::kBadResponse);
    return BreakSegment(iwarp::kTermUnexpectedOpcode, blame,
                        "an atomic response does not fit the oldest request");
  }
  uint8_t value[sizeof(uint64_t)];
  std::memcpy(value, &answer.original, sizeof value);
  size_t done = 0;
  for (const Segment& s : config_.send_queue->segments(read->position)) {
    const size_t piece = std::min<size_t>(sizeof value - done, s.segment_length);
    if (piece == 0) break;
    Pin pin;
    const AccessError error = config_.memory->Acquire(
        {s.lmr_context, config_.pd, config_.qp, Access::kLocalWrite, s.virtual_address, piece},
        &pin);
    if (error != AccessError::kNone) {
      Confirmed(read->covers);  // it is an answer all the same
      return BreakSegment(
          iwarp::kTermLocalCatastrophic, Blame::Send(read->position, WorkStatus::kLocalProtection),
          std::string("the result of an atomic cannot be stored: ") + AccessErrorText(error));
    }
    std::memcpy(pin.address(), value + done, piece);
    done += piece;
  }
  FinishOldestRead();
}

// The oldest read or atomic request is answered.
void Stream::FinishOldestRead() {
  const PendingRead read = pending_[pending_front_ & pending_mask_];
  ++pending_front_;
  Confirmed(read.covers);
  if (read.confirmation) --confirmations_out_;
  if (read.position == kNoWork) return CompleteSends();
  --reads_out_;
  SendWork& work = config_.send_queue->at(read.position);
  if (--work.reads_pending > 0 || !work.all_sent) return CompleteSends();
  if (work.invalidate_sink && work.segment_count > 0) {
    const uint32_t key = config_.send_queue->segments(read.position)[0].lmr_context;
    const AccessError error = config_.memory->Invalidate(key, config_.pd, config_.qp);
    if (error != AccessError::kNone) {
      return BreakSegment(
          iwarp::kTermLocalCatastrophic, Blame::Send(read.position, WorkStatus::kLocalProtection),
          std::string("the sink window of a read cannot be unbound: ") + AccessErrorText(error));
    }
  }
  work.done = true;
  CompleteSends();
}

}  // namespace softdat::softnet
