// SPDX-License-Identifier: BSD-3-Clause
// The first failure of a connection that its queue pair shows: a completion with an error, or a
// post that the device took only in part. It is noted where it is found, which may be under any
// lock, and ends the connection later.
#ifndef SOFTDAT_PROVIDER_VERBS_PAIR_FAILURE_H_
#define SOFTDAT_PROVIDER_VERBS_PAIR_FAILURE_H_

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>

namespace softdat::verbs {

// Any thread, without a lock.
class PairFailure {
 public:
  // Says whether there is a connection that a failure would end.
  void Watch(bool watch) { watching_.store(watch, std::memory_order_relaxed); }

  // Notes a failed completion. Returns true for the first one that means the end of the connection.
  // The caller then ends it.
  bool NoteCompletion(ibv_wc_status status, bool iwarp);
  // A post has left the pair in a state from which it cannot go on.
  bool NotePost() { return NoteFirst(); }

  bool noted() const { return noted_.load(std::memory_order_relaxed); }
  // The noted failure, as text for the consumer.
  const char* what() const;
  // The hardware queue pair that failed; see life().
  uint32_t noted_life() const { return noted_life_.load(std::memory_order_relaxed); }
  // To be called before the next connection.
  void Clear();

  // Counts the hardware queue pairs that a queue pair has had, and so identifies the present one.
  uint32_t life() const { return life_.load(std::memory_order_acquire); }
  void NextLife() { life_.fetch_add(1, std::memory_order_release); }

 private:
  bool NoteFirst();

  std::atomic<bool> watching_{false};
  std::atomic<bool> noted_{false};
  std::atomic<int> status_{0};  // the first that is not a flush, otherwise 0
  std::atomic<uint32_t> noted_life_{0};
  std::atomic<uint32_t> life_{0};
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_PAIR_FAILURE_H_
