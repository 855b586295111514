// SPDX-License-Identifier: BSD-3-Clause
// Which region a context names.
#include "dat/bridge/regions.h"

#include <cstddef>
#include <iterator>
#include <mutex>

namespace softdat::bridge {

void Regions::Add(DAT_LMR_CONTEXT context, DAT_IA_HANDLE ia, DAT_LMR_HANDLE lmr) {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  ForgetLocked(lmr, next_number_);  // forgets a region that was freed with its IA
  const auto known = contexts_.emplace(lmr, context).first;
  try {
    by_context_.emplace(context, Region{ia, lmr, next_number_++});
  } catch (...) {
    contexts_.erase(known);
    throw;
  }
}

void Regions::Forget(DAT_LMR_HANDLE lmr, uint64_t before) {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  ForgetLocked(lmr, before);
}

void Regions::ForgetLocked(DAT_LMR_HANDLE lmr, uint64_t before) {
  const auto context = contexts_.find(lmr);
  if (context == contexts_.end()) return;
  const auto [first, last] = by_context_.equal_range(context->second);
  for (auto it = first; it != last; ++it) {
    if (it->second.lmr != lmr) continue;
    if (it->second.number >= before) return;
    by_context_.erase(it);
    contexts_.erase(context);
    return;
  }
}

uint64_t Regions::Now() const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  return next_number_;
}

void Regions::ForgetIa(DAT_IA_HANDLE ia, uint64_t before) {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  for (auto it = by_context_.begin(); it != by_context_.end();) {
    if (it->second.ia != ia || it->second.number >= before) {
      ++it;
      continue;
    }
    contexts_.erase(it->second.lmr);
    it = by_context_.erase(it);
  }
}

Regions::Found Regions::FindOnly(DAT_LMR_CONTEXT context) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto [first, last] = by_context_.equal_range(context);
  if (first == last || std::next(first) != last) return {};
  return {first->second.lmr, first->second.ia};
}

Regions::Found Regions::Find(DAT_LMR_CONTEXT context, DAT_IA_HANDLE ia) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto [first, last] = by_context_.equal_range(context);
  const Region* found = nullptr;
  for (auto it = first; it != last; ++it) {
    const Region& region = it->second;
    // A region that was freed may still be listed when another one already has its context. The
    // latest counts.
    if (region.ia == ia && (found == nullptr || region.number > found->number)) found = &region;
  }
  return found != nullptr ? Found{found->lmr, ia} : Found{};
}

// Never destroyed, because calls may be under way while the process exits.
Regions& TheRegions() {
  alignas(Regions) static std::byte storage[sizeof(Regions)];
  static Regions& only = *new (storage) Regions;
  return only;
}

}  // namespace softdat::bridge
