// SPDX-License-Identifier: BSD-3-Clause
// What EPs receive, counted where the completions of their receives are taken.
//
// Each EP has a tally, and shares it with the EVDs that such completions can reach. An EVD finds
// the tally by the handle that a completion carries. It uses that handle as a key only, because the
// EP may be gone by then.
#ifndef SOFTDAT_DAT_ENGINE_EVENTS_RECEIVE_TALLY_H_
#define SOFTDAT_DAT_ENGINE_EVENTS_RECEIVE_TALLY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dat/engine/object/handle.h"
#include "dat2/udat.h"

namespace softdat::engine {

// How many receives of an SRQ are outstanding, that is posted, and their completion not reaped
// (semantics 11). The SRQ counts posts, and the EVDs count what is reaped. It lives as long as an
// EVD can hold completions of the SRQ. Any thread.
class ReceiveCount {
 public:
  void OnPost() { count_.fetch_add(1, std::memory_order_relaxed); }
  void OnReaped() { count_.fetch_sub(1, std::memory_order_relaxed); }
  int64_t value() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> count_{0};
};

// Of one EP.
class ReceiveTally {
 public:
  // `srq`: the count of the SRQ that the EP takes its receives from. Null when it has none.
  explicit ReceiveTally(std::shared_ptr<ReceiveCount> srq) : srq_(std::move(srq)) {}

  // Data path: a receive was successful. The lock of the EVD is held.
  [[gnu::always_inline]] void Count(bool immediate, uint64_t bytes) {
    if (immediate) [[unlikely]] {
      Add(immediates, 1);
      Add(immediate_bytes, bytes);
    } else {
      Add(messages, 1);
      Add(message_bytes, bytes);
    }
  }
  // More than one EVD counts from now on. To be called under the lock of the one that counted
  // alone, and before another one gets completions.
  void Share() { shared_.store(true, std::memory_order_relaxed); }
  // The EP is going away, so nobody reads the numbers any more.
  void Abandon() { abandoned_.store(true, std::memory_order_relaxed); }
  // Whether an EVD that gets no more completions of the EP must still count those that it has.
  bool needed() const { return srq_ != nullptr || !abandoned_.load(std::memory_order_relaxed); }
  ReceiveCount* srq() const { return srq_.get(); }

  // Written by the EVDs; any thread reads them.
  std::atomic<uint64_t> messages{0};
  std::atomic<uint64_t> message_bytes{0};
  std::atomic<uint64_t> immediates{0};
  std::atomic<uint64_t> immediate_bytes{0};

 private:
  void Add(std::atomic<uint64_t>& number, uint64_t n) {
    if (shared_.load(std::memory_order_relaxed)) [[unlikely]] {
      number.fetch_add(n, std::memory_order_relaxed);
    } else {
      number.store(number.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
  }

  std::atomic<bool> shared_{false};     // set once, see Share
  std::atomic<bool> abandoned_{false};  // set once, by the EP; any EVD reads it
  const std::shared_ptr<ReceiveCount> srq_;
};

// The tallies that one EVD counts in, whose lock guards this. An entry can outlive its EP, because
// completions do.
class ReceiveTallies {
 public:
  // A stream of receives of `ep` begins or ends at this EVD. Where two streams of one EP overlap,
  // the last end counts. Completions that the EVD has by then still belong to the EP.
  void Attach(DAT_EP_HANDLE ep, const std::shared_ptr<ReceiveTally>& tally);
  void Detach(DAT_EP_HANDLE ep);
  // Whether there are tallies of which all streams have ended.
  bool some_ended() const { return some_ended_; }
  // Forgets those of them that nobody needs. With `empty`, because the EVD holds no completions
  // now, that is each of them.
  void ForgetEnded(bool empty);

  // Data path. Null when the completions of `ep` are nobody's.
  [[gnu::always_inline]] ReceiveTally* Find(const void* ep) {
    const Slot& slot = SlotOf(ep);
    if (slot.ep == ep) [[likely]]
      return slot.tally;
    return FindAnywhere(ep);
  }
  // Whether receives of an SRQ may be among the completions.
  bool any_srq() const { return srqs_ > 0; }
  // To be called for each event that leaves the EVD, if any_srq().
  void OnReaped(const DAT_EVENT& event);

 private:
  struct Entry {
    std::shared_ptr<ReceiveTally> tally;
    int streams = 0;
  };
  using Entries = std::unordered_map<const void*, Entry>;
  struct Slot {
    const void* ep = nullptr;
    ReceiveTally* tally = nullptr;
  };

  Slot& SlotOf(const void* ep) {
    return slots_[(reinterpret_cast<uintptr_t>(ep) / sizeof(Cell)) & slot_mask_];
  }
  ReceiveTally* FindAnywhere(const void* ep);
  Entries::iterator Erase(Entries::iterator entry);
  // Makes enough slots for one more entry.
  void GrowSlots();

  Entries entries_;
  // Copies of entries, each at the place that its handle gives it, so that few look-ups need the
  // map. Handles follow one another as objects are made, EPs and others. So EPs rarely meet in a
  // slot if there are some more slots than EPs.
  static constexpr size_t kSlotsPerEp = 4;
  std::vector<Slot> slots_ = std::vector<Slot>(1);
  size_t slot_mask_ = 0;  // the number of slots, a power of two, less one
  int srqs_ = 0;          // entries with an SRQ
  bool some_ended_ = false;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EVENTS_RECEIVE_TALLY_H_
