// SPDX-License-Identifier: BSD-3-Clause
// The streams on which a polling thread tries recv() before it looks at all sockets, and how often
// it looks at all sockets. That is once in 64 polls while the data come from hot streams, and at
// every poll while they do not.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_HOT_SET_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_HOT_SET_H_

#include <atomic>
#include <cstdint>

#include "provider_softnet/driver/channel.h"

namespace softdat::softnet {

class HotSet {
 public:
  HotSet() = default;
  ~HotSet() { Clear(); }
  HotSet(const HotSet&) = delete;
  HotSet& operator=(const HotSet&) = delete;

  // Any thread: calls recv() once on each hot stream. Returns true when something moved.
  bool Poll();
  // Any thread: a look at all sockets found data on `channel`.
  void OnFoundByTurn(Channel* channel);
  // Any thread: the channel is closed. A thread that has begun to poll it may still do so.
  void Drop(Channel* channel);

  void Clear();

  // The number of polls from one look at all sockets to the next.
  uint32_t interval() const { return interval_.load(std::memory_order_relaxed); }

 private:
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
  };

  void Put(Slot* slot, Channel* channel);
  bool OtherIsActive(const Slot& slot) const;

  Slot slots_[kSlots];
  std::atomic<uint32_t> interval_{kMaxInterval};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_HOT_SET_H_
