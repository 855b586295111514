// SPDX-License-Identifier: BSD-3-Clause
// The edge of a library that C programs call. A failed allocation becomes an error value here,
// because an exception must not pass through the frames of C.
#ifndef SOFTDAT_DAT_BASE_NO_MEMORY_H_
#define SOFTDAT_DAT_BASE_NO_MEMORY_H_

#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "dat/base/reason.h"

namespace softdat {

// Returns the answer of `call`. Returns `failure`, with a reason, when an allocation in it failed
// or was asked to be larger than any can be, or when a thread could not be started. It costs
// nothing otherwise. It catches nothing else, because a cancelled thread unwinds through here, too.
template <typename Call, typename Value>
[[gnu::always_inline]] inline Value OrNoMemory(Call&& call, Value failure) {
  try {
    return std::forward<Call>(call)();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  } catch (const std::system_error&) {
  }
  SetReason("the process is out of memory or threads");
  return failure;
}

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_NO_MEMORY_H_
