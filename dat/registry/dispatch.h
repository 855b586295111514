// SPDX-License-Identifier: BSD-3-Clause
// The way from a DAT call to the slot of a provider's table: handle check, call, note of a failure.
// There is no lock, no allocation, and no system call except for the first call on an object of a
// foreign provider. On the data path it is nine instructions, and the last one jumps to the
// provider.
#ifndef SOFTDAT_DAT_REGISTRY_DISPATCH_H_
#define SOFTDAT_DAT_REGISTRY_DISPATCH_H_

#include <dat2/dat_registry.h>
#include <dat2/udat.h>

#include <algorithm>
#include <cstddef>

#include "dat/registry/handle_tables.h"
#include "dat/registry/ia_handles.h"
#include "dat/registry/last_failure.h"

namespace softdat::registry {

// INVALID_HANDLE with the subtype of the kind that was expected. `call` names the DAT call.
DAT_RETURN BadHandle(const char* call, DAT_RETURN_SUBTYPE expected, DAT_HANDLE handle);

// NOT_IMPLEMENTED, for a slot that the provider left empty.
DAT_RETURN EmptySlot(const char* call);

// The table of an IA object, as a provider returned it.
inline const DAT_PROVIDER* TableOf(DAT_HANDLE object) {
  return *static_cast<const DAT_PROVIDER* const*>(object);
}

template <auto kSlot, typename... Args>
inline DAT_RETURN CallSlot(const char* call, const DAT_PROVIDER* table, DAT_HANDLE object,
                           Args... args) {
  const auto function = table->*kSlot;
  if (function == nullptr) [[unlikely]]
    return EmptySlot(call);
  return NoteResult(table, function(object, args...));
}

// CallObject for a handle that FindAtOnce() does not find. The name of the call comes last, so that
// the other arguments stay in their registers.
template <auto kSlot, DAT_RETURN_SUBTYPE kKind, typename... Args>
[[gnu::noinline]] DAT_RETURN SearchAndCall(DAT_HANDLE handle, Args... args, const char* call) {
  const ProviderRef provider = g_handle_tables.FindAndRemember(handle);
  if (!provider) return BadHandle(call, kKind, handle);
  return CallSlot<kSlot>(call, provider.table, handle, args...);
}

// A call whose first argument is an object of a provider (anything but an IA).
template <auto kSlot, DAT_RETURN_SUBTYPE kKind, typename... Args>
inline DAT_RETURN CallObject(const char* call, DAT_HANDLE handle, Args... args) {
  const DAT_PROVIDER* const table = g_handle_tables.FindAtOnce(handle);
  if (table != nullptr) [[likely]] {
    const auto function = table->*kSlot;
    if (function != nullptr) [[likely]]
      return NoteResult(table, function(handle, args...));
  }
  return SearchAndCall<kSlot, kKind, Args...>(handle, args..., call);
}

// The name of a call as a template argument, so that it is no argument of the call at run time.
template <size_t kSize>
struct CallName {
  consteval CallName(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }  // NOLINT
  char text[kSize];
};

// CallDataPath for a handle that FindAtOnce() does not find.
template <CallName kName, auto kSlot, DAT_RETURN_SUBTYPE kKind, typename... Args>
[[gnu::noinline]] DAT_RETURN SearchDataPath(DAT_HANDLE handle, Args... args) {
  const ProviderRef provider = g_handle_tables.FindAndRemember(handle);
  if (!provider) return BadHandle(kName.text, kKind, handle);
  return CallSlot<kSlot>(kName.text, provider.table, handle, args...);
}

// A call of the data path. A table that FindAtOnce() returns is certain to have its slot
// (HandleTables). The call ends with a jump to the provider, so a failure is not noted here.
// Instead softdat_last_reason() asks our own providers when they failed last; foreign ones have
// nothing to say.
template <CallName kName, auto kSlot, DAT_RETURN_SUBTYPE kKind, typename... Args>
inline DAT_RETURN CallDataPath(DAT_HANDLE handle, Args... args) {
  const DAT_PROVIDER* const table = g_handle_tables.FindAtOnce(handle);
  if (table != nullptr) [[likely]]
    return (table->*kSlot)(handle, args...);
  return SearchDataPath<kName, kSlot, kKind, Args...>(handle, args...);
}

// The same for a call that ends the object's life if it succeeds.
template <auto kSlot, DAT_RETURN_SUBTYPE kKind, typename... Args>
inline DAT_RETURN CallLast(const char* call, DAT_HANDLE handle, Args... args) {
  const DAT_RETURN result = CallObject<kSlot, kKind>(call, handle, args...);
  if (result == DAT_SUCCESS) g_handle_tables.Forget(handle);
  return result;
}

// A call whose first argument is an IA handle, the consumer's small integer.
template <auto kSlot, typename... Args>
inline DAT_RETURN CallIa(const char* call, DAT_IA_HANDLE handle, Args... args) {
  const DAT_IA_HANDLE object = g_ia_handles.Find(handle);
  if (object == nullptr) [[unlikely]]
    return BadHandle(call, DAT_INVALID_HANDLE_IA, handle);
  return CallSlot<kSlot>(call, TableOf(object), object, args...);
}

// An object of any kind, including an IA.
struct AnyObject {
  DAT_HANDLE object = nullptr;  // nullptr: not a handle
  ProviderRef provider;
};

inline AnyObject FindAny(DAT_HANDLE handle) {
  if (DAT_IA_HANDLE object = g_ia_handles.Find(handle)) {
    return {object, g_handle_tables.FindTable(reinterpret_cast<uintptr_t>(TableOf(object)))};
  }
  const ProviderRef provider = g_handle_tables.Find(handle);
  return {provider ? handle : nullptr, provider};
}

// A call whose first argument is any handle.
template <auto kSlot, typename... Args>
inline DAT_RETURN CallAny(const char* call, DAT_HANDLE handle, Args... args) {
  const AnyObject any = FindAny(handle);
  if (!any.provider) [[unlikely]]
    return BadHandle(call, DAT_INVALID_HANDLE1, handle);
  return CallSlot<kSlot>(call, any.provider.table, any.object, args...);
}

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_DISPATCH_H_
