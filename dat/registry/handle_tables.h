// SPDX-License-Identifier: BSD-3-Clause
// Which handles may be called through. The first word of a provider's object is a pointer to its
// table, but a handle that comes from a program may be anything: so nothing is read before its
// address is known to be readable, and nothing is called before that word is a table registered
// now.
//
// Handles of our own providers lie in an arena that the provider reports: a range check, no system
// call. Handles of foreign providers are proven once with process_vm_readv and then remembered.
//
// Concurrency: all members are atomics. Readers (every DAT call) take no lock. Writers are the
// registry and the fork handler, serialised by the registry's mutex.
#ifndef SOFTDAT_DAT_REGISTRY_HANDLE_TABLES_H_
#define SOFTDAT_DAT_REGISTRY_HANDLE_TABLES_H_

#include <dat2/dat_registry.h>
#include <dat2/udat.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace softdat::registry {

// What may be called: a table, with or without its extension slot (slot 80 is beyond the end of the
// tables of providers that were built without extensions).
struct ProviderRef {
  const DAT_PROVIDER* table = nullptr;
  bool has_extensions = false;

  explicit operator bool() const { return table != nullptr; }
};

class HandleTables {
 public:
  // A registered table and the arena of its objects; base nullptr for a foreign provider.
  // False when there is no room (kMaxTables tables, kMaxArenas arenas).
  bool AddTable(const DAT_PROVIDER* table, bool has_extensions);
  void RemoveTable(const DAT_PROVIDER* table);
  bool AddArena(const void* base, size_t size);
  void RemoveArena(const void* base);

  // How many registered providers have no arena; their handles take the slow path.
  void SetForeignProviders(uint32_t count) {
    foreign_providers_.store(count, std::memory_order_release);
  }

  // After the free of a foreign object (Forget), or of many (ForgetAll).
  void Forget(DAT_HANDLE handle);
  void ForgetAll();

  // In a forked child: no inherited handle is good any more.
  void Clear();

  // The provider of an object handle, or nothing for NULL, junk, and objects of unloaded providers.
  ProviderRef Find(DAT_HANDLE handle) {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    if (InArena(value)) [[likely]] {
      return value % alignof(void*) == 0 ? FindTable(FirstWord(value)) : ProviderRef{};
    }
    return FindForeign(value);
  }

  // The same for the common case, in eight instructions: an object in the aligned arena, whose
  // table lies where it is looked for first. False where that is not so: then Find() tells.
  [[gnu::always_inline]] bool FindAtOnce(DAT_HANDLE handle, const DAT_PROVIDER** provider) const {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    constexpr uintptr_t kInside = kAlignedArena - alignof(void*);
    if ((value & ~kInside) != aligned_arena_.load(std::memory_order_acquire)) [[unlikely]]
      return false;
    const uintptr_t table = FirstWord(value);
    *provider = reinterpret_cast<const DAT_PROVIDER*>(table);
    return tables_[HashOfTable(table) % kTableSlots].load(std::memory_order_acquire) == table;
  }

  // The registered table with this address.
  ProviderRef FindTable(uintptr_t address) const {
    if (address >= kRemoved) return {};
    for (size_t i = HashOfTable(address) % kTableSlots;; i = (i + 1) % kTableSlots) {
      const uintptr_t slot = tables_[i].load(std::memory_order_acquire);
      if (slot == address) {
        return {reinterpret_cast<const DAT_PROVIDER*>(address),
                has_extensions_[i].load(std::memory_order_relaxed)};
      }
      if (slot == kEmpty) return {};
    }
  }

  static constexpr size_t kMaxTables = 512;
  static constexpr size_t kMaxArenas = 16;

 private:
  static constexpr size_t kTableSlots = 2 * kMaxTables;  // never full, so that a search ends
  static constexpr size_t kProvenSlots = 4096;
  // No first word of an object, which may be zero.
  static constexpr uintptr_t kEmpty = UINTPTR_MAX;
  static constexpr uintptr_t kRemoved = UINTPTR_MAX - 1;  // a search goes on behind it
  // An arena of this size (or more) that begins at a multiple of it needs one comparison; that of
  // our providers does (dat/engine/handle.h).
  static constexpr uintptr_t kAlignedArena = uintptr_t{1} << 29;
  static constexpr uintptr_t kNoArena =
      alignof(void*);                                // no handle equals it without its inner bits
  static constexpr uintptr_t kLowestPointer = 4096;  // below lie IA handles and small integers

  struct Arena {
    std::atomic<uintptr_t> base{0};
    std::atomic<size_t> size{0};
  };

  // Tables are larger than 64 bytes: where one lies is spread enough. Handles are not.
  static size_t HashOfTable(uintptr_t address) { return address >> 6; }
  static size_t Hash(uintptr_t value) { return (value >> 3) * 0x9E3779B97F4A7C15u >> 20; }

  static uintptr_t FirstWord(uintptr_t address) {
    return __atomic_load_n(reinterpret_cast<const uintptr_t*>(address), __ATOMIC_ACQUIRE);
  }

  // Sequence lock: a base and a size of different arenas are never combined.
  bool InArena(uintptr_t value) const {
    for (;;) {
      const uint32_t before = arena_sequence_.load(std::memory_order_acquire);
      bool inside = false;
      const uint32_t count = arena_count_.load(std::memory_order_acquire);
      for (uint32_t i = 0; i < count && !inside; ++i) {
        const uintptr_t offset = value - arenas_[i].base.load(std::memory_order_acquire);
        inside = offset < arenas_[i].size.load(std::memory_order_acquire);
      }
      if ((before & 1) == 0 && before == arena_sequence_.load(std::memory_order_relaxed)) {
        return inside;
      }
    }
  }

  ProviderRef FindForeign(uintptr_t value);
  void ChooseAlignedArena();
  void BeginArenaChange();
  void EndArenaChange();

  // Open addressing.
  struct TableSlot : std::atomic<uintptr_t> {
    constexpr TableSlot() : std::atomic<uintptr_t>(kEmpty) {}
  };
  TableSlot tables_[kTableSlots];
  std::atomic<uint32_t> arena_sequence_{0};  // odd while a writer is at work
  std::atomic<uint32_t> arena_count_{0};
  Arena arenas_[kMaxArenas];  // behind arena_count_: of size 0
  std::atomic<uint32_t> foreign_providers_{0};
  size_t table_count_ = 0;                              // writers only
  std::atomic<uintptr_t> aligned_arena_{kNoArena};      // one of arenas_
  std::atomic<bool> has_extensions_[kTableSlots] = {};  // written before tables_
  // Handles proven to be readable and a foreign provider's; direct mapped, so it forgets by itself.
  std::atomic<uintptr_t> proven_[kProvenSlots] = {};
};

// The tables of this process. Constant-initialised: usable before and after all constructors.
extern HandleTables g_handle_tables;

// Reads one word at any address of this process; false when it cannot be read.
bool ReadWordSafely(uintptr_t address, uintptr_t* word);

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_HANDLE_TABLES_H_
