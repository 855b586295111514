// SPDX-License-Identifier: BSD-3-Clause
// dat_ia_*: opening and closing IAs, and the calls that take any handle.
#include <dat2/softdat.h>
#include <fmt/format.h>
#include <string.h>

#include "dat/base/cancel.h"
#include "dat/base/log.h"
#include "dat/base/no_memory.h"
#include "dat/base/reason.h"
#include "dat/base/setting_values.h"
#include "dat/registry/dat_return.h"
#include "dat/registry/dispatch.h"
#include "dat/registry/registry.h"

namespace softdat::registry {
namespace {

// Puts a line of ours above the provider's own words. They are fetched now, while the provider is
// sure to be loaded.
DAT_RETURN OpenFailed(const Entry& entry, const ProviderKey& request, DAT_RETURN result) {
  SetReason(ProviderReason(entry.exports));
  AddReason(fmt::format("dat_ia_open: the provider refused {}", DescribeKey(request)));
  t_failed_provider = nullptr;
  SOFTDAT_LOG_AREA(Warning, ConsumerApi, "open of {} failed with {:#x}: {}", DescribeKey(request),
                   result, LastReasons());
  return result;
}

DAT_RETURN OpenWith(Entry* entry, const ProviderKey& request, const DAT_NAME_PTR name,
                    DAT_COUNT async_event_qlen, DAT_EVD_HANDLE* async_event_handle,
                    DAT_IA_HANDLE* ia_handle) {
  if (entry->table->ia_open_func == nullptr) return EmptySlot("dat_ia_open");
  const uintptr_t index = g_ia_handles.Reserve();
  if (index == 0) {
    return Refuse(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY,
                  fmt::format("dat_ia_open: {} IAs are open", IaHandles::kLimit - 1));
  }
  DAT_IA_HANDLE object = nullptr;
  const DAT_RETURN result =
      entry->table->ia_open_func(name, async_event_qlen, async_event_handle, &object);
  if (result != DAT_SUCCESS) {
    g_ia_handles.Release(index);
    return OpenFailed(*entry, request, result);
  }
  // A provider's object must pass this check, or later calls could not find its table.
  uintptr_t table = 0;
  if (reinterpret_cast<uintptr_t>(object) % alignof(void*) != 0 ||
      !ReadWordSafely(reinterpret_cast<uintptr_t>(object), &table) ||
      !g_handle_tables.FindTable(table)) {
    g_ia_handles.Release(index);
    return Refuse(
        DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE,
        fmt::format("the provider of {} returned an IA without its table", DescribeKey(request)));
  }
  g_ia_handles.Publish(index, object, entry);
  *ia_handle = reinterpret_cast<DAT_IA_HANDLE>(index);
  return DAT_SUCCESS;
}

}  // namespace
}  // namespace softdat::registry

using namespace softdat::registry;  // NOLINT: this file is the C API of the registry

DAT_RETURN dat_ia_openv(const DAT_NAME_PTR name, DAT_COUNT async_event_qlen,
                        DAT_EVD_HANDLE* async_event_handle, DAT_IA_HANDLE* ia_handle,
                        DAT_UINT32 major, DAT_UINT32 minor, DAT_BOOLEAN thread_safety) {
  const softdat::CancelOff no_cancellation;
  return softdat::OrNoMemory(
      [&]() -> DAT_RETURN {
        const size_t length = name == nullptr ? 0 : strnlen(name, DAT_NAME_MAX_LENGTH);
        if (name == nullptr || length == DAT_NAME_MAX_LENGTH) {
          return Refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1,
                        "dat_ia_open: the IA name is missing or longer than 255 bytes");
        }
        if (ia_handle == nullptr) {
          return Refuse(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
                        "dat_ia_open: no place for the handle");
        }
        const ProviderKey request{std::string(name, length), major, minor,
                                  thread_safety != DAT_FALSE};
        Entry* entry = nullptr;
        DAT_RETURN result = TheRegistry().Acquire(request, &entry);
        if (result != DAT_SUCCESS) {
          softdat::AddReason(
              fmt::format("dat_ia_open({}) failed", softdat::Printable(request.name)));
          SOFTDAT_LOG_AREA(Warning, ConsumerApi, "{}", softdat::LastReasons());
          return result;
        }
        // The reference is given back even when there is no memory for the words of the failure.
        result = softdat::OrNoMemory(
            [&] {
              return OpenWith(entry, request, name, async_event_qlen, async_event_handle,
                              ia_handle);
            },
            kNoMemory);
        if (result != DAT_SUCCESS) TheRegistry().Release(entry);
        return result;
      },
      kNoMemory);
}

DAT_RETURN dat_ia_close(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS flags) {
  const softdat::CancelOff no_cancellation;
  return softdat::OrNoMemory(
      // The flags are passed on unchanged, because judging them is up to the provider.
      [&]() __attribute__((no_sanitize("enum")))->DAT_RETURN {
        DAT_IA_HANDLE object = nullptr;
        void* owner = nullptr;
        if (!g_ia_handles.BeginClose(ia_handle, &object, &owner)) {
          return BadHandle("dat_ia_close", DAT_INVALID_HANDLE_IA, ia_handle);
        }
        const auto index = reinterpret_cast<uintptr_t>(ia_handle);
        auto* entry = static_cast<Entry*>(owner);
        const DAT_RETURN result =
            CallSlot<&DAT_PROVIDER::ia_close_func>("dat_ia_close", TableOf(object), object, flags);
        if (result != DAT_SUCCESS) {
          g_ia_handles.CancelClose(index);
          return result;
        }
        g_ia_handles.Release(index);
        // The close also freed the objects of this IA.
        if (entry->arena.base == nullptr) g_handle_tables.ForgetAll();
        TheRegistry().Release(entry);
        return DAT_SUCCESS;
      },
      kNoMemory);
}

DAT_RETURN dat_ia_query(DAT_IA_HANDLE ia_handle, DAT_EVD_HANDLE* async_evd_handle,
                        DAT_IA_ATTR_MASK ia_attr_mask, DAT_IA_ATTR* ia_attr,
                        DAT_PROVIDER_ATTR_MASK provider_attr_mask,
                        DAT_PROVIDER_ATTR* provider_attr) {
  return CallIa<&DAT_PROVIDER::ia_query_func>("dat_ia_query", ia_handle, async_evd_handle,
                                              ia_attr_mask, ia_attr, provider_attr_mask,
                                              provider_attr);
}

DAT_RETURN dat_set_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT context) {
  return CallAny<&DAT_PROVIDER::set_consumer_context_func>("dat_set_consumer_context", dat_handle,
                                                           context);
}

DAT_RETURN dat_get_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT* context) {
  return CallAny<&DAT_PROVIDER::get_consumer_context_func>("dat_get_consumer_context", dat_handle,
                                                           context);
}

DAT_RETURN dat_get_handle_type(DAT_HANDLE dat_handle, DAT_HANDLE_TYPE* handle_type) {
  return CallAny<&DAT_PROVIDER::get_handle_type_func>("dat_get_handle_type", dat_handle,
                                                      handle_type);
}

DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE handle, DAT_IA_HANDLE* ia_handle) {
  return softdat::OrNoMemory(
      [&]() -> DAT_RETURN {
        if (ia_handle == nullptr) {
          return Refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                        "dats_get_ia_handle: no place for the result");
        }
        DAT_IA_HANDLE other = g_ia_handles.Find(handle);
        if (other == nullptr) other = g_ia_handles.FindObject(handle);
        if (other == nullptr) return BadHandle("dats_get_ia_handle", DAT_INVALID_HANDLE_IA, handle);
        *ia_handle = other;
        return DAT_SUCCESS;
      },
      kNoMemory);
}
