// SPDX-License-Identifier: BSD-3-Clause
// Writers of the handle tables, and the slow path for foreign handles.
#include "dat/registry/handle_tables.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace softdat::registry {

constinit HandleTables g_handle_tables;

namespace {

constexpr size_t kSignalSetBytes = 8;  // sigset_t of the kernel, not of libc

// Works even where process_vm_readv is forbidden (seccomp). The kernel reads the set before it
// looks at the impossible first argument. So the answer is EFAULT or EINVAL, and nothing changes.
bool IsReadable(uintptr_t address) {
  const long result = syscall(SYS_rt_sigprocmask, ~0L, address, nullptr, kSignalSetBytes);
  return result == 0 || errno != EFAULT;
}

}  // namespace

bool ReadWordSafely(uintptr_t address, uintptr_t* word) {
  const int saved_errno = errno;
  iovec local{word, sizeof *word};
  iovec remote{reinterpret_cast<void*>(address), sizeof *word};
  bool done = false;
  if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(sizeof *word)) {
    done = true;
  } else if (errno != EFAULT && IsReadable(address)) {
    *word = __atomic_load_n(reinterpret_cast<const uintptr_t*>(address), __ATOMIC_ACQUIRE);
    done = true;
  }
  errno = saved_errno;
  return done;
}

bool HandleTables::AddTable(const DAT_PROVIDER* table, bool has_extensions) {
  const auto address = reinterpret_cast<uintptr_t>(table);
  if (FindTable(address)) return true;
  if (table_count_ == kMaxTables) return false;
  ++table_count_;
  for (size_t i = HashOfTable(address) % kTableSlots;; i = (i + 1) % kTableSlots) {
    const uintptr_t slot = tables_[i].load(std::memory_order_relaxed);
    if (slot != kEmpty && slot != kRemoved) continue;
    has_extensions_[i].store(has_extensions, std::memory_order_relaxed);
    tables_[i].store(address, std::memory_order_release);
    return true;
  }
}

void HandleTables::RemoveTable(const DAT_PROVIDER* table) {
  const auto address = reinterpret_cast<uintptr_t>(table);
  size_t i = HashOfTable(address) % kTableSlots;
  for (;; i = (i + 1) % kTableSlots) {
    const uintptr_t slot = tables_[i].load(std::memory_order_relaxed);
    if (slot == kEmpty) return;
    if (slot == address) break;
  }
  --table_count_;
  tables_[i].store(kRemoved, std::memory_order_release);
  turns_.fetch_add(1, std::memory_order_acq_rel);  // see FindAndRemember
  for (Remembered& slot : remembered_) {
    if (slot.table.load(std::memory_order_relaxed) == address) ForgetRemembered(slot);
  }
  // Removed slots at the end of a chain can become empty slots, so that they never pile up.
  if (tables_[(i + 1) % kTableSlots].load(std::memory_order_relaxed) != kEmpty) return;
  while (tables_[i].load(std::memory_order_relaxed) == kRemoved) {
    tables_[i].store(kEmpty, std::memory_order_release);
    i = (i + kTableSlots - 1) % kTableSlots;
  }
}

void HandleTables::BeginArenaChange() { arena_sequence_.fetch_add(1, std::memory_order_acq_rel); }

void HandleTables::EndArenaChange() { arena_sequence_.fetch_add(1, std::memory_order_acq_rel); }

bool HandleTables::AddArena(const void* base, size_t size) {
  const auto address = reinterpret_cast<uintptr_t>(base);
  // The first word of the last object must lie inside.
  const size_t usable = size < sizeof(void*) ? 0 : size - sizeof(void*) + 1;
  const uint32_t count = arena_count_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    if (arenas_[i].base.load(std::memory_order_relaxed) != address) continue;
    arenas_[i].size.store(usable, std::memory_order_release);
    return true;
  }
  if (count == kMaxArenas) return false;
  BeginArenaChange();
  arenas_[count].base.store(address, std::memory_order_release);
  arenas_[count].size.store(usable, std::memory_order_release);
  arena_count_.store(count + 1, std::memory_order_release);
  EndArenaChange();
  return true;
}

void HandleTables::RemoveArena(const void* base) {
  const auto address = reinterpret_cast<uintptr_t>(base);
  const uint32_t count = arena_count_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    if (arenas_[i].base.load(std::memory_order_relaxed) != address) continue;
    BeginArenaChange();
    Arena& last = arenas_[count - 1];
    arenas_[i].base.store(last.base.load(std::memory_order_relaxed), std::memory_order_release);
    arenas_[i].size.store(last.size.load(std::memory_order_relaxed), std::memory_order_release);
    last.size.store(0, std::memory_order_release);
    arena_count_.store(count - 1, std::memory_order_release);
    EndArenaChange();
    return;
  }
}

// Nothing needs to be forgotten of our own objects: the arena stays readable, and the provider
// recognises its dead handles.
void HandleTables::Forget(DAT_HANDLE handle) {
  if (foreign_providers_.load(std::memory_order_relaxed) == 0) return;
  auto value = reinterpret_cast<uintptr_t>(handle);
  Remembered& slot = RememberedAt(value);
  if (slot.handle.load(std::memory_order_relaxed) == value) ForgetRemembered(slot);
  proven_[Hash(value) % kProvenSlots].compare_exchange_strong(value, 0);
}

void HandleTables::ForgetRemembered(Remembered& slot) {
  slot.handle.store(&slot == remembered_ ? kNoHandle : 0, std::memory_order_release);
}

void HandleTables::ForgetAll() {
  for (auto& slot : proven_) slot.store(0, std::memory_order_relaxed);
  for (Remembered& slot : remembered_) {
    // The load comes first, because a store would take memory for the many slots that were never
    // used.
    if (slot.handle.load(std::memory_order_relaxed) != 0) ForgetRemembered(slot);
  }
}

void HandleTables::Clear() {
  // A thread of the parent may have been writing. The child starts from an even number.
  arena_sequence_.store(0, std::memory_order_relaxed);
  arena_count_.store(0, std::memory_order_relaxed);
  for (Arena& arena : arenas_) arena.size.store(0, std::memory_order_relaxed);
  foreign_providers_.store(0, std::memory_order_relaxed);
  table_count_ = 0;
  for (auto& slot : tables_) slot.store(kEmpty, std::memory_order_relaxed);
  ForgetAll();
}

namespace {

// Whether every call of the data path can go through this table without checking its slot.
bool IsComplete(const DAT_PROVIDER& t) {
  return t.ep_post_send_func != nullptr && t.ep_post_recv_func != nullptr &&
         t.ep_post_rdma_read_func != nullptr && t.ep_post_rdma_write_func != nullptr &&
         t.ep_post_send_with_invalidate_func != nullptr &&
         t.ep_post_rdma_read_to_rmr_func != nullptr && t.srq_post_recv_func != nullptr &&
         t.rmr_bind_func != nullptr && t.evd_dequeue_func != nullptr && t.evd_wait_func != nullptr;
}

}  // namespace

ProviderRef HandleTables::FindAndRemember(DAT_HANDLE handle) {
  const ProviderRef found = Find(handle);
  if (!found || !IsComplete(*found.table)) return found;
  const auto value = reinterpret_cast<uintptr_t>(handle);
  Remembered& slot = RememberedAt(value);
  // The table is written first: see Remembered.
  slot.table.store(reinterpret_cast<uintptr_t>(found.table), std::memory_order_release);
  slot.handle.store(value, std::memory_order_release);
  // RemoveTable removes the table and then looks through what is remembered. Here the order is the
  // other way round. One of the two turns comes first, and whoever has the second turn sees what
  // the other did before the first. So at least one of the two forgets the handle.
  turns_.fetch_add(1, std::memory_order_acq_rel);
  if (FindTable(reinterpret_cast<uintptr_t>(found.table))) return found;
  ForgetRemembered(slot);
  return {};
}

ProviderRef HandleTables::FindForeign(uintptr_t value) {
  if (foreign_providers_.load(std::memory_order_acquire) == 0) return {};
  if (value < kLowestPointer || value % alignof(void*) != 0) return {};
  std::atomic<uintptr_t>& slot = proven_[Hash(value) % kProvenSlots];
  if (slot.load(std::memory_order_acquire) == value) return FindTable(FirstWord(value));
  uintptr_t word = 0;
  if (!ReadWordSafely(value, &word)) return {};
  const ProviderRef found = FindTable(word);
  if (found) slot.store(value, std::memory_order_release);
  return found;
}

}  // namespace softdat::registry
