// SPDX-License-Identifier: BSD-3-Clause
// The first failure of a connection that its queue pair shows: a completion with an error, or a
// post that the device took only a part of. It is noted where it is met, which may be under any
// lock, and ends the connection later.
#ifndef SOFTDAT_PROVIDER_VERBS_PAIR_FAILURE_H_
#define SOFTDAT_PROVIDER_VERBS_PAIR_FAILURE_H_

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>

namespace softdat::verbs {

// Any thread, no lock.
class PairFailure {
 public:
  // Whether there is a connection that a failure would end.
  void Watch(bool watch) { watching_.store(watch, std::memory_order_relaxed); }

  // A completion that failed. True the first time that it means the end of the connection: then the
  // caller sees to that.
  bool NoteCompletion(ibv_wc_status status, bool iwarp);
  // A post has left the pair in a state that it cannot go on from.
  bool NotePost() { return NoteFirst(); }

  bool noted() const { return noted_.load(std::memory_order_relaxed); }
  // What was noted, for the consumer's eyes.
  const char* what() const;
  // The hardware queue pair that it befell, see life().
  uint32_t noted_life() const { return noted_life_.load(std::memory_order_relaxed); }
  // Before the next connection.
  void Clear();

  // Which of a queue pair's hardware queue pairs, one after the other, there is now.
  uint32_t life() const { return life_.load(std::memory_order_acquire); }
  void NextLife() { life_.fetch_add(1, std::memory_order_release); }

 private:
  bool NoteFirst();

  std::atomic<bool> watching_{false};
  std::atomic<bool> noted_{false};
  std::atomic<int> status_{0};  // the first one that is not a flush, else 0
  std::atomic<uint32_t> noted_life_{0};
  std::atomic<uint32_t> life_{0};
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_PAIR_FAILURE_H_
