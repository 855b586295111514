// SPDX-License-Identifier: BSD-3-Clause
// Event dispatcher: merges event streams into one bounded queue (semantics 5).
//
// Two stages: a ring for everything that the engine itself produces, and, for EVDs that take DTO or
// bind completions, the back end's completion queue. The ring is older: it is taken first; events
// that must come after completions already made (the end of a connection) first move those into the
// ring.
#ifndef SOFTDAT_DAT_ENGINE_EVD_H_
#define SOFTDAT_DAT_ENGINE_EVD_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "dat/base/mutex.h"
#include "dat/engine/cno.h"
#include "dat/engine/counters.h"
#include "dat/engine/event_ring.h"
#include "dat/engine/object.h"
#include "dat/engine/receive_count.h"
#include "dat/transport/transport.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine {

class Evd final : public Object, private transport::CompletionSink {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_EVD;

  // dat_evd_create. `cno` may be null. On success *out is published.
  static DAT_RETURN Create(Ia* ia, DAT_COUNT min_qlen, Cno* cno, DAT_EVD_FLAGS flags, Evd** out);

  // --- the consumer's side -------------------------------------------------------------------
  DAT_RETURN Wait(DAT_TIMEOUT timeout_us, DAT_COUNT threshold, DAT_EVENT* event, DAT_COUNT* nmore);
  DAT_RETURN Dequeue(DAT_EVENT* event);  // evd_dequeue.h
  DAT_RETURN PostSoftwareEvent(const DAT_EVENT& event);
  DAT_RETURN Resize(DAT_COUNT min_qlen);
  DAT_RETURN ModifyCno(Cno* cno);
  void SetEnabled(bool enabled);
  void SetWaitable(bool waitable);
  void Query(DAT_EVD_PARAM* param);
  // See CounterReader.
  static constexpr size_t kCounters = DCNT_EVD_ALL_COUNTERS;
  void ReadCounters(size_t which, bool reset, uint64_t* out) {
    reader_.Read(which, reset, out, [this](size_t i) { return Counted(i); });
  }
  // The caller pins the EVD once.
  DAT_RETURN Free();
  // Wakes the waiter with ABORT and makes later waits return it (IA close).
  void Abort();
  // Whether it was: the IA that made it is closed, or being closed.
  bool aborted();

  // --- the producers' side; any thread, no engine lock held -----------------------------------
  // Appends an event; `fill` writes event_number and event_data. A full queue loses the event and
  // raises ASYNC_ERROR_EVD_OVERFLOW. With `after_completions`, completions that are already in the
  // completion queue come out first.
  void Push(const DAT_EVENT& event, bool after_completions = false);
  // The same, but a full queue is the caller's business: false and nothing happened (backlog rule,
  // QUEUE_FULL).
  bool TryPush(const DAT_EVENT& event);

  // --- for endpoints --------------------------------------------------------------------------
  bool Accepts(DAT_EVD_FLAGS stream) const { return (flags_ & stream) != 0; }
  transport::CompletionQueue* completion_queue() { return cq_.get(); }
  DAT_EVD_FLAGS flags() const { return flags_; }
  // A stream of completions with these EP completion flags begins or ends. Streams of one EVD may
  // differ: whether a completion notifies is its own matter, and the flags only say of which
  // streams some do not.
  void AttachStream(DAT_COMPLETION_FLAGS flags);
  void DetachStream(DAT_COMPLETION_FLAGS flags);
  // Receives of `ep` belong to an SRQ, which counts those that are not reaped; until RetireReceives
  // and, for what is queued by then, beyond.
  void CountReceives(DAT_EP_HANDLE ep, std::shared_ptr<ReceiveCount> count);
  void RetireReceives(DAT_EP_HANDLE ep);
  // An EP changes between this EVD and another one, which may both hold completions of its receives
  // then: what it has received is counted by two.
  void ShareReceived();

  // --- for CNOs -------------------------------------------------------------------------------
  // Asks for the next notification on behalf of the CNO.
  void RearmForCno(Announce announce);

  // dat_ia_query's view of an async EVD that other IA instances share.
  DAT_COUNT qlen() const { return static_cast<DAT_COUNT>(qlen_.load(std::memory_order_relaxed)); }

 private:
  class WaitScope;

  Evd(Ia* ia, DAT_COUNT qlen, DAT_EVD_FLAGS flags);
  ~Evd() override = default;
  void Teardown() override;
  // Pending events are discarded with the EVD; a connection request among them is one that the
  // consumer never heard of and cannot answer any more: refused as non-peer (semantics 3.1, 9.2 "CR
  // EVD gone").
  void DropUnseenRequests();
  // The receives among them go back to their SRQs.
  void DropUnseenCompletions();
  void EndWaits() override { Abort(); }

  // transport::CompletionSink
  void OnCompletion() override;
  void OnOverflow() override;

  // The one place where notification is armed and the queue looked at again: what came before the
  // queue was armed tells nobody. Returns false when the completion queue has something. mu_ is
  // held.
  bool ArmCompletions();
  // Arms for the CNO, after moving what is in the way into the ring; whether notifications were
  // among that. mu_ is held.
  bool ArmForCno();
  // Makes an event of a completion just taken, and counts it where that is due. mu_ is held.
  void Take(const transport::Completion& completion, DAT_EVENT* event);
  void CountReceived(const transport::Completion& completion);
  void CountFailure(const transport::Completion& completion);
  // Moves completions into the ring as far as there is room; how many of them are notifications.
  // mu_ is held.
  size_t DrainCompletions();
  // Appends to the ring; false when it is full. mu_ is held.
  bool Append(const DAT_EVENT& event);
  // The common case of a wait, straight into the caller's event: the ring is empty and one
  // completion is enough. What else is there goes to the ring, for `nmore`. mu_ is held.
  bool TakeAtOnce(DAT_EVENT* event, DAT_COUNT* nmore);
  // Takes the oldest event. mu_ is held.
  bool PopOne(DAT_EVENT* event);
  DAT_RETURN DequeueAny(DAT_EVENT* event, bool looked);
  DAT_RETURN DequeueOnce(DAT_EVENT* event);
  // A dequeue counts only how it ended; the rest follows.
  uint64_t Counted(size_t which) const;
  // What the streams of the EVD have in common. mu_ is held.
  bool solicited_only() const { return streams_ > 0 && solicited_streams_ == streams_; }
  bool some_are_quiet() const { return solicited_streams_ + unsignalled_streams_ > 0; }
  bool all_may_be_quiet() const {
    return streams_ > 0 && solicited_streams_ + unsignalled_streams_ == streams_;
  }
  void CountStream(DAT_COMPLETION_FLAGS flags, int n);
  // Why a wait cannot go on, DAT_SUCCESS when it can. mu_ is held.
  DAT_RETURN WaitRefusal(DAT_COUNT threshold);
  // An event is there: wakes the waiter, else triggers the CNO. No lock held.
  void Notify();
  void PostOverflow();

  const DAT_EVD_FLAGS flags_;
  std::unique_ptr<transport::CompletionQueue> cq_;  // set once in Create, cleared in Teardown
  std::atomic<uint32_t> qlen_;

  Mutex mu_;  // protects everything below; never held across Progress, a trigger or an upcall
  std::optional<EventRing> ring_;
  bool waitable_ = true;
  bool enabled_ = true;
  bool aborted_ = false;
  bool overflowed_ = false;  // reported, and nothing was dequeued since
  bool rearm_when_room_ =
      false;              // completions, of which the ring is full, kept the CNO from being armed
  bool arrived_ = false;  // a stream that attached moved notifications; not announced anew yet
  Use<Cno> cno_;
  ReceiveOwners receive_owners_;
  bool shares_received_ = false;
  int streams_ = 0;  // that are attached; of them:
  int unsignalled_streams_ = 0;
  int solicited_streams_ = 0;
  bool fed_ = false;  // a stream has attached once; before, there is nothing to arm a CNO for
  bool armed_for_solicited_ = false;  // when armed last

  // Counted alone under mu_, but for DTO_CALLBACK and DEQUEUE_NOT_FOUND, which any thread counts.
  Counters<kCounters> counters_;
  std::atomic<uint64_t> dequeued_from_ring_{0};  // written under mu_
  CounterReader<kCounters> reader_;

  // Whether a thread is inside Wait. Written under mu_; read without it by OnCompletion, which may
  // then signal needlessly or trigger the CNO once too often, never too rarely.
  std::atomic<bool> waiting_{false};
  transport::Waiter waiter_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EVD_H_
