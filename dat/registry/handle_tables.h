// SPDX-License-Identifier: BSD-3-Clause
// Which handles may be called through. The first word of a provider's object is a pointer to its
// table, but a handle that comes from a program may be anything: so nothing is read before its
// address is known to be readable, and nothing is called before that word is a table registered
// now.
//
// Handles of our own providers lie in an arena that the provider reports: a range check, no system
// call. Handles of foreign providers are proven once with process_vm_readv and then remembered.
//
// What was found is remembered once more, for the data path: the handle together with its table, at
// a place that the handle's address gives. Such a handle costs two comparisons: it is the one
// remembered, and its first word still is that table. A foreign object that its provider has freed
// by itself fails the second one as a rule, because the memory has other contents then.
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
#include <utility>

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

  // The same for the data path, in eight instructions: a handle that was asked for before. Its
  // table has every slot of the data path filled (IsComplete). nullptr where that is not so: then
  // FindAndRemember() tells.
  [[gnu::always_inline]] const DAT_PROVIDER* FindAtOnce(DAT_HANDLE handle) const {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    const Remembered& slot = RememberedAt(value);
    if (!Holds(&slot.handle, value)) [[unlikely]]
      return nullptr;
    const uintptr_t table = slot.table.load(std::memory_order_acquire);
    if (!Holds(handle, table)) [[unlikely]]
      return nullptr;
    if (table == 0) __builtin_unreachable();  // said to the compiler: a handle comes with a table
    return reinterpret_cast<const DAT_PROVIDER*>(table);
  }
  // Find(), and FindAtOnce() finds it from now on. Another handle of the same place is forgotten.
  ProviderRef FindAndRemember(DAT_HANDLE handle);

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
  static constexpr size_t kRemembered = 8192;
  // At place 0 while nothing is remembered there: belongs to another place, as 0, NULL, does to
  // this.
  static constexpr uintptr_t kNoHandle = UINTPTR_MAX;
  static constexpr uintptr_t kLowestPointer = 4096;  // below lie IA handles and small integers

  // The table is written before the handle and stays when that is forgotten. Readers may see the
  // handle of one write and the table of another: the handle has been proven then, the table is
  // registered, and the comparison with the object's first word decides.
  struct Remembered {
    std::atomic<uintptr_t> handle{0};  // 0, or kNoHandle: nothing is remembered
    std::atomic<uintptr_t> table{0};
  };
  static_assert(sizeof(Remembered) == 16);

  struct Arena {
    std::atomic<uintptr_t> base{0};
    std::atomic<size_t> size{0};
  };

  // Tables are larger than 64 bytes: where one lies is spread enough. Handles are not.
  static size_t HashOfTable(uintptr_t address) { return address >> 6; }
  static size_t Hash(uintptr_t value) { return (value >> 3) * 0x9E3779B97F4A7C15u >> 20; }

  // Whether the word at `address` is `value`: an acquire load and a comparison, in the one
  // instruction that compilers do not make of them.
  static bool Holds(const void* address, uintptr_t value) {
#ifdef __x86_64__
    bool same;
    asm volatile("cmp %[value], %[word]"
                 : "=@cce"(same)
                 : [word] "m"(*static_cast<const uintptr_t*>(address)), [value] "r"(value)
                 : "memory");
    return same;
#else
    return FirstWord(reinterpret_cast<uintptr_t>(address)) == value;
#endif
  }

  // Objects of foreign providers lie at multiples of 16, where malloc puts them; ours at such of
  // 64, which leaves them a fourth of the places. A mask of the address itself: no shift, no hash.
  const Remembered& RememberedAt(uintptr_t value) const {
    constexpr uintptr_t kMask = (kRemembered - 1) * sizeof(Remembered);
    return *reinterpret_cast<const Remembered*>(reinterpret_cast<const char*>(remembered_) +
                                                (value & kMask));
  }
  Remembered& RememberedAt(uintptr_t value) {
    return const_cast<Remembered&>(std::as_const(*this).RememberedAt(value));
  }
  void ForgetRemembered(Remembered& slot);

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
  void BeginArenaChange();
  void EndArenaChange();

  Remembered remembered_[kRemembered] = {{kNoHandle, 0}};
  // Open addressing.
  struct TableSlot : std::atomic<uintptr_t> {
    constexpr TableSlot() : std::atomic<uintptr_t>(kEmpty) {}
  };
  TableSlot tables_[kTableSlots];
  std::atomic<uint32_t> arena_sequence_{0};  // odd while a writer is at work
  std::atomic<uint32_t> arena_count_{0};
  Arena arenas_[kMaxArenas];  // behind arena_count_: of size 0
  std::atomic<uint32_t> foreign_providers_{0};
  std::atomic<uint32_t> turns_{0};  // of RemoveTable and FindAndRemember, which it puts in order
  size_t table_count_ = 0;          // writers only
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
