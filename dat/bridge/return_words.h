// SPDX-License-Identifier: BSD-3-Clause
// Return words between uDAPL 1.2 and 2.0. Types have the same numbers in both, subtypes do not.
#ifndef SOFTDAT_DAT_BRIDGE_RETURN_WORDS_H_
#define SOFTDAT_DAT_BRIDGE_RETURN_WORDS_H_

#include <cstdint>

#include "dat/bridge/dat12.h"
// The types of 1.2 must come before the headers of 2.0.
#include <dat2/udat.h>

namespace softdat::bridge {

// What a 2.0 call returned, as 1.2 says it. Types that 1.2 does not have become the nearest that it
// has: PORT_IN_USE becomes CONN_QUAL_IN_USE, COMM_NOT_SUPPORTED becomes MODEL_NOT_SUPPORTED, types
// of extensions become INTERNAL_ERROR. A subtype that 1.2 does not have is left out.
dat12::DAT_RETURN FailureTo12(::DAT_RETURN word);
[[gnu::always_inline]] inline dat12::DAT_RETURN ReturnTo12(::DAT_RETURN word) {
  return word == ::DAT_SUCCESS ? dat12::DAT_RETURN{dat12::DAT_SUCCESS} : FailureTo12(word);
}

// What a call returns when an allocation in it fails.
inline constexpr dat12::DAT_RETURN kNoMemory = dat12::kDAT_CLASS_ERROR |
                                               uint32_t{dat12::DAT_INSUFFICIENT_RESOURCES} |
                                               uint32_t{dat12::DAT_RESOURCE_MEMORY};

// A word about the n-th argument of a 2.0 call, which is argument `position(n)` in 1.2.
template <typename Position>
dat12::DAT_RETURN MovedArgument(::DAT_RETURN word, const Position& position) {
  constexpr uint32_t kFirst = ::DAT_INVALID_ARG1;
  constexpr uint32_t kLast = ::DAT_INVALID_ARG10;
  const uint32_t subtype = DAT_GET_SUBTYPE(word);
  if (DAT_GET_TYPE(word) != ::DAT_INVALID_PARAMETER || subtype < kFirst || subtype > kLast)
    return ReturnTo12(word);
  const uint32_t argument = position(subtype - kFirst + 1);
  return ReturnTo12(word - subtype + kFirst + argument - 1);
}

// A word of 1.2 in 2.0, for its texts. A subtype that 1.2 does not know becomes one that 2.0 does
// not know either.
::DAT_RETURN ReturnTo2(dat12::DAT_RETURN word);

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_RETURN_WORDS_H_
