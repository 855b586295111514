// SPDX-License-Identifier: BSD-3-Clause
// Which thread counts where.
#include "provider_softnet/driver/striped_counter.h"

#include "dat/base/thread_local.h"

namespace softdat::softnet {
namespace {

std::atomic<uint32_t> g_threads{0};
constinit thread_local uint32_t t_number SOFTDAT_EARLY_TLS = 0;  // from 1 on

}  // namespace

size_t StripedCounter::StripeOfThisThread() {
  if (t_number == 0) [[unlikely]]
    t_number = g_threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return t_number % kStripes;
}

}  // namespace softdat::softnet
