// SPDX-License-Identifier: BSD-3-Clause
// The entry points by which a registry library finds this provider (semantics 2.1, 17), and what
// SoftDAT's own registry asks in addition (dat2/softdat.h).
#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dat/base/log.h"
#include "dat/base/reason.h"
#include "dat/base/settings.h"
#include "dat/engine/attributes.h"
#include "dat/engine/backend.h"
#include "dat/engine/guarded_slot.h"
#include "dat/engine/ia.h"
#include "dat/engine/registration.h"
#include "dat/engine/slots.h"
#include "dat2/softdat.h"

namespace softdat::engine {
namespace {

// Protects the list. The entries themselves never change or go away. Nothing else is locked under
// it, except by a fork, which locks it first.
std::mutex g_registrations_mutex;

// Never freed, because handles point to the tables, even stale ones.
std::vector<Registration*>& Registrations() {
  static auto* list = new std::vector<Registration*>;
  return *list;
}

Registration* FindLocked(const DAT_PROVIDER_INFO& info) {
  for (Registration* r : Registrations()) {
    if (std::strcmp(r->info.ia_name, info.ia_name) == 0 &&
        r->info.dapl_version_major == info.dapl_version_major &&
        r->info.dapl_version_minor == info.dapl_version_minor &&
        (r->info.is_thread_safe != DAT_FALSE) == (info.is_thread_safe != DAT_FALSE)) {
      return r;
    }
  }
  return nullptr;
}

Registration* FindOrMake(const DAT_PROVIDER_INFO& info, const char* parameters) {
  std::lock_guard<std::mutex> lock(g_registrations_mutex);
  Registration* r = FindLocked(info);
  if (r == nullptr) {
    auto made = std::make_unique<Registration>();
    r = made.get();
    r->info = info;
    r->info.ia_name[sizeof(r->info.ia_name) - 1] = '\0';
    r->ia_name = r->info.ia_name;
    FillProviderTable(&r->table, info.is_thread_safe != DAT_FALSE);
    r->table.device_name = r->ia_name.c_str();
    r->parameters = parameters != nullptr ? parameters : "";
    Registrations().push_back(r);
    static_cast<void>(made.release());
  }
  return r;
}

void BeforeFork() {
  g_registrations_mutex.lock();
  Ia::LockAllForFork();
}

void AfterForkInParent() {
  Ia::UnlockAllAfterFork();
  g_registrations_mutex.unlock();
}

void AfterForkInChild() {
  Ia::AbandonAllAfterFork();
  g_registrations_mutex.unlock();
}

void StartOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    StartLog();
    pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
  });
}

// Runs when the process exits. It also runs when the library is unloaded, which does not happen
// while IAs are open.
__attribute__((destructor)) void OnUnload() { Ia::TellAllOfExit(); }

size_t CopyText(const std::string& text, char* buf, size_t len) {
  if (len > 0) {
    const size_t n = std::min(text.size(), len - 1);
    std::memcpy(buf, text.data(), n);
    buf[n] = '\0';
  }
  return text.size();
}

}  // namespace

const Registration* FindRegistration(const std::string& ia_name, bool thread_safe) {
  std::lock_guard<std::mutex> lock(g_registrations_mutex);
  for (const Registration* r : Registrations()) {
    if (r->ia_name == ia_name && (r->info.is_thread_safe != DAT_FALSE) == thread_safe) return r;
  }
  return nullptr;
}

transport::Backend& TheBackend() {
  static transport::Backend* backend = MakeBackend().release();
  return *backend;
}

}  // namespace softdat::engine

// The headers declare no prototype for these, because a registry finds them by name.
#define SOFTDAT_ENTRY_POINT __attribute__((visibility("default")))

extern "C" {

// Debian's libdat2 looks for this name to learn that slot 80 exists. Only its presence counts.
SOFTDAT_ENTRY_POINT void dapl_extensions(void);
void dapl_extensions(void) {}

SOFTDAT_ENTRY_POINT void DAT_API dat_provider_init(const DAT_PROVIDER_INFO* info,
                                                   const char* ia_params) {
  using softdat::engine::Registration;
  if (info == nullptr) return;
  Registration* const nothing = nullptr;
  Registration* r = softdat::OrNoMemory(
      [&] {
        softdat::engine::StartOnce();
        return softdat::engine::FindOrMake(*info, ia_params);
      },
      nothing);
  if (r == nullptr) return;  // the registry sees that nothing was registered
  const DAT_RETURN ret = dat_registry_add_provider(&r->table, &r->info);
  if (ret != DAT_SUCCESS) {
    SOFTDAT_LOG(Warning, "{}: the registry refused the provider ({:#x})", r->ia_name,
                static_cast<unsigned>(ret));
  }
}

SOFTDAT_ENTRY_POINT void DAT_API dat_provider_fini(const DAT_PROVIDER_INFO* info) {
  if (info == nullptr) return;
  softdat::engine::Registration* r = nullptr;
  {
    std::lock_guard<std::mutex> lock(softdat::engine::g_registrations_mutex);
    r = softdat::engine::FindLocked(*info);
  }
  if (r != nullptr) dat_registry_remove_provider(&r->table, &r->info);
}

size_t DAT_API softdat_provider_reason(char* buf, size_t len) {
  return softdat::engine::CopyText(softdat::LastReasons(), buf, len);
}

uint64_t DAT_API softdat_provider_reason_time(void) { return softdat::LastReasonTime(); }

void DAT_API softdat_provider_list_ias(softdat_ia_visitor visit, void* arg) {
  const auto list = [&] {
    for (const auto& device : softdat::engine::TheBackend().Devices()) {
      visit(arg, device.name.c_str(),
            device.unavailable.empty() ? nullptr : device.unavailable.c_str());
    }
    return true;
  };
  static_cast<void>(softdat::OrNoMemory(list, false));  // the list is shorter when memory runs out
}

const struct softdat_handle_arena* DAT_API softdat_provider_handle_arena(void) {
  static const softdat_handle_arena arena = {softdat::engine::HandleArena().base,
                                             softdat::engine::HandleArena().size};
  return &arena;
}

const char* DAT_API softdat_provider_settings(void) {
  static const auto* text =
      new std::string(softdat::SettingsJson(softdat::GetParsedSettings().rows));
  return text->c_str();
}

}  // extern "C"
