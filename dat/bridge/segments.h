// SPDX-License-Identifier: BSD-3-Clause
// The segments of a post, on the stack of the caller.
#ifndef SOFTDAT_DAT_BRIDGE_SEGMENTS_H_
#define SOFTDAT_DAT_BRIDGE_SEGMENTS_H_

#include "dat/bridge/attributes.h"
#include "dat/bridge/refused.h"
#include "dat/bridge/return_words.h"

namespace softdat::bridge {

// More segments than any provider takes. A larger number is refused with the same word that
// providers use for it.
inline constexpr dat12::DAT_COUNT kMostSegments = 256;
inline dat12::DAT_RETURN TooManySegments() {
  return Refused(
      DAT_CLASS_ERROR | uint32_t{dat12::DAT_INVALID_PARAMETER} | uint32_t{dat12::DAT_INVALID_ARG2},
      "more than 256 segments");
}

inline dat12::DAT_RETURN TooLong() {
  return Refused(DAT_CLASS_ERROR | uint32_t{dat12::DAT_LENGTH_ERROR},
                 "a segment is 4 GiB or longer, and providers of 2.0 accept only shorter ones");
}

// Calls `post` with the segments as 2.0 has them. An impossible count or array is passed on
// untouched, so that the provider refuses it at its usual place.
template <typename Post>
dat12::DAT_RETURN WithSegments(const dat12::DAT_LMR_TRIPLET* segments, dat12::DAT_COUNT count,
                               const Post& post) {
  if (count <= 0 || segments == nullptr) return ReturnTo12(post(nullptr));
  if (count > kMostSegments) return TooManySegments();
  ::DAT_LMR_TRIPLET translated[kMostSegments];
  for (dat12::DAT_COUNT i = 0; i < count; ++i) {
    if (!To2(segments[i], &translated[i])) return TooLong();
  }
  return ReturnTo12(post(translated));
}

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_SEGMENTS_H_
