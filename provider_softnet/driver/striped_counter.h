// SPDX-License-Identifier: BSD-3-Clause
// A count of what many threads do, for something that is read rarely. Each thread counts in a cache
// line of its own, so that threads on several processors do not take one from each other.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_STRIPED_COUNTER_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_STRIPED_COUNTER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace softdat::softnet {

class StripedCounter {
 public:
  // More threads share stripes.
  static constexpr size_t kStripes = 8;

  void Add() { stripes_[StripeOfThisThread()].count.fetch_add(1, std::memory_order_relaxed); }
  uint64_t Sum() const {
    uint64_t sum = 0;
    for (const Stripe& stripe : stripes_) sum += stripe.count.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  struct alignas(64) Stripe {
    std::atomic<uint64_t> count{0};
  };

  static size_t StripeOfThisThread();

  std::array<Stripe, kStripes> stripes_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_STRIPED_COUNTER_H_
