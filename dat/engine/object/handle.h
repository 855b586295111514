// SPDX-License-Identifier: BSD-3-Clause
// Handles: what a consumer has of an object, and how a call finds the object again.
//
// A handle is the address of a Cell in one arena per library. The first word of a cell is the
// DAT_PROVIDER pointer, as every registry library expects. The rest says whether the object lives,
// and who uses it now. Cells are never unmapped, and are reused only after many others. So a stale
// handle is recognised instead of followed (INVALID_HANDLE, semantics 3.2).
#ifndef SOFTDAT_DAT_ENGINE_OBJECT_HANDLE_H_
#define SOFTDAT_DAT_ENGINE_OBJECT_HANDLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "dat/base/fast_mutex.h"
#include "dat2/udat.h"

namespace softdat::engine {

class Object;

// In a cache line of its own, because threads that use different objects pin them at once.
struct alignas(64) Cell {
  const DAT_PROVIDER* provider;  // must stay first: registries dispatch through it
  // Bits 0..31 are pins (calls and upcalls that use the object now), 32..39 the handle type, 40
  // live, 63 doomed (freed, and torn down by whoever drops the last pin). Pins are added only by
  // CAS.
  std::atomic<uint64_t> state;
  Object* object;
  Cell* next_free;  // protected by the arena's mutex
  // The object's, if it wants one that stays when it goes. A short call that takes it and then sees
  // the object live needs no pin: nothing is torn down before the mutex is free again.
  FastMutex mutex;
};
static_assert(sizeof(Cell) == 64);

inline constexpr uint64_t kPinMask = 0xffffffffu;
inline constexpr int kTypeShift = 32;
inline constexpr uint64_t kLiveBit = uint64_t{1} << 40;
inline constexpr uint64_t kDoomedBit = uint64_t{1} << 63;

// The arena of this library: a reserved range whose untouched pages read as zero.
struct ArenaRange {
  const void* base;
  size_t size;
};
ArenaRange HandleArena();

// For look-ups. Written once, the mask first, before the first cell is handed out.
struct alignas(16) HandleArenaPlace {
  // The start of the arena, which is a multiple of its size, a power of two. Until it is known,
  // this is a value that no handle has without its inner bits, so that no handle is valid.
  std::atomic<uintptr_t> base{sizeof(Cell)};
  std::atomic<uintptr_t> outside{~uintptr_t{sizeof(Cell)}};  // the bits that its cells share
};
extern constinit HandleArenaPlace g_handle_arena;

// The arena has the first size that can be reserved: a power of two, at most this, and less in a
// process whose address space is limited.
inline constexpr size_t kMostArenaBytes = size_t{1} << 29;
inline constexpr size_t kLeastArenaBytes = size_t{1} << 20;

// Why there is no cell.
const char* NoHandleReason();

// A dead cell, or null when the arena is exhausted.
Cell* AllocateCell();
// Gives a dead cell back. It waits in a queue behind kQuarantine others before it is reused, and is
// not reused while it has pins left.
void ReleaseCell(Cell* cell);

inline constexpr size_t kQuarantine = 16384;

// The cell that `handle` points to, if it lies in the arena and is aligned; else null. The cell may
// be dead.
inline Cell* CellOf(const void* handle) {
  const uintptr_t base = g_handle_arena.base.load(std::memory_order_acquire);
  const uintptr_t outside = g_handle_arena.outside.load(std::memory_order_relaxed);
  if ((reinterpret_cast<uintptr_t>(handle) & outside) != base) return nullptr;
  if (handle == nullptr) __builtin_unreachable();  // there is no arena at 0: said to the compiler
  return static_cast<Cell*>(const_cast<void*>(handle));
}

// Whether the object in `cell` lives and is of `type`. The pins are left out, and the comparison
// uses the 32 bits that fit into an instruction.
inline bool IsLive(uint64_t state, DAT_HANDLE_TYPE type) {
  return static_cast<uint32_t>(state >> kTypeShift) ==
         (static_cast<uint32_t>(kLiveBit >> kTypeShift) | static_cast<uint32_t>(type));
}
inline bool IsLive(const Cell& cell, DAT_HANDLE_TYPE type) {
  return IsLive(cell.state.load(std::memory_order_acquire), type);
}

// Pins the object of `handle` if it lives and is of `type`. Returns its cell, else null.
// UnpinCell() ends the use.
inline Cell* PinHandle(const void* handle, DAT_HANDLE_TYPE type) {
  Cell* const cell = CellOf(handle);
  if (cell == nullptr) return nullptr;
  uint64_t state = cell->state.load(std::memory_order_acquire);
  do {
    if (!IsLive(state, type)) return nullptr;
  } while (!cell->state.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel,
                                              std::memory_order_acquire));
  return cell;
}
// The same for any type. Returns the object.
Object* PinAnyHandle(const void* handle, DAT_HANDLE_TYPE* type);
// Returns true when the caller dropped the last pin of a doomed object, and has to tear it down.
[[nodiscard]] inline bool UnpinCell(Cell* cell) {
  const uint64_t before = cell->state.fetch_sub(1, std::memory_order_acq_rel);
  return (before & kDoomedBit) != 0 && (before & kPinMask) == 1;
}
// Adds a pin of the object in `cell`, for a caller that knows that its memory exists. Returns false
// when the object is dead.
bool PinLiveCell(Cell* cell);
// Leaves the end of the object to whoever drops its last pin. Returns false, and does nothing, when
// nobody has a pin except the `own_pins` of the caller.
bool DoomCell(Cell* cell, uint32_t own_pins);

// For use around fork(), so that no other thread is inside the arena.
void LockHandleArena();
void UnlockHandleArena();

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_OBJECT_HANDLE_H_
