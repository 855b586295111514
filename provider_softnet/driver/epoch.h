// SPDX-License-Identifier: BSD-3-Clause
// What a post sees of the progress that was made before it (Driver::EpochFor).
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_EPOCH_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_EPOCH_H_

#include <cstdint>

namespace softdat::softnet {

struct Epoch {
  uint32_t common = 0;           // progress by whomever. It may wrap.
  const void* thread = nullptr;  // tells posting threads apart
  uint32_t polls = 0;            // of the posting thread. It may wrap.

  // Whether there was progress from `before` to this. Threads that post in turn go on with one
  // burst, unless one of them polls its queues in between.
  bool IsBehind(const Epoch& before) const {
    return common != before.common || (thread == before.thread && polls != before.polls);
  }
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_EPOCH_H_
