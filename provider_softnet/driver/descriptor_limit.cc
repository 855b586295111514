// SPDX-License-Identifier: BSD-3-Clause
// RaiseDescriptorLimit.
#include "provider_softnet/driver/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

#include "dat/base/fork_safe_once.h"
#include "dat/base/log.h"

namespace softdat::softnet {

bool RaiseDescriptorLimit() {
  const ForkSafeGuard guard;  // one thread at a time raises the limit
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return false;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, std::max<rlim_t>(before * 2, 1024));
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  SOFTDAT_LOG(Info, "out of descriptors: soft limit raised from {} to {} (hard limit {})", before,
              limit.rlim_cur, limit.rlim_max);
  return true;
}

}  // namespace softdat::softnet
