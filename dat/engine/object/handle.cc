// SPDX-License-Identifier: BSD-3-Clause
// The handle arena and the pin protocol.
#include "dat/engine/object/handle.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <mutex>

namespace softdat::engine {

constinit HandleArenaPlace g_handle_arena;

namespace {

// A range of `size` bytes that begins at a multiple of `size`, or nullptr when there is none. It is
// address space, not memory: a page costs nothing until a cell in it is used.
char* Reserve(size_t size) {
  const size_t twice = 2 * size;
  void* const p = mmap(nullptr, twice, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(p);
  const size_t before = -reinterpret_cast<uintptr_t>(p) % size;
  if (before > 0) munmap(first, before);
  munmap(first + before + size, twice - before - size);
  return first + before;
}

// A limited address space (ulimit -v) belongs to the program, so at most a 64th of it is used here.
size_t WantedBytes() {
  rlimit limit{};
  size_t wanted = kMostArenaBytes;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  while (wanted > kLeastArenaBytes && wanted > limit.rlim_cur / 64) wanted /= 2;
  return wanted;
}

struct Arena {
  Arena() : size(WantedBytes()), base(reinterpret_cast<Cell*>(ReserveSome(&size))) {
    if (base == nullptr) return;
    g_handle_arena.outside.store(~(size - sizeof(Cell)), std::memory_order_relaxed);
    g_handle_arena.base.store(reinterpret_cast<uintptr_t>(base), std::memory_order_release);
  }

  // *wanted becomes the size that was reserved, or 0 for nothing.
  static char* ReserveSome(size_t* wanted) {
    for (; *wanted >= kLeastArenaBytes; *wanted /= 2) {
      if (char* const p = Reserve(*wanted)) return p;
    }
    *wanted = 0;
    return nullptr;
  }

  // The caller holds mu.
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

  size_t size;
  Cell* const base;
  std::mutex mu;           // protects everything below
  size_t used = 0;         // cells that were ever handed out
  Cell* oldest = nullptr;  // free cells, first freed first
  Cell* newest = nullptr;
  size_t free_count = 0;
};

// Never destroyed, because handles may be looked up while the process exits.
Arena& TheArena() {
  static Arena* arena = new Arena;
  return *arena;
}

}  // namespace

ArenaRange HandleArena() { return {TheArena().base, TheArena().size}; }

const char* NoHandleReason() {
  if (TheArena().base != nullptr) return "no free handle: too many objects exist";
  return "no 2 MiB of addresses are free for the table of handles; raise the limit of the address "
         "space (ulimit -v) before the program starts";
}

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
