// SPDX-License-Identifier: BSD-3-Clause
// syscall().
#include "tests/field/counted_syscall.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <unistd.h>

extern "C" [[gnu::visibility("default")]] long syscall(long number, ...) noexcept {
  static auto* const libcs = reinterpret_cast<decltype(&syscall)>(dlsym(RTLD_NEXT, "syscall"));
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& each : a) each = va_arg(list, long);
  va_end(list);
  const long result = libcs(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  softdat::field::CountCall(number, result);
  return result;
}
