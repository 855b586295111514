// SPDX-License-Identifier: BSD-3-Clause
// Inside of the memory table: one key's record.
#ifndef SOFTDAT_PROVIDER_SOFTNET_MEMORY_MEMORY_SLOT_H_
#define SOFTDAT_PROVIDER_SOFTNET_MEMORY_MEMORY_SLOT_H_

#include "provider_softnet/memory/memory_table.h"

namespace softdat::softnet {

// One key's record. The fields below `state` change only while `state` names no live key and has no
// pins, under the table's mutex; readers load them between two looks at `state`, as in a seqlock.
// They are atomics because a reader without a pin may look while they change (and then drops what
// it saw).
struct alignas(64) MemoryTable::Slot {
  // High half: the live key, 0 while there is none. Low half: number of pins.
  std::atomic<uint64_t> state{0};
  std::atomic<uint64_t> start{0};  // first valid offset
  std::atomic<uint64_t> length{0};
  std::atomic<uint64_t> delta{0};  // address of an offset, minus the offset
  std::atomic<uint32_t> rights{0};
  std::atomic<uint32_t> pd{0};
  std::atomic<uint32_t> qp{0};      // window of scope EP: the queue pair it was bound over; else 0
  std::atomic<uint32_t> region{0};  // window: key of its region; region: 0
  // Guarded by the table's mutex.
  uint32_t window_pd = 0;
  enum class Kind : uint8_t { kFree, kRegion, kWindow } kind = Kind::kFree;
  uint8_t key = 0;         // last key bits given out
  bool exclusive = false;  // window of scope EP
};

// A consistent copy of a slot's fields.
struct MemoryTable::View {
  uint64_t start = 0, length = 0, delta = 0;
  uint32_t rights = 0, pd = 0, qp = 0, region = 0;
};

inline constexpr uint64_t kPinMask = 0xffffffffu;

// The live key in a slot's state word.
inline uint32_t LiveKey(uint64_t state) { return static_cast<uint32_t>(state >> 32); }

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_MEMORY_MEMORY_SLOT_H_
