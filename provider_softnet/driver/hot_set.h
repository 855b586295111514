// SPDX-License-Identifier: BSD-3-Clause
// The streams on which a polling thread tries recv() before it looks at all sockets, and how often
// it looks at all sockets. That is rarely while the data come from hot streams (LookInterval), and
// at every poll while they do not.
//
// Each completion queue has a set of its own, with the streams that feed it. So threads that poll
// different queues share nothing. A stream whose own queues nobody polls is adopted: whoever finds
// data on it while polling another queue tries it from then on, since the program may wait there
// for what this stream brings about. The driver has one more set, for threads that poll no queue.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_HOT_SET_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_HOT_SET_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "provider_softnet/driver/channel.h"

namespace softdat::softnet {

// Counted references, because the object that it belongs to may go while a thread polls it.
class HotSet {
 public:
  enum class Kind : uint8_t { kOwn, kAdopted };
  // Whether its streams are told, and so may keep memory between messages. There are as many sets
  // as queues, and only those of one may have so much.
  enum class Tells : uint8_t { kNo, kYes };

  explicit HotSet(Tells tells) : tells_(tells) {}
  HotSet(const HotSet&) = delete;
  HotSet& operator=(const HotSet&) = delete;

  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Any thread: looks once at each hot stream. kRested: all of them rest, so that nobody has
  // looked.
  enum class Polled : uint8_t { kNothing, kMoved, kRested };
  Polled Poll();
  // Any thread, for an adopted one with the token: a look at all sockets found data on `channel`.
  void OnFoundByTurn(Channel* channel, Kind kind = Kind::kOwn);
  // Any thread: the channel is closed. A thread that has begun to poll it may still do so.
  void Drop(Channel* channel);
  // With the token: lets go of adopted streams whose own queues are polled by now.
  void DropServed();

  void Clear();
  // Any thread: clears it, and takes no stream any more.
  void Close();

  bool empty() const;
  // Whether none of its streams had anything in the last so many polls.
  bool SilentFor(uint32_t polls) const;

  // The number of polls from one look at all sockets to the next, or kMaxInterval for the longest.
  uint32_t interval() const { return interval_.load(std::memory_order_relaxed); }
  // Counts a poll. Returns true when a look at all sockets is due, which is after `longest` polls
  // if all data come from hot streams. Several threads may poll one set, and one thread several
  // sets in turn. A lost increment does no harm.
  bool CountPoll(uint32_t longest) {
    const uint32_t polls = polls_.load(std::memory_order_relaxed) + 1;
    polls_.store(polls, std::memory_order_relaxed);
    const uint32_t due = interval() == kMaxInterval ? longest : interval();
    return polls - looked_at_.load(std::memory_order_relaxed) >= due;
  }
  void CountLook() {
    looked_at_.store(polls_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  // The number of polls so far. It may wrap.
  uint32_t polls() const { return polls_.load(std::memory_order_relaxed); }

  // A wait for it begins: whether it should yield before its first try. When a wait found nothing
  // at first, the answer takes a while in the next waits, too. So the peer gets the processor
  // before the system call that would find nothing. Now and then a wait tries first again, because
  // what it finds after a yield says nothing about that.
  bool YieldFirst() {
    constexpr uint32_t kTriedAnew = 16;
    const uint32_t waits = waits_.load(std::memory_order_relaxed) + 1;
    waits_.store(waits, std::memory_order_relaxed);
    return first_try_missed_.load(std::memory_order_relaxed) && waits % kTriedAnew != 0;
  }
  // A wait that did not yield first has tried.
  void NoteFirstTry(bool missed) { first_try_missed_.store(missed, std::memory_order_relaxed); }

 private:
  friend class AdopterList;

  static constexpr int kSlots = 2;
  static constexpr uint32_t kMaxInterval = 64;
  // With so many active streams, a look at all sockets finds data sooner than a try of two of them.
  static constexpr uint32_t kPointlessBelow = 4;
  static constexpr uint32_t kReplaceable = 16;
  // A stream that delivered nothing in this many polls costs the active one a wasted recv() each
  // time.
  static constexpr uint32_t kSilent = 1024;

  // One hot stream. `busy` guards `channel` for the few instructions that it takes to get a
  // reference.
  struct Slot {
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
    Channel* channel = nullptr;                 // a counted reference
    std::atomic<const Channel*> hint{nullptr};  // the same, for comparing only
    std::atomic<uint32_t> misses{0};            // since its last data
    std::atomic<bool> adopted{false};
    std::atomic<uint32_t> own_polls{0};  // of the channel, when an adopted one was last looked at
  };

  ~HotSet() { Clear(); }
  void Put(Slot* slot, Channel* channel, Kind kind);
  RefPtr<Channel> Get(Slot* slot);
  bool OtherIsActive(const Slot& slot) const;

  const Tells tells_;
  std::atomic<uint32_t> references_{1};
  Slot slots_[kSlots];
  std::atomic<uint32_t> interval_{kMaxInterval};
  std::atomic<uint32_t> polls_{0};
  std::atomic<uint32_t> looked_at_{0};  // polls_ at the last look at all sockets
  std::atomic<bool> closed_{false};     // set before the slots are cleared
  // See YieldFirst(). A lost update does no harm.
  std::atomic<uint32_t> waits_{0};
  std::atomic<bool> first_try_missed_{false};
  // Guarded by the token:
  HotSet* next_adopter_ = nullptr;
  bool adopts_ = false;
};

// The sets that have adopted streams. Needs the token.
class AdopterList {
 public:
  AdopterList() = default;
  ~AdopterList() { Clear(); }
  AdopterList(const AdopterList&) = delete;
  AdopterList& operator=(const AdopterList&) = delete;

  // Allocates nothing. Forgets sets that have been closed.
  void Add(HotSet* set);
  // The channel is closed.
  void Drop(Channel* channel);
  void Clear();

  size_t size() const;

 private:
  void ForgetClosed();

  HotSet* first_ = nullptr;  // each with a counted reference
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_HOT_SET_H_
