// SPDX-License-Identifier: BSD-3-Clause
// The registry: which IAs there are, and the life of the libraries behind them.
//
// Entries come from dat.conf, and from programs and providers that announce themselves. Names that
// neither has come from the providers in the search folders. The first Acquire() loads an entry's
// library, and the last Release() unloads it.
//
// Concurrency: thread-safe. mutex_ protects all members. It is never held while a provider or the
// dynamic loader runs, so those may call back. Libraries are loaded and unloaded by one thread at a
// time (its turn, loader_), because init and fini of foreign providers need not be thread-safe.
// Only other loads wait for that thread.
#ifndef SOFTDAT_DAT_REGISTRY_REGISTRY_H_
#define SOFTDAT_DAT_REGISTRY_REGISTRY_H_

#include <dat2/dat_registry.h>
#include <dat2/udat.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dat/registry/conf_file.h"
#include "dat/registry/discovery.h"
#include "dat/registry/provider_key.h"
#include "dat/registry/provider_library.h"

namespace softdat::registry {

struct RegistryConfig {
  ConfSource conf;
  uint32_t only_major = 0;                    // reads lines of this API alone; 0 reads all
  std::vector<std::string> provider_folders;  // where to look for IAs that nothing else names
  Status settings;  // if not ok, a setting was not understood, and no IA is opened
};

// A library that may provide an IA.
struct Candidate {
  std::string library;
  std::string ia_params;
};

// One key of the registry. Only the registry touches its members. Holders of a reference may read
// key and table, which do not change while they hold it.
struct Entry {
  enum class State : uint8_t { kIdle, kLoading, kReady, kUnloading };

  ProviderKey key;
  std::vector<Candidate> candidates;  // in file order; empty if a program announced it
  bool discovered = false;            // found in a folder; removed with the last reference
  State state = State::kIdle;
  int references = 0;
  int extension_references = 0;  // those of `references` that open-type operations left
  std::thread::id worker;        // the thread that loads or unloads it
  const DAT_PROVIDER* table = nullptr;
  ProviderExports exports;       // of the library that holds the table
  softdat_handle_arena arena{};  // base nullptr for a foreign provider
  // Set in a forked child. `inherited`: the child has not opened it yet, so its table is not valid.
  // `keep_loaded`: never unload it, because what fini would stop or join did not survive the fork.
  bool inherited = false;
  bool keep_loaded = false;
  ProviderLibrary library;  // open if this registry loaded it
};

class Registry {
 public:
  explicit Registry(RegistryConfig config);

  // dat_registry_add_provider and dat_registry_remove_provider (semantics 2.1).
  DAT_RETURN Add(const DAT_PROVIDER* table, const DAT_PROVIDER_INFO* info);
  DAT_RETURN Remove(const DAT_PROVIDER* table, const DAT_PROVIDER_INFO* info);

  // Finds the entry for a request, loads its library if need be, and takes a reference. It fails
  // with PROVIDER_NOT_FOUND and its subtypes; after Shutdown() with INVALID_STATE; and with
  // INVALID_STATE for a provider that opens its own IA from within its init or fini. The reason
  // chain says more.
  DAT_RETURN Acquire(const ProviderKey& request, Entry** entry);
  void Release(Entry* entry);

  // Takes a reference to the entry whose table this is. nullptr if the table is not registered now.
  Entry* AcquireByTable(const DAT_PROVIDER* table);

  // Takes a reference to the entry whose provider has the newest reason of the calling thread.
  // nullptr if no reason is newer than `time` (nanoseconds of CLOCK_MONOTONIC).
  Entry* AcquireByReason(uint64_t time);

  // Takes a reference to the owner of an open IA (IaHandles), if its IA is called `ia_name`. The
  // owner may be gone by now.
  Entry* AcquireByOwner(const void* owner, const std::string& ia_name);

  // KeepForExtension() marks a reference from Acquire() that an open-type extended operation leaves
  // behind. ReleaseExtension() drops one by its table, because the close-type operation knows
  // nothing else. Without such a reference nothing happens.
  void KeepForExtension(Entry* entry);
  void ReleaseExtension(const DAT_PROVIDER* table);

  // Every key: static and announced ones in order, then those found in the folders. Keys that
  // cannot be opened, as far as one can tell without opening them, come behind all others, because
  // programs ask for a few and take the first that suits them. `openable` receives the number of
  // keys in front of those.
  std::vector<ProviderKey> List(size_t* openable = nullptr);

  // Whether there is an entry with this IA name. Looks into the folders, too.
  bool Knows(const std::string& ia_name);

  // After this every Acquire() fails, and the memory of what is not in use is given back. Called
  // when the library is unloaded. A second call is harmless.
  void Shutdown();

  // For use around fork(): the child must not inherit a mutex that some other thread holds.
  void LockForFork() { mutex_.lock(); }
  void UnlockInParent() { mutex_.unlock(); }
  void ResetInChild();

 private:
  using Lock = std::unique_lock<std::mutex>;

  void LoadConfLocked();
  bool OthersTurnLocked() const;
  void BeginTurnLocked();
  void EndTurnLocked();
  std::vector<DiscoveredIa> Discover(const std::string& wanted);
  Entry* FindLocked(const ProviderKey& key);
  std::optional<size_t> MatchLocked(const ProviderKey& request, KeyMismatch* mismatch);
  DAT_RETURN TakeLocked(Lock* lock, size_t index, const ProviderKey& request, Entry** entry,
                        bool* again);
  bool AddDiscovered(const std::string& ia_name);
  DAT_RETURN NotFound(const ProviderKey& request, KeyMismatch mismatch);
  bool Load(Entry* entry);
  std::string LoadCandidate(Entry* entry, const Candidate& candidate);
  void Unload(Entry* entry, ProviderLibrary* library);
  DAT_RETURN RegisterTableLocked(Entry* entry, const DAT_PROVIDER* table,
                                 const ProviderExports& exports, softdat_handle_arena arena);
  void UnregisterTableLocked(Entry* entry);
  bool PurgeLocked(const ProviderLibrary& library);
  void CountForeignLocked();
  void EraseLocked(const Entry* entry);

  std::mutex mutex_;
  std::condition_variable changed_;  // some entry left kLoading or kUnloading, or a turn ended
  RegistryConfig config_;
  std::thread::id loader_;        // the thread whose turn it is to load libraries
  int turns_ = 0;                 // how deep that thread's turns are nested; 0: nobody's turn
  ReadLibraries read_libraries_;  // for the thread whose turn it is
  bool shut_down_ = false;
  Status conf_problem_;                          // DAT_OVERRIDE could not be read
  std::vector<std::unique_ptr<Entry>> entries_;  // keys are unique
};

// The registry of this library in this process, made at the first call. It is never destroyed,
// because another thread may be in a call when the process exits.
Registry& TheRegistry();

// What the registry is made from. Each library that has a registry defines this function.
RegistryConfig LibraryConfig();

// The source of dat.conf that the environment asks for.
ConfSource ConfSourceFromSettings();

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_REGISTRY_H_
