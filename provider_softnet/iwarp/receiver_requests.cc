// SPDX-License-Identifier: BSD-3-Clause
// Receiver: requests of the peer, and the answers to our own requests (RFC 5040 §5.2, RFC 7306 §5).
#include <algorithm>
#include <cstring>
#include <string>

#include "provider_softnet/iwarp/access_terminate.h"
#include "provider_softnet/iwarp/receiver.h"
#include "provider_softnet/memory/remote_atomic.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::softnet {

using transport::WorkStatus;

// -------------------------------------------------------------------------------------------------
// Of the peer

// Whether the peer has kept to the agreed number of requests. The ready-to-receive read is one
// more.
bool Receiver::RoomForResponse() {
  const bool is_rtr = !state_.first_fpdu_seen && state_.config.agreement.rtr == Rtr::kRead;
  if (peer_.count() >= peer_.slots() + (is_rtr ? 1u : 0u)) {
    FailTooManyRequests();
    return false;
  }
  if (peer_.Have()) return true;
  FailSegment(iwarp::kTermStreamCatastrophic, Blame::Nobody(), "no memory for the peer's reads");
  return false;
}

void Receiver::FailTooManyRequests() {
  FailSegment(
      iwarp::kTermStreamCatastrophic, Blame::Nobody(),
      "the peer has more than " + std::to_string(peer_.slots()) + " reads and atomics outstanding");
}

// A consumer that takes no reads must get none, although the wire leaves room for a confirmation.
bool Receiver::ReadsAllowed() {
  if (state_.config.agreement.ird > 0) return true;
  FailSegment(iwarp::kTermStreamCatastrophic, Blame::Nobody(),
              "the peer reads, or has atomics, where none may be outstanding");
  return false;
}

void Receiver::TakeReadRequest(ByteSpan payload) {
  if (!RoomForResponse()) return;
  PeerRequest& r = peer_.Prepare();
  iwarp::ParseReadRequest(payload, &r.read);
  r.msn = header_.msn;
  if (r.read.size > 0) {
    if (!ReadsAllowed()) return;
    const AccessError error = state_.memory().Check(
        state_.Access(r.read.source_stag, Access::kRemoteRead, r.read.source_to, r.read.size));
    if (error != AccessError::kNone) {
      ++state_.counters.remote_accesses_refused;
      const uint8_t* const ulpdu = staging_.front() + iwarp::kFpduLengthSize;
      return state_.Fail(RequestTerminate(error), {ulpdu, ulpdu_}, ulpdu_, Blame::Nobody(),
                         "the peer's RDMA read was refused: ", AccessErrorText(error));
    }
  }
  if (r.read.size == 0) asked_ = carried_out();
  // A read of nothing is a confirmation, which is not urgent. One that opens a stream is urgent.
  peer_.Add(/*urgent=*/r.read.size > 0 || !state_.first_fpdu_seen);
}

void Receiver::TakeAtomicRequest(ByteSpan payload) {
  if (!RoomForResponse() || !ReadsAllowed()) return;
  iwarp::AtomicRequest request;
  iwarp::ParseAtomicRequest(payload, &request);
  if (request.op != iwarp::kAtomicFetchAdd && request.op != iwarp::kAtomicCmpSwap) {
    return FailSegment(iwarp::kTermUnexpectedOpcode, Blame::Nobody(),
                       "an unknown atomic operation");
  }
  if (request.to % sizeof(uint64_t) != 0) {
    return FailSegment(iwarp::kTermStreamCatastrophic, Blame::Nobody(),
                       "the peer's atomic is not aligned to 8 bytes");
  }
  PeerRequest& r = peer_.Prepare();
  r.atomic = true;
  r.answer.request_id = request.request_id;
  const auto next = [&request](uint64_t seen) {
    return request.op == iwarp::kAtomicFetchAdd
               ? iwarp::FetchAddResult(seen, request.add_or_swap, request.add_or_swap_mask)
               : iwarp::CmpSwapResult(seen, request.compare, request.compare_mask,
                                      request.add_or_swap, request.add_or_swap_mask);
  };
  AccessError error = AccessError::kNone;
  switch (ExecuteAtomic(
      state_.memory(),
      state_.Access(request.stag, Access::kRemoteAtomic, request.to, sizeof(uint64_t)), next,
      &r.answer.original, &error)) {
    case AtomicResult::kDone:
      return peer_.Add(/*urgent=*/true);
    case AtomicResult::kMisaligned:
      return FailSegment(iwarp::kTermStreamCatastrophic, Blame::Nobody(),
                         "the peer's atomic falls on memory that is not aligned to 8 bytes");
    case AtomicResult::kRefused:
      ++state_.counters.remote_accesses_refused;
      return FailSegment(RequestTerminate(error), Blame::Nobody(),
                         "the peer's atomic was refused: ", AccessErrorText(error));
  }
}

// -------------------------------------------------------------------------------------------------
// Answers

void Receiver::TakeAtomicResponse(ByteSpan payload) {
  iwarp::AtomicResponse answer;
  iwarp::ParseAtomicResponse(payload, &answer);
  if (own_.empty() || !own_.oldest().atomic || own_.oldest().request_id != answer.request_id) {
    const Blame blame = own_.empty()
                            ? Blame::Nobody()
                            : Blame::Send(own_.oldest().position, WorkStatus::kBadResponse);
    return FailSegment(iwarp::kTermUnexpectedOpcode, blame,
                       "an atomic response does not fit the oldest request");
  }
  const OwnRequest& request = own_.oldest();
  uint8_t value[sizeof(uint64_t)];
  std::memcpy(value, &answer.original, sizeof value);
  size_t done = 0;
  for (const Segment& s : ledger_.sends().segments(request.position)) {
    const size_t piece = std::min<size_t>(sizeof value - done, s.segment_length);
    if (piece == 0) break;
    Pin pin;
    const AccessError error = state_.memory().Acquire(
        state_.Access(s.lmr_context, Access::kLocalWrite, s.virtual_address, piece), &pin);
    if (error != AccessError::kNone) {
      confirmation_.Confirmed(request.covers);  // it is an answer nevertheless
      return FailSegment(iwarp::kTermLocalCatastrophic,
                         Blame::Send(request.position, WorkStatus::kLocalProtection),
                         "the result of an atomic cannot be stored: ", AccessErrorText(error));
    }
    std::memcpy(pin.address(), value + done, piece);
    done += piece;
  }
  FinishOldestRead();
}

// The oldest read or atomic request is answered.
void Receiver::FinishOldestRead() {
  const OwnRequest& request = own_.oldest();
  own_.PopOldest();
  confirmation_.Confirmed(request.covers);
  state_.unsettled = true;
  if (request.position == kNoWork) return;
  SendWork& work = ledger_.sends().at(request.position);
  if (--work.reads_pending > 0 || !work.all_sent) return;
  if (work.invalidate_sink && work.segment_count > 0) {
    const uint32_t key = ledger_.sends().segments(request.position)[0].lmr_context;
    const WorkLedgerConfig& config = ledger_.config();
    const AccessError error = state_.memory().Invalidate(key, config.pd, config.qp);
    if (error != AccessError::kNone) {
      return FailSegment(iwarp::kTermLocalCatastrophic,
                         Blame::Send(request.position, WorkStatus::kLocalProtection),
                         "the sink window of a read cannot be unbound: ", AccessErrorText(error));
    }
  }
  work.done = true;
}

}  // namespace softdat::softnet
