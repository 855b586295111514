// SPDX-License-Identifier: BSD-3-Clause
// Confirmation: a send or write is over when the peer has carried it out, not when TCP has it. The
// wire has no acknowledgement for them, but a read is answered after everything that was sent in
// front of it (RFC 5040 §5.5). So one read of nothing goes behind the last request, and its answer
// confirms all of them. Few are under way at a time; answers to the consumer's own reads and
// atomics confirm as well. A peer that has not said that it knows reads of nothing is not asked
// (MpaAgreement::empty_reads).
//
// Nobody waits for these few bytes in a hurry: they ride on what is sent next (GatherOwed), or
// leave when the driver finds nothing else to do (PayOwed).
#include "provider_softnet/iwarp/iov_writer.h"
#include "provider_softnet/iwarp/stream.h"
#include "provider_softnet/iwarp/work_kinds.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::softnet {

// The work at send_next_ is gathered. A confirmation is asked for where somebody will see the
// completion, also that of a bind, which waits for what stands in front of it; or where the queue
// fills with work that nobody sees. Reads and atomics have answers, which confirm as well.
void Stream::NoteGathered(const SendWork& work) {
  if (TakesReadCredit(work)) return;
  const uint64_t behind = send_next_ + 1;
  if (IsUnanswered(work.op)) {
    transfers_to_ = behind;
    if (phase_ == Phase::kDraining) return ConfirmAll();
    if (work.confirm) confirmable_to_ = behind;
  }
  const SendQueue& queue = *config_.send_queue;
  const bool seen = (work.flags & transport::kSuppress) == 0;
  if (seen || 2 * (behind - queue.front()) >= queue.capacity()) {
    confirm_to_ = std::max(confirm_to_, confirmable_to_);
  }
}

// Whatever was sent is to be confirmed: the consumer wants to leave, or to know what came before a
// failure.
void Stream::ConfirmAll() {
  if (CanConfirm() && HavePending()) confirm_to_ = std::max(confirm_to_, transfers_to_);
}

// A read of nothing. Its keys name nothing: a size of 0 is not judged.
bool Stream::GatherConfirmation() {
  TxFpdu* fpdu = NewFpdu();
  if (fpdu == nullptr) return false;
  PendingRead& read = pending_[pending_back_ & pending_mask_];
  read = {};
  read.position = kNoWork;
  read.covers = send_next_;
  read.msn = read_msn_;
  read.confirmation = true;
  read.read.source_stag = 1;
  iwarp::EncodeReadRequestFpduHead(arena_ + fpdu->head, read_msn_++, read.read);
  fpdu->head_size = iwarp::kReadRequestFpduHeadSize;
  fpdu->of_work = fpdu->asks = true;
  CommitCopied(fpdu);
  ++pending_back_;
  asked_ = send_next_;
  ++confirmations_out_;
  return true;
}

void Stream::GatherOwed(IovWriter* out) {
  pay_ = false;
  response_due_ = response_back_;
  while (ResponseDue()) {
    const uint32_t before = tx_back_;
    if (!GatherResponse(/*alone=*/out->bytes() == 0) || !EmitAt(before, out)) return;
  }
  const uint32_t before = tx_back_;
  if (WantsConfirmation() && GatherConfirmation()) EmitAt(before, out);
}

}  // namespace softdat::softnet
