// SPDX-License-Identifier: BSD-3-Clause
// A peer's atomic operation. It uses the processor's own atomics, so that connections and local
// threads all agree.
#ifndef SOFTDAT_PROVIDER_SOFTNET_MEMORY_REMOTE_ATOMIC_H_
#define SOFTDAT_PROVIDER_SOFTNET_MEMORY_REMOTE_ATOMIC_H_

#include <cstdint>

#include "provider_softnet/memory/memory_table.h"

namespace softdat::softnet {

enum class AtomicResult : uint8_t {
  kDone,
  kRefused,     // *error says why
  kMisaligned,  // the word is not aligned to 8 bytes
};

// Replaces the word that `request` names by `next(word)`, which is called once or more. `original`
// is the word before that. `request.length` is 8.
template <typename Function>
AtomicResult ExecuteAtomic(MemoryTable& memory, const AccessRequest& request, Function&& next,
                           uint64_t* original, AccessError* error) {
  Pin pin;
  *error = memory.Acquire(request, &pin);
  if (*error != AccessError::kNone) return AtomicResult::kRefused;
  if (reinterpret_cast<uintptr_t>(pin.address()) % sizeof(uint64_t) != 0) {
    return AtomicResult::kMisaligned;
  }
  auto* const word = reinterpret_cast<uint64_t*>(pin.address());
  uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &seen, next(seen), /*weak=*/true, __ATOMIC_ACQ_REL,
                                      __ATOMIC_RELAXED)) {
  }
  *original = seen;
  return AtomicResult::kDone;
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_MEMORY_REMOTE_ATOMIC_H_
