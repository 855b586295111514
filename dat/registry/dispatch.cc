// SPDX-License-Identifier: BSD-3-Clause
// The failing ends of dispatch.
#include "dat/registry/dispatch.h"

#include <fmt/format.h>

#include "dat/registry/dat_return.h"

namespace softdat::registry {

DAT_RETURN BadHandle(const char* call, DAT_RETURN_SUBTYPE expected, DAT_HANDLE handle) {
  return Refuse(DAT_INVALID_HANDLE, expected,
                fmt::format("{}: {} is not a handle of an open IA or of an object of one", call,
                            fmt::ptr(handle)));
}

DAT_RETURN EmptySlot(const char* call) {
  return Refuse(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE,
                fmt::format("{}: the provider has no such function", call));
}

}  // namespace softdat::registry
