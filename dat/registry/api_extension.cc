// SPDX-License-Identifier: BSD-3-Clause
// dat_extension_op: extended operations of providers (semantics 15.1).
#include <fmt/format.h>
#include <stdarg.h>
#include <string.h>

#include "dat/base/no_memory.h"
#include "dat/base/reason.h"
#include "dat/registry/dat_return.h"
#include "dat/registry/dispatch.h"
#include "dat/registry/registry.h"

namespace softdat::registry {
namespace {

constexpr char kCall[] = "dat_extension_op";

DAT_RETURN NoExtensions() {
  return Refuse(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE,
                fmt::format("{}: the provider has no extensions", kCall));
}

// Calls the provider if its table has the extension slot.
DAT_RETURN CallExtension(ProviderRef provider, DAT_HANDLE handle, DAT_EXTENDED_OP op,
                         va_list args) {
  if (!provider.has_extensions) return NoExtensions();
  return CallSlot<&DAT_PROVIDER::handle_extendedop_func>(kCall, provider.table, handle, op, args);
}

// Open-type operations take an IA name instead of a handle. The provider gets the name as its
// handle, followed by the arguments. Success leaves a reference, which a close-type operation
// drops.
DAT_RETURN OpenExtension(DAT_EXTENDED_OP op, const DAT_NAME_PTR name, va_list args) {
  if (name == nullptr || strnlen(name, DAT_NAME_MAX_LENGTH) == DAT_NAME_MAX_LENGTH) {
    return Refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
                  fmt::format("{}: the IA name is missing or longer than 255 bytes", kCall));
  }
  Entry* entry = nullptr;
  const ProviderKey request{name, DAT_VERSION_MAJOR, DAT_VERSION_MINOR, false};
  const DAT_RETURN found = TheRegistry().Acquire(request, &entry);
  if (found != DAT_SUCCESS) {
    softdat::AddReason(fmt::format("{}: the IA's provider cannot be loaded", kCall));
    return found;
  }
  const ProviderRef provider{entry->table, entry->exports.has_extensions};
  const DAT_RETURN result = CallExtension(provider, name, op, args);
  if (result == DAT_SUCCESS) {
    TheRegistry().KeepForExtension(entry);
    return result;
  }
  if (t_failed_provider == provider.table) {
    // The reasons are fetched first, because the release may unload the provider.
    softdat::SetReason(ProviderReason(entry->exports));
    softdat::AddReason(fmt::format("{}: the provider refused operation {:#x}", kCall, op));
    t_failed_provider = nullptr;
  }
  TheRegistry().Release(entry);
  return result;
}

DAT_RETURN CloseExtension(const AnyObject& any, DAT_EXTENDED_OP op, va_list args) {
  const DAT_RETURN result = CallExtension(any.provider, any.object, op, args);
  if (result != DAT_SUCCESS) return result;
  g_handle_tables.Forget(any.object);
  TheRegistry().ReleaseExtension(any.provider.table);
  return result;
}

DAT_RETURN Extension(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args) {
  if ((op & DAT_OPEN_EXTENSION_BASE) != 0) {
    const DAT_NAME_PTR name = va_arg(args, DAT_NAME_PTR);
    return OpenExtension(op, name, args);
  }
  const AnyObject any = FindAny(handle);
  if (!any.provider) return BadHandle(kCall, DAT_INVALID_HANDLE1, handle);
  if ((op & DAT_CLOSE_EXTENSION_BASE) != 0) return CloseExtension(any, op, args);
  return CallExtension(any.provider, any.object, op, args);
}

}  // namespace
}  // namespace softdat::registry

using namespace softdat::registry;  // NOLINT: this file is the C API of the registry

DAT_RETURN dat_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP ext_op, ...) {
  va_list args;
  va_start(args, ext_op);
  const DAT_RETURN result =
      softdat::OrNoMemory([&] { return Extension(handle, ext_op, args); }, kNoMemory);
  va_end(args);
  return result;
}
