// SPDX-License-Identifier: BSD-3-Clause
// dat_registry_*, dat_strerror and the calls of dat2/softdat.h.
#include <dat2/softdat.h>
#include <fmt/format.h>
#include <string.h>

#include <algorithm>

#include "dat/base/cancel.h"
#include "dat/base/no_memory.h"
#include "dat/base/setting_values.h"
#include "dat/registry/dat_return.h"
#include "dat/registry/dispatch.h"
#include "dat/registry/registry.h"
#include "dat/registry/strerror.h"
#include "dat/registry/version.h"

namespace softdat::registry {
namespace {

// Asks the provider of an open IA called `name` about `other`. Without an open IA nobody can tell,
// and no provider is opened just for this question.
DAT_HA_RELATIONSHIP AskOpenIa(const char* name, const DAT_NAME_PTR other) {
  for (uintptr_t index = 1; index < IaHandles::kLimit; ++index) {
    auto* handle = reinterpret_cast<DAT_IA_HANDLE>(index);
    const void* owner = g_ia_handles.Owner(handle);
    if (owner == nullptr) continue;
    // The IA may be closed meanwhile. The reference keeps its provider loaded until it has
    // answered.
    Entry* entry = TheRegistry().AcquireByOwner(owner, name);
    if (entry == nullptr) continue;
    const DAT_IA_HANDLE object = g_ia_handles.Find(handle);
    const auto ask = entry->table->ia_ha_related_func;
    DAT_BOOLEAN related = DAT_FALSE;
    // By now the handle may belong to another IA.
    const bool answered = object != nullptr && g_ia_handles.Owner(handle) == owner &&
                          ask != nullptr && ask(object, other, &related) == DAT_SUCCESS;
    TheRegistry().Release(entry);
    if (answered) return related ? DAT_HA_TRUE : DAT_HA_FALSE;
  }
  return DAT_HA_UNKNOWN;
}

// Copies as snprintf does. Returns the whole length.
size_t CopyText(const std::string& text, char* buf, size_t len) {
  if (buf != nullptr && len > 0) {
    const size_t copied = std::min(text.size(), len - 1);
    memcpy(buf, text.data(), copied);
    buf[copied] = '\0';
  }
  return text.size();
}

}  // namespace
}  // namespace softdat::registry

using namespace softdat::registry;  // NOLINT: this file is the C API of the registry

DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER* provider,
                                     const DAT_PROVIDER_INFO* provider_info) {
  const softdat::CancelOff no_cancellation;
  return softdat::OrNoMemory(
      [&]() -> DAT_RETURN { return TheRegistry().Add(provider, provider_info); }, kNoMemory);
}

DAT_RETURN dat_registry_remove_provider(const DAT_PROVIDER* provider,
                                        const DAT_PROVIDER_INFO* provider_info) {
  const softdat::CancelOff no_cancellation;
  return softdat::OrNoMemory(
      [&]() -> DAT_RETURN { return TheRegistry().Remove(provider, provider_info); }, kNoMemory);
}

DAT_RETURN dat_registry_list_providers(DAT_COUNT max_to_return, DAT_COUNT* entries_returned,
                                       DAT_PROVIDER_INFO** dat_provider_list) {
  const softdat::CancelOff no_cancellation;
  return softdat::OrNoMemory(
      [&]() -> DAT_RETURN {
        constexpr char kCall[] = "dat_registry_list_providers";
        if (entries_returned == nullptr) {
          return Refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                        fmt::format("{}: no place for the count", kCall));
        }
        const auto keys = TheRegistry().List();
        *entries_returned = static_cast<DAT_COUNT>(keys.size());
        // The text gives the same answer for any number that is too small. Programs are used to
        // OFA's library, and treat that answer as the end (docs/differences.md).
        if (max_to_return < 0 || (max_to_return == 0 && !keys.empty())) {
          return Refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1,
                        fmt::format("{}: there is room for {} entries, and there are {}", kCall,
                                    max_to_return, keys.size()));
        }
        const auto room = static_cast<size_t>(max_to_return);
        const size_t count = std::min(room, keys.size());
        for (size_t i = 0; i < count; ++i) {
          DAT_PROVIDER_INFO* info = dat_provider_list != nullptr ? dat_provider_list[i] : nullptr;
          if (info == nullptr) {
            return Refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
                          fmt::format("{}: no place for entry {}", kCall, i));
          }
          memset(info, 0, sizeof *info);
          memcpy(info->ia_name, keys[i].name.data(), keys[i].name.size());
          info->dapl_version_major = keys[i].major;
          info->dapl_version_minor = keys[i].minor;
          info->is_thread_safe = keys[i].thread_safe ? DAT_TRUE : DAT_FALSE;
        }
        *entries_returned = static_cast<DAT_COUNT>(count);
        return DAT_SUCCESS;
      },
      kNoMemory);
}

DAT_RETURN dat_registry_providers_related(const DAT_NAME_PTR provider_name1,
                                          const DAT_NAME_PTR provider_name2,
                                          DAT_HA_RELATIONSHIP* related) {
  const softdat::CancelOff no_cancellation;
  return softdat::OrNoMemory(
      [&]() -> DAT_RETURN {
        constexpr char kCall[] = "dat_registry_providers_related";
        const DAT_NAME_PTR names[] = {provider_name1, provider_name2};
        constexpr DAT_RETURN_SUBTYPE kArguments[] = {DAT_INVALID_ARG1, DAT_INVALID_ARG2};
        for (int i = 0; i < 2; ++i) {
          if (names[i] == nullptr ||
              strnlen(names[i], DAT_NAME_MAX_LENGTH) == DAT_NAME_MAX_LENGTH) {
            return Refuse(DAT_INVALID_PARAMETER, kArguments[i],
                          fmt::format("{}: a name is missing or longer than 255 bytes", kCall));
          }
        }
        if (related == nullptr) {
          return Refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
                        fmt::format("{}: no place for the answer", kCall));
        }
        for (const DAT_NAME_PTR name : names) {
          if (TheRegistry().Knows(name)) continue;
          return Refuse(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED,
                        fmt::format("{}: no IA is called {}", kCall, softdat::Printable(name)));
        }
        const DAT_HA_RELATIONSHIP first = AskOpenIa(provider_name1, provider_name2);
        const DAT_HA_RELATIONSHIP second = AskOpenIa(provider_name2, provider_name1);
        if (first == second || second == DAT_HA_UNKNOWN) {
          *related = first;
        } else {
          *related = first == DAT_HA_UNKNOWN ? second : DAT_HA_CONFLICTING;
        }
        return DAT_SUCCESS;
      },
      kNoMemory);
}

// Both texts are set whatever the value is, because programs print them without looking at the
// result. A NULL pointer means that the caller does not want that text.
DAT_RETURN dat_strerror(DAT_RETURN value, const char** major_message, const char** minor_message) {
  const char* type = TypeName(DAT_GET_TYPE(value));
  const char* subtype = SubtypeName(DAT_GET_SUBTYPE(value));
  if (major_message != nullptr) *major_message = type != nullptr ? type : "unknown error";
  if (minor_message != nullptr)
    *minor_message = subtype != nullptr ? subtype : "unknown minor error";
  if (type != nullptr && subtype != nullptr) return DAT_SUCCESS;
  return DatError(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
}

size_t softdat_last_reason(char* buf, size_t len) {
  return softdat::OrNoMemory([&] { return CopyText(LastFailure(), buf, len); }, size_t{0});
}

const char* softdat_version(void) { return kVersion; }
