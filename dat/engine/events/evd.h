// SPDX-License-Identifier: BSD-3-Clause
// Event dispatcher: merges event streams into one bounded queue (semantics 5).
//
// It has two stages: a ring for everything that the engine itself produces, and, if the EVD takes
// DTO or bind completions, the back end's completion queue. Events in the ring are older, so the
// ring is emptied first. Some events must come after completions that are already made (the end of
// a connection). They first move those completions into the ring.
#ifndef SOFTDAT_DAT_ENGINE_EVENTS_EVD_H_
#define SOFTDAT_DAT_ENGINE_EVENTS_EVD_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "dat/base/fast_mutex.h"
#include "dat/engine/events/cno.h"
#include "dat/engine/events/event_ring.h"
#include "dat/engine/events/receive_tally.h"
#include "dat/engine/object/counters.h"
#include "dat/engine/object/object.h"
#include "dat/transport/transport.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine {

class Evd final : public Object, private transport::CompletionSink {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_EVD;

  // dat_evd_create. `cno` may be null. On success *out is published.
  static DAT_RETURN Create(IaCore* ia, DAT_COUNT min_qlen, Cno* cno, DAT_EVD_FLAGS flags,
                           Evd** out);

  // --- the consumer's side -------------------------------------------------------------------
  DAT_RETURN Wait(DAT_TIMEOUT timeout_us, DAT_COUNT threshold, DAT_EVENT* event, DAT_COUNT* nmore);
  static DAT_RETURN Dequeue(DAT_EVD_HANDLE handle, DAT_EVENT* event);  // evd_dequeue.h
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
  // The caller has pinned the EVD once.
  DAT_RETURN Free();
  // Wakes the waiter with ABORT, and makes later waits return it (IA close).
  void Abort();
  // Whether the EVD was aborted, because the IA that made it is closed or being closed.
  bool aborted();

  // --- the producers' side; any thread, no engine lock held -----------------------------------
  // Appends an event. A full queue loses the event and raises ASYNC_ERROR_EVD_OVERFLOW. With
  // `after_completions`, completions that are already in the completion queue come out first.
  void Push(const DAT_EVENT& event, bool after_completions = false);
  // The same, but a full queue is up to the caller: returns false, and nothing happened (backlog
  // rule, QUEUE_FULL).
  bool TryPush(const DAT_EVENT& event);

  // --- for endpoints --------------------------------------------------------------------------
  bool Accepts(DAT_EVD_FLAGS stream) const { return (flags_ & stream) != 0; }
  transport::CompletionQueue* completion_queue() { return cq_.get(); }
  DAT_EVD_FLAGS flags() const { return flags_; }
  // A stream of completions with these EP completion flags begins or ends. The streams of one EVD
  // may differ, because each completion decides by itself whether it notifies. The flags only say
  // which streams have some that do not.
  void AttachStream(DAT_COMPLETION_FLAGS flags);
  void DetachStream(DAT_COMPLETION_FLAGS flags);
  // Completions of the receives of `ep` come from now on, and `tally` counts them. This holds until
  // DetachReceives, and beyond that for what is queued by then.
  void AttachReceives(DAT_EP_HANDLE ep, const std::shared_ptr<ReceiveTally>& tally);
  void DetachReceives(DAT_EP_HANDLE ep);
  // To be called when an EP changes from this EVD to another one, before that one gets completions.
  // Both may then hold completions of its receives, so two EVDs count what it has received.
  void ShareReceives(ReceiveTally& tally);

  // --- for CNOs -------------------------------------------------------------------------------
  // Asks for the next notification on behalf of the CNO.
  void RearmForCno(Announce announce);

  // The length that dat_ia_query reports for an async EVD which other IA instances share.
  DAT_COUNT qlen() const { return static_cast<DAT_COUNT>(qlen_.load(std::memory_order_relaxed)); }

 private:
  class WaitScope;

  Evd(IaCore* ia, Cell* cell, DAT_COUNT qlen, DAT_EVD_FLAGS flags);
  ~Evd() override = default;
  void Teardown() override;
  // Pending events are discarded with the EVD. A connection request that one of them announces can
  // no longer be answered, because the consumer never heard of it. The request is told so
  // (semantics 3.1).
  void DropUnseenEvents();
  // The receives among the unseen completions return to their SRQs.
  void DropUnseenCompletions();
  void EndWaits() override { Abort(); }

  // transport::CompletionSink
  void OnCompletion() override;
  void OnOverflow() override;

  // The one place where notification is armed and the queue is looked at again, because nothing
  // reports what came before the queue was armed. Returns false when the completion queue has
  // something. The caller holds mu_.
  bool ArmCompletions();
  // Arms for the CNO, after moving what is in the way into the ring. Returns whether that included
  // notifications. The caller holds mu_.
  bool ArmForCno();
  // Makes an event of a completion that was just taken, and counts it if needed. The caller holds
  // mu_.
  void Take(const transport::Completion& completion, DAT_EVENT* event);
  void CountReceived(const transport::Completion& completion);
  void CountFailure(const transport::Completion& completion);
  // Moves completions into the ring as far as there is room. Returns how many of them are
  // notifications. The caller holds mu_.
  size_t DrainCompletions();
  // Appends to the ring. Returns false when it is full. The caller holds mu_.
  bool Append(const DAT_EVENT& event);
  // The common case of a wait, straight into the caller's event: the ring is empty, and one
  // completion is enough. Other completions that are there go to the ring, for `nmore`. The caller
  // holds mu_.
  bool TakeAtOnce(DAT_EVENT* event, DAT_COUNT* nmore);
  // Takes the oldest event. The caller holds mu_.
  bool PopOne(DAT_EVENT* event);
  bool DequeueQuickly(DAT_EVENT* event, bool* looked);
  DAT_RETURN DequeueAny(DAT_EVENT* event, bool looked);
  DAT_RETURN DequeueOnce(DAT_EVENT* event);
  // A dequeue only counts how it ended. The other counts follow from that.
  uint64_t Counted(size_t which) const;
  // What the streams of the EVD have in common. The caller holds mu_.
  bool solicited_only() const { return streams_ > 0 && solicited_streams_ == streams_; }
  bool some_are_quiet() const { return solicited_streams_ + unsignalled_streams_ > 0; }
  bool all_may_be_quiet() const {
    return streams_ > 0 && solicited_streams_ + unsignalled_streams_ == streams_;
  }
  void CountStream(DAT_COMPLETION_FLAGS flags, int n);
  // Why a wait cannot go on. DAT_SUCCESS when it can. The caller holds mu_.
  DAT_RETURN WaitRefusal(DAT_COUNT threshold);
  // An event is there: wakes the waiter, or else triggers the CNO. No lock is held.
  void Notify();
  void PostOverflow();

  const DAT_EVD_FLAGS flags_;
  std::unique_ptr<transport::CompletionQueue> cq_;  // set once in Create, cleared in Teardown
  std::atomic<uint32_t> qlen_;

  // The cell's. Protects everything below; never held across Progress, a trigger or an upcall.
  FastMutex& mu_;
  std::optional<EventRing> ring_;
  bool waitable_ = true;
  bool enabled_ = true;
  bool aborted_ = false;
  bool overflowed_ = false;       // reported, and nothing was dequeued since
  bool rearm_when_room_ = false;  // the CNO was not armed, for completions that found the ring full
  bool arrived_ = false;          // a stream that attached moved notifications, not announced yet
  Use<Cno> cno_;
  ReceiveTallies tallies_;
  int streams_ = 0;  // number of attached streams; of them:
  int unsignalled_streams_ = 0;
  int solicited_streams_ = 0;
  bool fed_ = false;  // a stream has attached before; until then no CNO need be armed
  bool armed_for_solicited_ = false;  // the choice at the last arming

  // All but two are counted with AddAlone under mu_. Any thread counts DTO_CALLBACK and
  // DEQUEUE_NOT_FOUND.
  Counters<kCounters> counters_;
  std::atomic<uint64_t> dequeued_from_ring_{0};  // written under mu_
  CounterReader<kCounters> reader_;

  // Whether a thread is inside Wait. Written under mu_. OnCompletion reads it without mu_, and may
  // then signal needlessly or trigger the CNO once too often, but never too rarely.
  std::atomic<bool> waiting_{false};
  transport::Waiter waiter_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EVENTS_EVD_H_
