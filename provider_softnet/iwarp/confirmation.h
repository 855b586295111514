// SPDX-License-Identifier: BSD-3-Clause
// Confirmation: a send or write is over when the peer has carried it out, not when TCP has it. The
// wire has no acknowledgement for them, but a read is answered after everything that was sent in
// front of it (RFC 5040 §5.5). So one read of nothing goes behind the last request, and its answer
// confirms all of them. Few are under way at a time; answers to the consumer's own reads and
// atomics confirm as well. A peer that has not said that it knows reads of nothing is not asked
// (MpaAgreement::empty_reads).
//
// Nobody waits for these few bytes in a hurry: they ride on what is sent next, or leave when the
// driver finds nothing else to do (Stream::PayOwed).
//
// This is the account of it, in positions of the send queue.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_CONFIRMATION_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_CONFIRMATION_H_

#include <algorithm>
#include <cstdint>

#include "provider_softnet/queue/work_kinds.h"
#include "provider_softnet/queue/work_queue.h"

namespace softdat::softnet {

class Confirmation {
 public:
  // `begin`: of the next request that is posted. `possible`: the peer can be asked.
  Confirmation(uint64_t begin, bool possible)
      : possible_(possible),
        confirmed_(begin),
        asked_(begin),
        wanted_(begin),
        transfers_(begin),
        confirmable_(begin) {}

  bool possible() const { return possible_; }
  // The peer has carried out all in front of it.
  uint64_t confirmed() const { return confirmed_; }
  void Confirmed(uint64_t position) { confirmed_ = std::max(confirmed_, position); }
  // Something that has to be confirmed is not.
  bool Missing() const { return wanted_ > confirmed_; }
  // Nor will the answers that are due confirm it.
  bool Wanted() const { return wanted_ > asked_; }
  // A request with an answer was sent, behind everything in front of `position`.
  void Asked(uint64_t position) { asked_ = std::max(asked_, position); }

  // The work at `position` is gathered. A confirmation is asked for where somebody will see the
  // completion, also that of a bind, which waits for what stands in front of it; or where the queue
  // fills with work that nobody sees. Reads and atomics have answers, which confirm as well.
  void NoteGathered(const SendQueue& queue, uint64_t position, const SendWork& work) {
    if (TakesReadCredit(work)) return;
    const uint64_t behind = position + 1;
    if (IsUnanswered(work.op)) {
      transfers_ = behind;
      if (work.confirm) confirmable_ = behind;
    }
    const bool seen = (work.flags & transport::kSuppress) == 0;
    if (seen || 2 * (behind - queue.front()) >= queue.capacity()) {
      wanted_ = std::max(wanted_, confirmable_);
    }
  }
  // Whatever was sent is to be confirmed: the consumer wants to leave, or to know what came before
  // a failure.
  void WantAll() { wanted_ = std::max(wanted_, transfers_); }

  // Nothing from `position` on was sent after all; what was asked confirms up to `asked`.
  void TakeBack(uint64_t position, uint64_t asked) {
    transfers_ = std::min(transfers_, position);
    confirmable_ = std::min(confirmable_, position);
    wanted_ = std::min(wanted_, position);
    asked_ = std::max(confirmed_, asked);
  }

 private:
  const bool possible_;
  uint64_t confirmed_;
  uint64_t asked_;        // what answers that are due will confirm
  uint64_t wanted_;       // what has to be confirmed
  uint64_t transfers_;    // behind the last send or write that was gathered
  uint64_t confirmable_;  // behind the last one that is over only when confirmed
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_CONFIRMATION_H_
