// SPDX-License-Identifier: BSD-3-Clause
// Providers of uDAPL 1.2 itself. A second instance of the registry of dat/registry holds them, for
// lines with u1.2. It looks into a table only where 1.2 and 2.0 agree.
#include "dat/bridge/native.h"

#include <fmt/format.h>
#include <string.h>

#include <cstddef>
#include <string>
#include <utility>

#include "dat/base/no_memory.h"
#include "dat/base/setting_values.h"
#include "dat/bridge/return_words.h"
#include "dat/registry/dat_return.h"
#include "dat/registry/handle_tables.h"
#include "dat/registry/ia_handles.h"
#include "dat/registry/registry.h"

namespace softdat::bridge {
namespace {

using registry::g_handle_tables;
using registry::g_ia_handles;
using registry::IaHandles;

static_assert(offsetof(Table, device_name) == offsetof(::DAT_PROVIDER, device_name));
static_assert(offsetof(Table, ia_open_func) == offsetof(::DAT_PROVIDER, ia_open_func));
static_assert(kIaMark == IaHandles::kLimit);

// The registry stores a table of 1.2 as if it were one of 2.0.
const Table* AsTable(const ::DAT_PROVIDER* table) { return reinterpret_cast<const Table*>(table); }

Handle Number(Handle ia) {
  return reinterpret_cast<Handle>(reinterpret_cast<uintptr_t>(ia) - kNativeIaMark);
}

dat12::DAT_RETURN Open(registry::Entry* entry, const dat12::DAT_NAME_PTR name,
                       dat12::DAT_COUNT async_qlen, dat12::DAT_EVD_HANDLE* async_evd,
                       dat12::DAT_IA_HANDLE* ia) {
  const auto open = AsTable(entry->table)->ia_open_func;
  if (open == nullptr) return dat12::DAT_NOT_IMPLEMENTED;
  const uintptr_t index = g_ia_handles.Reserve();
  if (index == 0) return ReturnTo12(registry::kNoMemory);
  dat12::DAT_IA_HANDLE object = nullptr;
  const dat12::DAT_RETURN result = open(name, async_qlen, async_evd, &object);
  if (result != dat12::DAT_SUCCESS) {
    g_ia_handles.Release(index);
    return result;
  }
  if (FindNativeTable(object) == nullptr) {
    g_ia_handles.Release(index);
    return ReturnTo12(
        registry::Refuse(::DAT_INTERNAL_ERROR, ::DAT_NO_SUBTYPE,
                         fmt::format("the provider of {} returned an IA without its table",
                                     DescribeKey(entry->key))));
  }
  g_ia_handles.Publish(index, object, entry);
  *ia = reinterpret_cast<dat12::DAT_IA_HANDLE>(index + kNativeIaMark);
  return dat12::DAT_SUCCESS;
}

}  // namespace

const Table* FindNativeTable(Handle object) { return AsTable(g_handle_tables.Find(object).table); }

bool HasNativeExtensions(Handle object) { return g_handle_tables.Find(object).has_extensions; }

Handle FindNativeIa(Handle ia) { return g_ia_handles.Find(Number(ia)); }

Handle FindOtherNativeIa(Handle handle) {
  if (IsNativeIaNumber(handle)) return FindNativeIa(handle);
  const Handle number = g_ia_handles.FindObject(handle);
  return number != nullptr
             ? reinterpret_cast<Handle>(reinterpret_cast<uintptr_t>(number) + kNativeIaMark)
             : nullptr;
}

void ForgetNative(Handle object) { g_handle_tables.Forget(object); }

bool IsNativeName(const char* name) {
  return name != nullptr && strnlen(name, DAT_NAME_MAX_LENGTH) < DAT_NAME_MAX_LENGTH &&
         registry::TheRegistry().Knows(name);
}

dat12::DAT_RETURN OpenNative(const dat12::DAT_NAME_PTR name, dat12::DAT_COUNT async_qlen,
                             dat12::DAT_EVD_HANDLE* async_evd, dat12::DAT_IA_HANDLE* ia,
                             dat12::DAT_UINT32 major, dat12::DAT_UINT32 minor,
                             dat12::DAT_BOOLEAN thread_safety) {
  if (ia == nullptr) {
    return ReturnTo12(registry::Refuse(::DAT_INVALID_HANDLE, ::DAT_INVALID_HANDLE_IA,
                                       "dat_ia_open: no place for the handle"));
  }
  const registry::ProviderKey request{name, major, minor, thread_safety != dat12::DAT_FALSE};
  registry::Entry* entry = nullptr;
  if (const ::DAT_RETURN result = registry::TheRegistry().Acquire(request, &entry);
      result != ::DAT_SUCCESS) {
    return ReturnTo12(result);
  }
  // The reference is given back even when there is no memory for the words of a failure.
  const dat12::DAT_RETURN result =
      OrNoMemory([&] { return Open(entry, name, async_qlen, async_evd, ia); },
                 ReturnTo12(registry::kNoMemory));
  if (result != dat12::DAT_SUCCESS) registry::TheRegistry().Release(entry);
  return result;
}

bool IsNativeIaNumber(dat12::DAT_IA_HANDLE ia) {
  const auto value = reinterpret_cast<uintptr_t>(ia);
  return value > kNativeIaMark && value < kNativeIaMark + kIaMark;
}

dat12::DAT_RETURN CloseNative(dat12::DAT_IA_HANDLE ia, dat12::DAT_CLOSE_FLAGS flags) {
  const Handle number = Number(ia);
  Handle object = nullptr;
  void* owner = nullptr;
  if (!g_ia_handles.BeginClose(number, &object, &owner)) {
    return ReturnTo12(registry::Refuse(::DAT_INVALID_HANDLE, ::DAT_INVALID_HANDLE_IA,
                                       "dat_ia_close: this IA is not open"));
  }
  const auto index = reinterpret_cast<uintptr_t>(number);
  const Table* table = FindNativeTable(object);
  const auto close = table != nullptr ? table->ia_close_func : nullptr;
  const dat12::DAT_RETURN result =
      close != nullptr ? close(object, flags) : dat12::DAT_RETURN{dat12::DAT_NOT_IMPLEMENTED};
  if (result != dat12::DAT_SUCCESS) {
    g_ia_handles.CancelClose(index);
    return result;
  }
  g_ia_handles.Release(index);
  g_handle_tables.ForgetAll();  // the close freed the objects of this IA, too
  registry::TheRegistry().Release(static_cast<registry::Entry*>(owner));
  return dat12::DAT_SUCCESS;
}

}  // namespace softdat::bridge

// The registry of libdat.so.1 knows dat.conf alone, because the folders hold providers of 2.0.
softdat::registry::RegistryConfig softdat::registry::LibraryConfig() {
  RegistryConfig config;
  config.conf = ConfSourceFromSettings();
  config.only_major = 1;
  return config;
}
