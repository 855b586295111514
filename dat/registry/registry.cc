// SPDX-License-Identifier: BSD-3-Clause
// The registry's entries: finding them, announcing them, referring to them. registry_load.cc loads
// libraries.
#include "dat/registry/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "dat/base/log.h"
#include "dat/base/reason.h"
#include "dat/base/setting_values.h"
#include "dat/registry/dat_return.h"
#include "dat/registry/nearest_names.h"

namespace softdat::registry {
namespace {

constexpr size_t kMaxNamesShown = 16;

// A discovered IA is opened as if dat.conf said "NAME u2.0 nonthreadsafe default LIB softdat.0.1 ""
// """.
constexpr uint32_t kDiscoveredMajor = 2;
ProviderKey DiscoveredKey(const std::string& name) { return {name, kDiscoveredMajor, 0, false}; }

ProviderKey KeyOf(const DAT_PROVIDER_INFO& info) {
  return {std::string(info.ia_name, strnlen(info.ia_name, sizeof info.ia_name)),
          info.dapl_version_major, info.dapl_version_minor, info.is_thread_safe != DAT_FALSE};
}

DAT_RETURN_SUBTYPE SubtypeOf(KeyMismatch mismatch) {
  switch (mismatch) {
    case KeyMismatch::kMajor:
      return DAT_MAJOR_NOT_FOUND;
    case KeyMismatch::kMinor:
      return DAT_MINOR_NOT_FOUND;
    case KeyMismatch::kThreadSafety:
      return DAT_THREAD_SAFETY_NOT_FOUND;
    case KeyMismatch::kName:
    case KeyMismatch::kNone:
      break;
  }
  return DAT_NAME_NOT_REGISTERED;
}

// Whether an entry's provider will find its device, as far as one can tell without asking it.
// Debian's dat.conf names 62 IAs, most of which exist nowhere. There are two checks. A library that
// is named with its folder must be there. And where the parameters of the line begin with the name
// of a network interface or an RDMA device, as for our providers and OFA's, this host must have
// that device. `major` is the version that programs of this registry ask for.
bool MayBeOpened(const Entry& entry, uint32_t major) {
  if (entry.table != nullptr) return true;
  if (entry.key.major != major) return false;
  for (const Candidate& candidate : entry.candidates) {
    if (candidate.library.find('/') != std::string::npos &&
        access(candidate.library.c_str(), R_OK) != 0) {
      continue;
    }
    const std::string device = candidate.ia_params.substr(0, candidate.ia_params.find(' '));
    if (device.empty()) return true;
    if (device.find('/') != std::string::npos || device[0] == '.') continue;
    for (const char* folder : {"/sys/class/net/", "/sys/class/infiniband/"}) {
      if (access((folder + device).c_str(), F_OK) == 0) return true;
    }
  }
  return false;
}

// Whether folders and libraries cannot be read now because no descriptor is left. In that case what
// they hold is unknown, which is not the same as missing.
bool OutOfDescriptors() {
  const int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    close(fd);
    return false;
  }
  return errno == EMFILE || errno == ENFILE;
}

}  // namespace

Registry::Registry(RegistryConfig config) : config_(std::move(config)) {
  const Lock lock(mutex_);
  LoadConfLocked();
}

bool Registry::OthersTurnLocked() const {
  return turns_ > 0 && loader_ != std::this_thread::get_id();
}

void Registry::BeginTurnLocked() {
  loader_ = std::this_thread::get_id();
  ++turns_;
}

void Registry::EndTurnLocked() {
  --turns_;
  changed_.notify_all();
}

std::vector<DiscoveredIa> Registry::Discover(const std::string& wanted) {
  std::vector<std::string> folders;
  {
    Lock lock(mutex_);
    changed_.wait(lock, [this] { return !OthersTurnLocked(); });
    folders = config_.provider_folders;
    BeginTurnLocked();
  }
  struct EndTurn {
    Registry* registry;
    ~EndTurn() {
      const Lock lock(registry->mutex_);
      registry->EndTurnLocked();
    }
  };
  const EndTurn end_turn{this};  // ends the turn, even if memory for the result runs out
  return DiscoverIas(folders, wanted, &read_libraries_);
}

// Lines with the same key become one entry with several candidates (semantics 2.2).
void Registry::LoadConfLocked() {
  LoadedConf loaded = LoadConf(config_.conf);
  conf_problem_ = std::move(loaded.problem);
  for (auto& line : loaded.parsed.entries) {
    if (!line.IsRegistered()) continue;
    if (config_.only_major != 0 && line.major != config_.only_major) continue;
    const ProviderKey key{line.ia_name, line.major, line.minor, line.thread_safe};
    Entry* entry = FindLocked(key);
    if (entry == nullptr) {
      entries_.push_back(std::make_unique<Entry>());
      entry = entries_.back().get();
      entry->key = key;
    }
    entry->candidates.push_back({std::move(line.library), std::move(line.ia_params)});
  }
}

Entry* Registry::FindLocked(const ProviderKey& key) {
  for (const auto& entry : entries_) {
    if (entry->key == key) return entry.get();
  }
  return nullptr;
}

void Registry::EraseLocked(const Entry* entry) {
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [entry](const auto& each) { return each.get() == entry; }),
                 entries_.end());
}

DAT_RETURN Registry::Add(const DAT_PROVIDER* table, const DAT_PROVIDER_INFO* info) {
  if (table == nullptr) return Refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1, "no provider table");
  if (info == nullptr) return Refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2, "no provider info");
  const ProviderKey key = KeyOf(*info);
  if (key.name.empty() || key.name.size() >= sizeof info->ia_name) {
    return Refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2, "the IA name is empty or too long");
  }
  // The table belongs to a library, which we or the program have loaded. The other exports of that
  // library tell whether it is one of ours. The library is found by ia_open_func: every provider
  // has that function, while the table may be on the heap.
  ProviderExports exports;
  softdat_handle_arena arena{};
  auto owner = ProviderLibrary::OfAddress(reinterpret_cast<const void*>(table->ia_open_func));
  if (owner.ok()) exports = owner.value().exports();
  if (exports.handle_arena != nullptr) {
    if (const softdat_handle_arena* reported = exports.handle_arena()) arena = *reported;
  }
  DAT_RETURN result = DAT_SUCCESS;
  {
    const Lock lock(mutex_);
    Entry* entry = FindLocked(key);
    if (entry != nullptr && entry->table != nullptr) {
      result = Refuse(DAT_PROVIDER_ALREADY_REGISTERED, DAT_NO_SUBTYPE,
                      fmt::format("{} is registered already", DescribeKey(key)));
    } else {
      const bool is_new = entry == nullptr;
      if (is_new) {
        entries_.push_back(std::make_unique<Entry>());
        entry = entries_.back().get();
        entry->key = key;
      }
      result = RegisterTableLocked(entry, table, exports, arena);
      if (result == DAT_SUCCESS && entry->state == Entry::State::kIdle) {
        entry->state = Entry::State::kReady;
      }
      if (result != DAT_SUCCESS && is_new) EraseLocked(entry);
    }
  }
  SOFTDAT_LOG_AREA(Debug, DynamicRegistry, "add {}: {:#x}", DescribeKey(key), result);
  return result;
}

DAT_RETURN Registry::Remove(const DAT_PROVIDER* table, const DAT_PROVIDER_INFO* info) {
  if (table == nullptr) return Refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1, "no provider table");
  if (info == nullptr) return Refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2, "no provider info");
  const ProviderKey key = KeyOf(*info);
  const Lock lock(mutex_);
  Entry* entry = FindLocked(key);
  if (entry == nullptr || entry->table != table) {
    return Refuse(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED,
                  fmt::format("{} is not registered with this table", DescribeKey(key)));
  }
  if (entry->state == Entry::State::kReady && entry->references > 0) {
    return Refuse(DAT_PROVIDER_IN_USE, DAT_NO_SUBTYPE,
                  fmt::format("{} IAs of {} are open", entry->references, DescribeKey(key)));
  }
  UnregisterTableLocked(entry);
  if (entry->state == Entry::State::kReady && !entry->library.is_open()) {
    entry->state = Entry::State::kIdle;
    if (entry->candidates.empty()) EraseLocked(entry);
  }
  SOFTDAT_LOG_AREA(Debug, DynamicRegistry, "remove {}", DescribeKey(key));
  return DAT_SUCCESS;
}

std::optional<size_t> Registry::MatchLocked(const ProviderKey& request, KeyMismatch* mismatch) {
  std::vector<ProviderKey> keys;
  keys.reserve(entries_.size());
  for (const auto& entry : entries_) keys.push_back(entry->key);
  const KeyMatch match = FindKey(keys, request);
  *mismatch = match.mismatch;
  if (match.mismatch != KeyMismatch::kNone) return std::nullopt;
  return match.index;
}

DAT_RETURN Registry::Acquire(const ProviderKey& request, Entry** entry) {
  Lock lock(mutex_);
  bool looked_into_folders = false;
  for (;;) {
    if (shut_down_) {
      return Refuse(DAT_INVALID_STATE, DAT_NO_SUBTYPE, "the registry is shut down");
    }
    if (!config_.settings.ok()) {
      SetReason(config_.settings.reason());
      AddReason("a setting in the environment keeps every IA from being opened");
      return RefuseWithChain(DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE);
    }
    KeyMismatch mismatch = KeyMismatch::kNone;
    const auto index = MatchLocked(request, &mismatch);
    if (index) {
      bool again = false;
      const DAT_RETURN result = TakeLocked(&lock, *index, request, entry, &again);
      if (!again) return result;
      continue;
    }
    // An unreadable DAT_OVERRIDE leaves the static registry empty (semantics 2.2), so no other
    // source of names may take its place. A name that has entries only for other versions, such as
    // a line for programs of 1.2, is not taken.
    const bool free = mismatch == KeyMismatch::kName ||
                      (mismatch == KeyMismatch::kMajor && request.major == kDiscoveredMajor);
    if (free && !looked_into_folders && conf_problem_.ok()) {
      lock.unlock();
      AddDiscovered(request.name);
      lock.lock();
      looked_into_folders = true;
      continue;
    }
    lock.unlock();
    return NotFound(request, mismatch);
  }
}

// One step of Acquire() on a matching entry. Sets *again when something changed meanwhile, so that
// the caller must match anew.
DAT_RETURN Registry::TakeLocked(Lock* lock, size_t index, const ProviderKey& request, Entry** entry,
                                bool* again) {
  Entry* found = entries_[index].get();
  if (found->state == Entry::State::kReady) {
    if (std::exchange(found->inherited, false)) {
      const DAT_RETURN result =
          RegisterTableLocked(found, found->table, found->exports, found->arena);
      if (result != DAT_SUCCESS) return result;
    }
    ++found->references;
    *entry = found;
    return DAT_SUCCESS;
  }
  if (found->state != Entry::State::kIdle) {
    if (found->worker == std::this_thread::get_id()) {
      return Refuse(DAT_INVALID_STATE, DAT_NO_SUBTYPE,
                    fmt::format("{} is opened from within its provider's init or fini",
                                Printable(request.name)));
    }
    changed_.wait(*lock);
    *again = true;
    return DAT_SUCCESS;
  }
  if (OthersTurnLocked()) {
    changed_.wait(*lock);
    *again = true;
    return DAT_SUCCESS;
  }
  BeginTurnLocked();
  found->state = Entry::State::kLoading;
  found->worker = std::this_thread::get_id();
  ++found->references;
  lock->unlock();
  bool loaded = false;
  bool out_of_memory = false;
  try {
    loaded = Load(found);
  } catch (const std::bad_alloc&) {
    out_of_memory = true;
  }
  lock->lock();
  found->state = loaded ? Entry::State::kReady : Entry::State::kIdle;
  found->worker = std::thread::id();
  *entry = found;
  if (!loaded) {
    if (--found->references == 0 && found->discovered) EraseLocked(found);
    *entry = nullptr;
  }
  EndTurnLocked();
  if (loaded) return DAT_SUCCESS;
  if (out_of_memory) throw std::bad_alloc();
  AddReason(fmt::format("no library of {} can be used", DescribeKey(request)));
  if (OutOfDescriptors()) return RefuseWithChain(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE);
  return RefuseWithChain(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
}

// Adds an entry for a name that a provider in the folders offers. What follows a slash is the
// provider's to judge. The entry has no reference until Acquire() takes one. When another thread
// was faster, its entry is used.
bool Registry::AddDiscovered(const std::string& ia_name) {
  const std::string listed = ia_name.substr(0, ia_name.find('/'));
  for (auto& ia : Discover(listed)) {
    if (ia.name != listed) continue;
    const Lock lock(mutex_);
    const ProviderKey key = DiscoveredKey(ia_name);
    if (FindLocked(key) != nullptr) return true;
    entries_.push_back(std::make_unique<Entry>());
    entries_.back()->key = key;
    entries_.back()->discovered = true;
    entries_.back()->candidates.push_back({std::move(ia.library), ""});
    return true;
  }
  return false;
}

DAT_RETURN Registry::NotFound(const ProviderKey& request, KeyMismatch mismatch) {
  if (OutOfDescriptors()) {
    return Refuse(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE,
                  fmt::format("no file descriptor is left to look for a provider of {}",
                              DescribeKey(request)));
  }
  const std::vector<ProviderKey> keys = List();
  const size_t shown = std::min(keys.size(), kMaxNamesShown);
  std::string known;
  for (size_t i = 0; i < shown; ++i) {
    const ProviderKey& key = keys[i];
    if (!known.empty()) known += ", ";
    known += mismatch == KeyMismatch::kName ? Printable(key.name) : DescribeKey(key);
  }
  if (shown < keys.size()) known += fmt::format(" and {} more", keys.size() - shown);
  SetReason(fmt::format("the registry has: {}", known.empty() ? "nothing" : known));
  if (mismatch == KeyMismatch::kName) {
    std::vector<std::string> names;
    names.reserve(keys.size());
    for (const ProviderKey& key : keys) names.push_back(key.name);
    const std::vector<std::string> nearest = NearestNames(names, request.name);
    if (!nearest.empty()) {
      std::string text;
      for (const std::string& name : nearest) text += (text.empty() ? "" : ", ") + Printable(name);
      AddReason("the nearest: " + text);
    }
  }
  if (!conf_problem_.ok()) AddReason(std::string(conf_problem_.reason()));
  AddReason(mismatch == KeyMismatch::kName
                ? fmt::format("no IA is called {}", Printable(request.name))
                : fmt::format("no entry fits {}", DescribeKey(request)));
  return RefuseWithChain(DAT_PROVIDER_NOT_FOUND, SubtypeOf(mismatch));
}

Entry* Registry::AcquireByTable(const DAT_PROVIDER* table) {
  const Lock lock(mutex_);
  for (const auto& entry : entries_) {
    if (table != nullptr && entry->table == table && entry->state == Entry::State::kReady &&
        !entry->inherited) {
      ++entry->references;
      return entry.get();
    }
  }
  return nullptr;
}

Entry* Registry::AcquireByReason(uint64_t time) {
  const Lock lock(mutex_);
  Entry* newest = nullptr;
  for (const auto& entry : entries_) {
    if (entry->table == nullptr || entry->state != Entry::State::kReady || entry->inherited ||
        entry->exports.reason_time == nullptr) {
      continue;
    }
    const uint64_t its = entry->exports.reason_time();
    if (its <= time) continue;
    newest = entry.get();
    time = its;
  }
  if (newest != nullptr) ++newest->references;
  return newest;
}

Entry* Registry::AcquireByOwner(const void* owner, const std::string& ia_name) {
  const Lock lock(mutex_);
  for (const auto& entry : entries_) {
    if (entry.get() != owner) continue;
    if (entry->key.name != ia_name || entry->state != Entry::State::kReady || entry->inherited)
      return nullptr;
    ++entry->references;
    return entry.get();
  }
  return nullptr;
}

void Registry::KeepForExtension(Entry* entry) {
  const Lock lock(mutex_);
  ++entry->extension_references;
}

void Registry::ReleaseExtension(const DAT_PROVIDER* table) {
  Entry* found = nullptr;
  {
    const Lock lock(mutex_);
    for (const auto& entry : entries_) {
      if (entry->table != table || entry->extension_references == 0) continue;
      // Several names may share a table. The name that stands in the table is preferred.
      const bool same_name = table->device_name != nullptr && entry->key.name == table->device_name;
      if (found == nullptr || same_name) found = entry.get();
    }
    if (found == nullptr) return;
    --found->extension_references;
  }
  Release(found);
}

std::vector<ProviderKey> Registry::List(size_t* openable) {
  std::vector<ProviderKey> keys;    // those that can be opened, as far as one can tell
  std::vector<ProviderKey> others;  // those that come behind them
  const uint32_t major = config_.only_major != 0 ? config_.only_major : kDiscoveredMajor;
  bool look_into_folders = false;
  {
    const Lock lock(mutex_);
    for (const auto& entry : entries_) {
      if (!entry->discovered) (MayBeOpened(*entry, major) ? keys : others).push_back(entry->key);
    }
    look_into_folders = conf_problem_.ok() && !shut_down_;
  }
  if (look_into_folders) {
    const std::vector<DiscoveredIa> found = Discover("");
    const auto known = [named = keys, &others](const DiscoveredIa& ia) {
      const auto has = [&](const ProviderKey& key) {
        return key.name == ia.name && key.major == kDiscoveredMajor;
      };
      return std::any_of(named.begin(), named.end(), has) ||
             std::any_of(others.begin(), others.end(), has);
    };
    std::vector<ProviderKey> unavailable;
    for (const auto& ia : found) {
      if (known(ia)) continue;
      (ia.unavailable_reason.empty() ? keys : unavailable).push_back(DiscoveredKey(ia.name));
    }
    others.insert(others.end(), unavailable.begin(), unavailable.end());
  }
  if (openable != nullptr) *openable = keys.size();
  keys.insert(keys.end(), others.begin(), others.end());
  return keys;
}

bool Registry::Knows(const std::string& ia_name) {
  const auto keys = List();
  return std::any_of(keys.begin(), keys.end(),
                     [&ia_name](const auto& key) { return key.name == ia_name; });
}

void Registry::Shutdown() {
  const Lock lock(mutex_);
  shut_down_ = true;
  // Providers that are still in use belong to running threads, and at exit their own destructors
  // have already run. So nothing of theirs is touched.
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [](const auto& entry) {
                                  return entry->state == Entry::State::kIdle &&
                                         entry->references == 0;
                                }),
                 entries_.end());
  entries_.shrink_to_fit();
  RegistryConfig nothing;  // swapped, because assigning a short string keeps the old buffer
  std::swap(config_, nothing);
  conf_problem_ = Status();
  changed_.notify_all();
}

}  // namespace softdat::registry
