// SPDX-License-Identifier: BSD-3-Clause
// Decides which handles may be called through. The first word of a provider's object is a pointer
// to its table, but a handle that comes from a program may be anything. So nothing is read before
// its address is known to be readable, and nothing is called unless that word is the address of a
// table that is registered now.
//
// Handles of our own providers lie in an arena that the provider reports. They take a range check
// and no system call. Handles of foreign providers are proven once with process_vm_readv and then
// remembered.
//
// The data path remembers what was found a second time: the handle together with its table, at a
// place that follows from the handle's address. Such a handle costs two comparisons: it is the one
// that is remembered, and its first word still is that table. If a foreign provider has freed its
// object by itself, the second comparison fails as a rule, because the memory has other contents
// then.
//
// Concurrency: all members are atomics. Readers (every DAT call) take no lock. Writers are the
// registry and the fork handler, which the registry's mutex serialises.
#ifndef SOFTDAT_DAT_REGISTRY_HANDLE_TABLES_H_
#define SOFTDAT_DAT_REGISTRY_HANDLE_TABLES_H_

#include <dat2/dat_registry.h>
#include <dat2/udat.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace softdat::registry {

// What may be called: a table, with or without its extension slot. That is slot 80, which lies
// beyond the end of the tables of providers that were built without extensions.
struct ProviderRef {
  const DAT_PROVIDER* table = nullptr;
  bool has_extensions = false;

  explicit operator bool() const { return table != nullptr; }
};

class HandleTables {
 public:
  // Registers a table, or the arena of a provider's objects (foreign providers have none). Returns
  // false when there is no room (kMaxTables tables, kMaxArenas arenas).
  bool AddTable(const DAT_PROVIDER* table, bool has_extensions);
  void RemoveTable(const DAT_PROVIDER* table);
  bool AddArena(const void* base, size_t size);
  void RemoveArena(const void* base);

  // The number of registered providers that have no arena. Their handles take the slow path.
  void SetForeignProviders(uint32_t count) {
    foreign_providers_.store(count, std::memory_order_release);
  }

  // To be called after one foreign object was freed (Forget), or many (ForgetAll).
  void Forget(DAT_HANDLE handle);
  void ForgetAll();

  // To be called in a forked child, where no inherited handle is valid any more.
  void Clear();

  // The provider of an object handle. Nothing for NULL, junk, and objects of unloaded providers.
  ProviderRef Find(DAT_HANDLE handle) {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    if (InArena(value)) [[likely]] {
      return value % alignof(void*) == 0 ? FindTable(FirstWord(value)) : ProviderRef{};
    }
    return FindForeign(value);
  }

  // The same for the data path, in eight instructions. It finds a handle that FindAndRemember() has
  // found before, if every slot of the data path in its table is filled (IsComplete). Otherwise it
  // returns nullptr, and FindAndRemember() tells.
  [[gnu::always_inline]] const DAT_PROVIDER* FindAtOnce(DAT_HANDLE handle) const {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    const Remembered& slot = RememberedAt(value);
    if (!Holds(&slot.handle, value)) [[unlikely]]
      return nullptr;
    const uintptr_t table = slot.table.load(std::memory_order_acquire);
    if (!Holds(handle, table)) [[unlikely]]
      return nullptr;
    if (table == 0) __builtin_unreachable();  // tells the compiler: a handle has a table
    return reinterpret_cast<const DAT_PROVIDER*>(table);
  }
  // Find(), after which FindAtOnce() finds the handle, too. It forgets another handle with the same
  // place.
  ProviderRef FindAndRemember(DAT_HANDLE handle);

  // The registered table at this address.
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
  // Values that are never the first word of an object. That word may be zero.
  static constexpr uintptr_t kEmpty = UINTPTR_MAX;
  static constexpr uintptr_t kRemoved = UINTPTR_MAX - 1;  // a search goes on behind it
  static constexpr size_t kRemembered = 8192;
  // Marks place 0 while nothing is remembered there. Other places are marked with 0, but 0, which
  // is NULL, belongs to this place; kNoHandle belongs to another place.
  static constexpr uintptr_t kNoHandle = UINTPTR_MAX;
  static constexpr uintptr_t kLowestPointer = 4096;  // below lie IA handles and small integers

  // The table is written before the handle, and stays when the handle is forgotten. A reader may
  // see the handle of one write and the table of another. That is safe: the handle has been proven
  // then, the table is registered, and the comparison with the object's first word decides.
  struct Remembered {
    std::atomic<uintptr_t> handle{0};  // 0 or kNoHandle when nothing is remembered
    std::atomic<uintptr_t> table{0};
  };
  static_assert(sizeof(Remembered) == 16);

  struct Arena {
    std::atomic<uintptr_t> base{0};
    std::atomic<size_t> size{0};
  };

  // Tables are larger than 64 bytes, so their addresses spread well enough without a hash. Handles
  // need one.
  static size_t HashOfTable(uintptr_t address) { return address >> 6; }
  static size_t Hash(uintptr_t value) { return (value >> 3) * 0x9E3779B97F4A7C15u >> 20; }

  // Whether the word at `address` is `value`: an acquire load and a comparison. Compilers make two
  // instructions of them, this makes one.
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

  // Objects of foreign providers lie at multiples of 16, where malloc puts them. Ours lie at
  // multiples of 64, which leaves them a fourth of the places. The place is the masked address
  // itself, without a shift or a hash.
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

  // A sequence lock, so that the base of one arena is never combined with the size of another.
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
  // A slot of a hash table with open addressing.
  struct TableSlot : std::atomic<uintptr_t> {
    constexpr TableSlot() : std::atomic<uintptr_t>(kEmpty) {}
  };
  TableSlot tables_[kTableSlots];
  std::atomic<uint32_t> arena_sequence_{0};  // odd while a writer is at work
  std::atomic<uint32_t> arena_count_{0};
  Arena arenas_[kMaxArenas];  // those from arena_count_ on have size 0
  std::atomic<uint32_t> foreign_providers_{0};
  std::atomic<uint32_t> turns_{0};  // orders RemoveTable and FindAndRemember, which each take one
  size_t table_count_ = 0;          // writers only
  std::atomic<bool> has_extensions_[kTableSlots] = {};  // written before tables_
  // Handles of foreign providers that were proven to be readable. A new handle overwrites the old
  // one of its slot, so that the table never fills up.
  std::atomic<uintptr_t> proven_[kProvenSlots] = {};
};

// The tables of this process. Constant-initialised, and so usable before and after all
// constructors.
extern HandleTables g_handle_tables;

// Reads one word at any address of this process. Returns false when it cannot be read.
bool ReadWordSafely(uintptr_t address, uintptr_t* word);

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_HANDLE_TABLES_H_
