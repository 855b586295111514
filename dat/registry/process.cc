// SPDX-License-Identifier: BSD-3-Clause
// The registry of this library in this process. It is made at the first call, and told about fork
// and unload.
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <new>

#include "dat/base/fork_safe_once.h"
#include "dat/base/log.h"
#include "dat/base/settings.h"
#include "dat/registry/handle_tables.h"
#include "dat/registry/ia_handles.h"
#include "dat/registry/registry.h"

namespace softdat::registry {
namespace {

constinit std::atomic<Registry*> g_registry{nullptr};

void BeforeFork() {
  if (Registry* registry = g_registry.load()) registry->LockForFork();
}

void AfterForkInParent() {
  if (Registry* registry = g_registry.load()) registry->UnlockInParent();
}

void AfterForkInChild() {
  g_ia_handles.Clear();
  if (Registry* registry = g_registry.load()) registry->ResetInChild();
}

constinit ForkSafeOnce g_once;

void MakeRegistry() {
  StartLog();
  alignas(Registry) static std::byte storage[sizeof(Registry)];
  g_registry.store(new (storage) Registry(LibraryConfig()));
}

// Runs when the library is loaded, because a fork may come during the first call.
__attribute__((constructor)) void OnLoad() {
  pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
}

// Runs when the library is unloaded or the process exits. The registry object itself stays, because
// another thread may be in a call.
__attribute__((destructor)) void OnUnload() {
  if (Registry* registry = g_registry.load()) registry->Shutdown();
}

}  // namespace

ConfSource ConfSourceFromSettings() {
  const ParsedSettings& parsed = GetParsedSettings();
  ConfSource source;
  source.override_path = parsed.values.dat_override;
  for (const auto& row : parsed.rows) {
    if (row.name == "DAT_OVERRIDE") source.has_override = row.from_environment;
  }
  return source;
}

Registry& TheRegistry() {
  g_once.Call(MakeRegistry);
  return *g_registry.load(std::memory_order_acquire);
}

}  // namespace softdat::registry
