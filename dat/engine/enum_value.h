// SPDX-License-Identifier: BSD-3-Clause
// Enumerations as consumers pass them, which may hold any 32 bits. C++ does not define what happens
// when an enumeration outside its range is read. So unchecked ones are read as the integers that
// they are in the C interface.
#ifndef SOFTDAT_DAT_ENGINE_ENUM_VALUE_H_
#define SOFTDAT_DAT_ENGINE_ENUM_VALUE_H_

#include <cstring>
#include <type_traits>

namespace softdat::engine {

template <typename Enum>
int RawValue(const Enum& e) {
  static_assert(std::is_enum_v<Enum> && sizeof(Enum) == sizeof(int));
  int value;
  std::memcpy(&value, &e, sizeof(value));
  return value;
}

// Copies an unchecked enumeration.
template <typename Enum>
void CopyRaw(const Enum& from, Enum* to) {
  static_assert(std::is_enum_v<Enum>);
  std::memcpy(to, &from, sizeof(from));
}

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_ENUM_VALUE_H_
