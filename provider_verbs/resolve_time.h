// SPDX-License-Identifier: BSD-3-Clause
// How long one attempt to resolve an address or a route may take.
#ifndef SOFTDAT_PROVIDER_VERBS_RESOLVE_TIME_H_
#define SOFTDAT_PROVIDER_VERBS_RESOLVE_TIME_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "dat/transport/transport.h"

namespace softdat::verbs {

// The rest of a connect timeout, but four seconds at most.
inline int ResolveTimeMs(transport::Clock::time_point deadline) {
  constexpr int64_t kMost = 4000;
  if (deadline == transport::kForever) return static_cast<int>(kMost);
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - transport::Clock::now())
          .count();
  return static_cast<int>(std::clamp<int64_t>(left, 1, kMost));
}

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_RESOLVE_TIME_H_
