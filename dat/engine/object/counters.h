// SPDX-License-Identifier: BSD-3-Clause
// Counters of the InfiniBand extension: numbers that only grow, and the values at which a reset put
// their zero.
//
// The values are relaxed atomics, because each stands alone and orders nothing else. A reset does
// not write them, but remembers what they were. So it loses no count that is made meanwhile, and
// those who count need not know of it.
#ifndef SOFTDAT_DAT_ENGINE_OBJECT_COUNTERS_H_
#define SOFTDAT_DAT_ENGINE_OBJECT_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace softdat::engine {

// N counters. All additions to one counter are made with Add, or all with AddAlone.
template <size_t N>
class Counters {
 public:
  // Any thread.
  void Add(size_t which, uint64_t n = 1) { values_[which].fetch_add(n, std::memory_order_relaxed); }
  // One thread at a time, which the caller ensures. It needs no locked instruction.
  void AddAlone(size_t which, uint64_t n = 1) {
    std::atomic<uint64_t>& value = values_[which];
    value.store(value.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  uint64_t value(size_t which) const { return values_[which].load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<uint64_t>, N> values_{};
};

// N counters for calls that usually come from one thread, although any thread may make them. The
// first thread that counts owns one set and needs no locked instruction. All others share a second
// set.
template <size_t N>
class BiasedCounters {
 public:
  void Add(size_t which, uint64_t n = 1) {
    if (OwnedByThisThread()) [[likely]] {
      own_.AddAlone(which, n);
    } else {
      shared_.Add(which, n);
    }
  }
  // Adds one to counter `which`, and `n` to the next one.
  void AddBoth(size_t which, uint64_t n) {
    if (OwnedByThisThread()) [[likely]] {
      own_.AddAlone(which, 1);
      own_.AddAlone(which + 1, n);
    } else {
      shared_.Add(which, 1);
      shared_.Add(which + 1, n);
    }
  }
  uint64_t value(size_t which) const { return own_.value(which) + shared_.value(which); }

 private:
  bool OwnedByThisThread() {
    // This is unique among the living threads. A thread that inherits it from one that has ended
    // goes on with that thread's set. The C library has ordered the end of the one before the start
    // of the other.
    void* const self = __builtin_thread_pointer();
    return owner_.load(std::memory_order_relaxed) == self || BecomeOwner(self);
  }
  [[gnu::noinline]] bool BecomeOwner(void* self) {
    // A load comes first. A locked instruction for each count of another thread would cost the
    // owner its cache line.
    if (owner_.load(std::memory_order_relaxed) != nullptr) return false;
    void* nobody = nullptr;
    return owner_.compare_exchange_strong(nobody, self, std::memory_order_relaxed);
  }

  std::atomic<void*> owner_{nullptr};  // changes once
  Counters<N> own_;                    // written by the owner only
  Counters<N> shared_;
};

// N counters as consumers see them.
template <size_t N>
class CounterReader {
 public:
  // Reads counter `which`, or all N if it is N, to `out`. With `reset` it counts from 0 afterwards.
  // `value(i)` is the value that counter i has reached since it exists.
  template <typename Value>
  void Read(size_t which, bool reset, uint64_t* out, const Value& value) {
    const std::lock_guard lock(mu_);
    const size_t first = which == N ? 0 : which;
    const size_t count = which == N ? N : 1;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t now = value(first + i);
      out[i] = now - zero_[first + i];
      if (reset) zero_[first + i] = now;
    }
  }

 private:
  std::mutex mu_;  // protects zero_; readers only, a leaf lock
  std::array<uint64_t, N> zero_{};
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_OBJECT_COUNTERS_H_
