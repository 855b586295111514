// SPDX-License-Identifier: BSD-3-Clause
// The paths of dispatch that end in a failure.
#include "dat/registry/dispatch.h"

#include <fmt/format.h>

#include "dat/base/no_memory.h"
#include "dat/registry/dat_return.h"

namespace softdat::registry {

DAT_RETURN BadHandle(const char* call, DAT_RETURN_SUBTYPE expected, DAT_HANDLE handle) {
  return OrNoMemory(
      [&] {
        return Refuse(DAT_INVALID_HANDLE, expected,
                      fmt::format("{}: {} is not a handle of an open IA or of an object of one",
                                  call, fmt::ptr(handle)));
      },
      DatError(DAT_INVALID_HANDLE, expected));
}

DAT_RETURN EmptySlot(const char* call) {
  return OrNoMemory(
      [&] {
        return Refuse(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE,
                      fmt::format("{}: the provider has no such function", call));
      },
      DatError(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE));
}

}  // namespace softdat::registry
