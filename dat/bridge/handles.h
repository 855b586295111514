// SPDX-License-Identifier: BSD-3-Clause
// Handles of uDAPL 1.2 for objects of 2.0 providers: the 2.0 handle with a mark. Nothing is looked
// up and nothing is stored. The object stays what it is, with the consumer's context in it. Each
// version refuses the other's handles: 1.2 finds no mark, and 2.0 finds an address that no object
// can have.
//
//   object of a provider   an address, aligned to 8   the same + 4
//   IA                     1 to 4095                  the same + 4096
//   DAT_HANDLE_NULL, DAT_EVD_ASYNC_EXISTS, DAT_EVD_OUT_OF_SCOPE are the same in both
#ifndef SOFTDAT_DAT_BRIDGE_HANDLES_H_
#define SOFTDAT_DAT_BRIDGE_HANDLES_H_

#include <bit>
#include <cstdint>

namespace softdat::bridge {

using Handle = void*;  // DAT_HANDLE in both

inline constexpr uintptr_t kObjectMark = 4;
inline constexpr uintptr_t kObjectMarkBits = 7;
inline constexpr uintptr_t kIaMark = 4096;  // also the number of IA handles of 2.0
// Linux lets nothing be mapped below this address (vm.mmap_min_addr). The numbers of IAs lie there.
inline constexpr uintptr_t kLowestObject = 65536;

// The object of 2.0 behind a handle of 1.2, in four instructions. Returns false for anything else.
[[gnu::always_inline]] inline bool IsObject(Handle of_12, Handle* of_2) {
  const uintptr_t value = reinterpret_cast<uintptr_t>(of_12) - kObjectMark;
  *of_2 = reinterpret_cast<Handle>(value);
  // The rotation moves the bits that must be zero to the top. A value that has one of them set is
  // then too large.
  constexpr int kBits = std::popcount(kObjectMarkBits);
  constexpr uintptr_t kLeast = kLowestObject >> kBits;
  constexpr uintptr_t kMost = UINTPTR_MAX >> kBits;
  return std::rotr(value, kBits) - kLeast <= kMost - kLeast;
}

// The object that a call is about. Anything else becomes NULL, which every 2.0 library refuses.
[[gnu::always_inline]] inline Handle To2(Handle of_12) {
  Handle of_2 = nullptr;
  return IsObject(of_12, &of_2) ? of_2 : nullptr;
}

// Another argument of a call, where NULL may mean that there is none. A value that is not a handle
// becomes one that our providers refuse, because it is neither aligned nor an IA. (Foreign
// providers treat whatever they are given as an address, in programs of 2.0 as well.)
inline constexpr uintptr_t kNoHandle = kIaMark - 1;
inline Handle ArgumentTo2(Handle of_12) {
  Handle of_2 = nullptr;
  if (IsObject(of_12, &of_2)) return of_2;
  return of_12 == nullptr ? nullptr : reinterpret_cast<Handle>(kNoHandle);
}

// The same for an IA.
inline Handle IaTo2(Handle of_12) {
  const auto value = reinterpret_cast<uintptr_t>(of_12);
  const bool is_ia = value > kIaMark && value < 2 * kIaMark;
  return is_ia ? reinterpret_cast<Handle>(value - kIaMark) : nullptr;
}

// The same for any kind of object.
inline Handle AnyTo2(Handle of_12) {
  const Handle ia = IaTo2(of_12);
  return ia != nullptr ? ia : To2(of_12);
}

// The opposite direction, for objects and IAs. Small values that are not IAs pass unchanged.
inline Handle To12(Handle of_2) {
  const auto value = reinterpret_cast<uintptr_t>(of_2);
  if (value >= kIaMark) return reinterpret_cast<Handle>(value + kObjectMark);
  return of_2;
}

inline Handle IaTo12(Handle of_2) {
  const auto value = reinterpret_cast<uintptr_t>(of_2);
  return value > 0 && value < kIaMark ? reinterpret_cast<Handle>(value + kIaMark) : To12(of_2);
}

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_HANDLES_H_
