// SPDX-License-Identifier: BSD-3-Clause
// The handle arena and the pin protocol.
#include "dat/engine/handle.h"

#include <sys/mman.h>

#include <mutex>

namespace softdat::engine {

constinit std::atomic<uintptr_t> g_handle_arena{kNoHandleArena};

namespace {

// A range of kHandleArenaBytes that begins at a multiple of it. Address space, not memory: pages
// cost nothing until a cell in them is used.
char* ReserveArena() {
  constexpr size_t kTwice = 2 * kHandleArenaBytes;
  void* const p = mmap(nullptr, kTwice, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(p);
  const size_t before = -reinterpret_cast<uintptr_t>(p) % kHandleArenaBytes;
  if (before > 0) munmap(first, before);
  munmap(first + before + kHandleArenaBytes, kTwice - before - kHandleArenaBytes);
  return first + before;
}

struct Arena {
  Arena() : base(reinterpret_cast<Cell*>(ReserveArena())) {
    if (base == nullptr) return;
    size = kHandleArenaBytes;
    g_handle_arena.store(reinterpret_cast<uintptr_t>(base), std::memory_order_release);
  }

  // With mu held.
  Cell* PopOldest() {
    Cell* cell = oldest;
    oldest = cell->next_free;
    if (oldest == nullptr) newest = nullptr;
    --free_count;
    return cell;
  }
  void PushNewest(Cell* cell) {
    cell->next_free = nullptr;
    (newest != nullptr ? newest->next_free : oldest) = cell;
    newest = cell;
    ++free_count;
  }

  Cell* const base;
  size_t size = 0;
  std::mutex mu;           // protects everything below
  size_t used = 0;         // cells that were ever handed out
  Cell* oldest = nullptr;  // free cells, first freed first
  Cell* newest = nullptr;
  size_t free_count = 0;
};

// Never destroyed: handles may be looked up while the process exits.
Arena& TheArena() {
  static Arena* arena = new Arena;
  return *arena;
}

}  // namespace

ArenaRange HandleArena() { return {TheArena().base, TheArena().size}; }

Cell* AllocateCell() {
  Arena& arena = TheArena();
  std::lock_guard<std::mutex> lock(arena.mu);
  const bool fresh_left = arena.used < arena.size / sizeof(Cell);
  if (arena.free_count > kQuarantine || (!fresh_left && arena.free_count > 0)) {
    Cell* cell = arena.PopOldest();
    // A call that freed its object from within a consumer's agent may still be under way.
    if ((cell->state.load(std::memory_order_acquire) & kPinMask) == 0) return cell;
    arena.PushNewest(cell);
  }
  return fresh_left ? &arena.base[arena.used++] : nullptr;
}

void ReleaseCell(Cell* cell) {
  Arena& arena = TheArena();
  std::lock_guard<std::mutex> lock(arena.mu);
  arena.PushNewest(cell);
}

void ClearReceived(Cell* cell) {
  Received& received = cell->received;
  for (std::atomic<uint64_t>* number : {&received.messages, &received.message_bytes,
                                        &received.immediates, &received.immediate_bytes}) {
    number->store(0, std::memory_order_relaxed);
  }
}

void LockHandleArena() { TheArena().mu.lock(); }
void UnlockHandleArena() { TheArena().mu.unlock(); }

Object* PinAnyHandle(const void* handle, DAT_HANDLE_TYPE* type) {
  Cell* cell = CellOf(handle);
  if (cell == nullptr) return nullptr;
  uint64_t state = cell->state.load(std::memory_order_acquire);
  do {
    if ((state & kLiveBit) == 0) return nullptr;
  } while (!cell->state.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel,
                                              std::memory_order_acquire));
  *type = static_cast<DAT_HANDLE_TYPE>((state >> kTypeShift) & 0xff);
  return cell->object;
}

bool PinLiveCell(Cell* cell) {
  uint64_t state = cell->state.load(std::memory_order_acquire);
  do {
    if ((state & kLiveBit) == 0) return false;
  } while (!cell->state.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel,
                                              std::memory_order_acquire));
  return true;
}

bool DoomCell(Cell* cell, uint32_t own_pins) {
  uint64_t state = cell->state.load(std::memory_order_acquire);
  do {
    if ((state & kPinMask) <= own_pins) return false;
  } while (!cell->state.compare_exchange_weak(state, state | kDoomedBit, std::memory_order_acq_rel,
                                              std::memory_order_acquire));
  return true;
}

}  // namespace softdat::engine
