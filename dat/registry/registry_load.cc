// SPDX-License-Identifier: BSD-3-Clause
// The registry's libraries: loading, init, fini and unloading, their tables and handle arenas, and
// fork.
#include <dlfcn.h>
#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <new>
#include <utility>

#include "dat/base/log.h"
#include "dat/base/reason.h"
#include "dat/base/setting_values.h"
#include "dat/registry/dat_return.h"
#include "dat/registry/handle_tables.h"
#include "dat/registry/registry.h"

namespace softdat::registry {
namespace {

DAT_PROVIDER_INFO InfoOf(const ProviderKey& key) {
  DAT_PROVIDER_INFO info{};
  memcpy(info.ia_name, key.name.data(), std::min(key.name.size(), sizeof info.ia_name - 1));
  info.dapl_version_major = key.major;
  info.dapl_version_minor = key.minor;
  info.is_thread_safe = key.thread_safe ? DAT_TRUE : DAT_FALSE;
  return info;
}

}  // namespace

// Tries the candidates in order until one registers the entry's key. Runs unlocked, in state
// kLoading. On failure the thread's reason chain names what was wrong with each.
bool Registry::Load(Entry* entry) {
  std::vector<std::string> reasons;
  for (const auto& candidate : entry->candidates) {
    std::string reason = LoadCandidate(entry, candidate);
    if (reason.empty()) return true;
    SOFTDAT_LOG_AREA(Warning, StaticRegistry, "{}", reason);
    reasons.push_back(std::move(reason));
  }
  ClearReasons();
  for (auto& reason : reasons) AddReason(std::move(reason));
  return false;
}

// Returns "" on success, else what was wrong.
std::string Registry::LoadCandidate(Entry* entry, const Candidate& candidate) {
  auto opened = ProviderLibrary::Open(candidate.library);
  if (!opened.ok()) return std::string(opened.status().reason());
  ProviderLibrary library = opened.Take();
  if (library.exports().init == nullptr || library.exports().fini == nullptr) {
    return fmt::format("{} is not a provider: it exports no {}", Printable(library.path()),
                       library.exports().init == nullptr ? DAT_PROVIDER_INIT_FUNC_STR
                                                         : DAT_PROVIDER_FINI_FUNC_STR);
  }
  const DAT_PROVIDER_INFO info = InfoOf(entry->key);
  SOFTDAT_LOG_AREA(Debug, ProviderApi, "{}: init for {} with '{}'", Printable(library.path()),
                   DescribeKey(entry->key), Printable(candidate.ia_params));
  library.exports().init(&info, candidate.ia_params.c_str());
  {
    const Lock lock(mutex_);
    if (entry->table != nullptr) {
      entry->library = std::move(library);
      return "";
    }
  }
  std::string reason =
      fmt::format("{} did not register {}", Printable(library.path()), DescribeKey(entry->key));
  Unload(entry, &library);
  return reason;
}

// Runs fini and unloads. Runs unlocked, in a state that keeps other threads away from the entry.
void Registry::Unload(Entry* entry, ProviderLibrary* library) {
  const DAT_PROVIDER_INFO info = InfoOf(entry->key);
  SOFTDAT_LOG_AREA(Debug, ProviderApi, "{}: fini for {}", Printable(library->path()),
                   DescribeKey(entry->key));
  library->exports().fini(&info);
  bool unused = false;
  {
    const Lock lock(mutex_);
    UnregisterTableLocked(entry);
    unused = PurgeLocked(*library);
  }
  if (!unused) library->KeepLoaded();
  library->Close();
}

// Drops what a library registered under other keys and left behind in its fini, unless another
// entry keeps the library loaded. Returns false when IAs are open through such a key, because then
// the code must stay.
bool Registry::PurgeLocked(const ProviderLibrary& library) {
  for (const auto& entry : entries_) {
    if (entry->library.is_open() &&
        library.Contains(reinterpret_cast<const void*>(entry->library.exports().init))) {
      return true;
    }
  }
  bool unused = true;
  for (size_t i = entries_.size(); i-- > 0;) {
    Entry* entry = entries_[i].get();
    if (entry->state != Entry::State::kReady ||
        !library.Contains(reinterpret_cast<const void*>(entry->table->ia_open_func))) {
      continue;
    }
    SOFTDAT_LOG_AREA(Warning, DynamicRegistry, "{} left {} registered", Printable(library.path()),
                     DescribeKey(entry->key));
    if (entry->references > 0) {
      unused = false;
      continue;
    }
    UnregisterTableLocked(entry);
    entry->state = Entry::State::kIdle;
    if (entry->candidates.empty()) entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(i));
  }
  return unused;
}

void Registry::Release(Entry* entry) {
  Lock lock(mutex_);
  // A program announced it and owns the provider, or the parent of this process loaded it.
  const bool stays = !entry->library.is_open() || entry->keep_loaded;
  // The reference keeps the entry while this thread waits for its turn to unload.
  changed_.wait(lock, [&] { return stays || entry->references > 1 || !OthersTurnLocked(); });
  if (--entry->references > 0 || stays) return;
  BeginTurnLocked();
  entry->state = Entry::State::kUnloading;
  entry->worker = std::this_thread::get_id();
  ProviderLibrary library = std::move(entry->library);
  lock.unlock();
  Unload(entry, &library);
  lock.lock();
  entry->state = Entry::State::kIdle;
  entry->worker = std::thread::id();
  if (entry->discovered || entry->candidates.empty()) EraseLocked(entry);
  EndTurnLocked();
}

DAT_RETURN Registry::RegisterTableLocked(Entry* entry, const DAT_PROVIDER* table,
                                         const ProviderExports& exports,
                                         softdat_handle_arena arena) {
  if (reinterpret_cast<uintptr_t>(table) % alignof(DAT_PROVIDER) != 0) {
    return Refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1, "the provider table is misaligned");
  }
  if (!g_handle_tables.AddTable(table, exports.has_extensions)) {
    return Refuse(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY,
                  fmt::format("more than {} provider tables", HandleTables::kMaxTables));
  }
  // If there is no room for its arena, a provider is treated like a foreign one: slower, not
  // unsafe.
  if (arena.base != nullptr && !g_handle_tables.AddArena(arena.base, arena.size)) arena = {};
  entry->table = table;
  entry->exports = exports;
  entry->arena = arena;
  CountForeignLocked();
  return DAT_SUCCESS;
}

// Forgets an entry's table and arena, unless another entry has the same.
void Registry::UnregisterTableLocked(Entry* entry) {
  const DAT_PROVIDER* table = std::exchange(entry->table, nullptr);
  const softdat_handle_arena arena = std::exchange(entry->arena, {});
  entry->exports = ProviderExports();
  if (table == nullptr) return;
  bool table_shared = false;
  bool arena_shared = false;
  for (const auto& each : entries_) {
    if (each->table == nullptr) continue;
    table_shared = table_shared || each->table == table;
    arena_shared = arena_shared || each->arena.base == arena.base;
  }
  if (!table_shared) g_handle_tables.RemoveTable(table);
  if (arena.base != nullptr && !arena_shared) g_handle_tables.RemoveArena(arena.base);
  if (arena.base == nullptr) g_handle_tables.ForgetAll();
  CountForeignLocked();
}

void Registry::CountForeignLocked() {
  uint32_t foreign = 0;
  for (const auto& each : entries_) {
    foreign += each->table != nullptr && each->arena.base == nullptr ? 1 : 0;
  }
  g_handle_tables.SetForeignProviders(foreign);
}

// The child of a fork starts with nothing open: every inherited handle is invalid. Libraries stay
// loaded, so that the child may open IAs of its own. The first of them makes a provider's table
// valid again, and from then on the provider itself tells its inherited objects from new ones. A
// load that another thread had begun is lost with that thread.
void Registry::ResetInChild() {
  new (&changed_) std::condition_variable;  // its waiters do not exist here
  turns_ = 0;
  g_handle_tables.Clear();
  for (size_t i = entries_.size(); i-- > 0;) {
    Entry* entry = entries_[i].get();
    entry->references = 0;
    entry->extension_references = 0;
    entry->worker = std::thread::id();
    entry->inherited = entry->state == Entry::State::kReady;
    entry->keep_loaded = entry->inherited;
    if (entry->inherited) continue;
    entry->state = Entry::State::kIdle;
    entry->table = nullptr;
    entry->arena = {};
    entry->exports = ProviderExports();
    if (entry->candidates.empty()) entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(i));
  }
  mutex_.unlock();
}

}  // namespace softdat::registry
