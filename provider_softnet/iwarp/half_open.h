// SPDX-License-Identifier: BSD-3-Clause
// Connections whose request has not arrived yet. Their number is bounded, so that peers which only
// connect take a bounded amount of memory. When one more comes, the oldest one is removed.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_HALF_OPEN_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_HALF_OPEN_H_

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <utility>

namespace softdat::softnet {

template <typename T>
class HalfOpen {
 public:
  explicit HalfOpen(size_t limit) : limit_(std::max<size_t>(limit, 1)) {}

  size_t size() const { return all_.size(); }
  // The one that must be removed with Take() before the next is added. Null while there is room.
  T* Surplus() const { return all_.size() < limit_ ? nullptr : all_.front().get(); }
  T* Add(std::unique_ptr<T> one) { return all_.emplace_back(std::move(one)).get(); }
  // Returns null when it is not in here (any more).
  std::unique_ptr<T> Take(const T* one) {
    const auto it =
        std::find_if(all_.begin(), all_.end(), [one](const auto& i) { return i.get() == one; });
    if (it == all_.end()) return nullptr;
    std::unique_ptr<T> taken = std::move(*it);
    all_.erase(it);
    return taken;
  }
  void Clear() { all_.clear(); }

 private:
  const size_t limit_;
  std::list<std::unique_ptr<T>> all_;  // oldest first
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_HALF_OPEN_H_
