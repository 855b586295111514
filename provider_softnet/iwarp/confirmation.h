// SPDX-License-Identifier: BSD-3-Clause
// Confirmation: a send or write is over when the peer has carried it out, not when TCP has it. The
// wire has no acknowledgement for them. But a read is answered after everything that was sent
// before it (RFC 5040 §5.5). So one read of nothing follows the last request, and its answer
// confirms all of them. Few such reads are under way at a time. Answers to the consumer's own reads
// and atomics confirm as well. If a peer has not said that it knows reads of nothing, it is not
// asked (MpaAgreement::empty_reads).
//
// These few bytes are never urgent. They travel with the next data that is sent, or leave when the
// driver finds nothing else to do (Stream::PayOwed).
//
// This class keeps the account of it, in positions of the send queue.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_CONFIRMATION_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_CONFIRMATION_H_

#include <algorithm>
#include <cstdint>

#include "provider_softnet/iwarp/stream_config.h"
#include "provider_softnet/queue/work_kinds.h"
#include "provider_softnet/queue/work_queue.h"

namespace softdat::softnet {

class Confirmation {
 public:
  // `begin`: the position of the next request that is posted. `possible`: the peer can be asked.
  Confirmation(uint64_t begin, bool possible)
      : possible_(possible),
        confirmed_(begin),
        asked_(begin),
        wanted_(begin),
        transfers_(begin),
        confirmable_(begin) {}

  bool possible() const { return possible_; }
  // The peer has carried out everything in front of this position.
  uint64_t confirmed() const { return confirmed_; }
  void Confirmed(uint64_t position) { confirmed_ = std::max(confirmed_, position); }
  // Whether something that has to be confirmed is not confirmed.
  bool Missing() const { return wanted_ > confirmed_; }
  // Whether, in addition, no answer that is due will confirm it.
  bool Wanted() const { return wanted_ > asked_; }
  // A request with an answer was sent, after everything in front of `position`.
  void Asked(uint64_t position) {
    asked_ = std::max(asked_, position);
    unasked_bytes_ = 0;
  }
  // Whether so much was gathered since then that a question is due although more is queued.
  // Otherwise all of it would complete together, and nothing would be under way when the program
  // posts more.
  bool MuchIsUnasked() const { return unasked_bytes_ >= kBulkToConfirm; }

  // The work at `position` is gathered. It asks for a confirmation if somebody will see its
  // completion, or if the queue fills with work that nobody sees. A bind asks, too, because it
  // waits for everything in front of it. Reads and atomics have answers, which also confirm.
  void NoteGathered(const SendQueue& queue, uint64_t position, const SendWork& work) {
    if (TakesReadCredit(work)) return;
    const uint64_t behind = position + 1;
    unasked_bytes_ += work.length;
    if (IsUnanswered(work.op)) {
      transfers_ = behind;
      if (work.confirm) confirmable_ = behind;
    }
    const bool seen = (work.flags & transport::kSuppress) == 0;
    if (seen || 2 * (behind - queue.front()) >= queue.capacity()) {
      wanted_ = std::max(wanted_, confirmable_);
    }
  }
  // Everything that was sent must be confirmed, because the consumer wants to leave, or to know
  // what succeeded before a failure.
  void WantAll() { wanted_ = std::max(wanted_, transfers_); }

  // Nothing from `position` on was sent after all. The requests that were sent confirm up to
  // `asked`.
  void TakeBack(uint64_t position, uint64_t asked) {
    transfers_ = std::min(transfers_, position);
    confirmable_ = std::min(confirmable_, position);
    wanted_ = std::min(wanted_, position);
    asked_ = std::max(confirmed_, asked);
  }

 private:
  const bool possible_;
  uint64_t confirmed_;
  uint64_t asked_;              // the position that answers which are due will confirm
  uint64_t wanted_;             // the position that has to be confirmed
  uint64_t transfers_;          // after the last send or write that was gathered
  uint64_t confirmable_;        // after the last one that is over only when confirmed
  uint64_t unasked_bytes_ = 0;  // of the sends and writes that were gathered since Asked()
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_CONFIRMATION_H_
