// SPDX-License-Identifier: BSD-3-Clause
// A set of few elements, in order. It keeps its memory when it becomes empty, so that what enters
// and leaves it with each message costs no allocation.
#ifndef SOFTDAT_RDS_SOCKET_SMALL_SET_H_
#define SOFTDAT_RDS_SOCKET_SMALL_SET_H_

#include <algorithm>
#include <functional>
#include <vector>

namespace softdat::rds {

template <typename T, typename Less = std::less<T>>
class SmallSet {
 public:
  void insert(const T& value) {
    // Most are there already, as the only one.
    if (!values_.empty() && values_.back() == value) return;
    const auto at = Place(value);
    if (at == values_.end() || Less()(value, *at)) values_.insert(at, value);
  }
  void erase(const T& value) {
    const auto at = Place(value);
    if (at != values_.end() && !Less()(value, *at)) values_.erase(at);
  }
  // The first one, which leaves the set. Not to be called on an empty one.
  T TakeFirst() {
    const T first = values_.front();
    values_.erase(values_.begin());
    return first;
  }
  void clear() { values_.clear(); }
  void swap(SmallSet& other) noexcept { values_.swap(other.values_); }

  bool contains(const T& value) const {
    return std::binary_search(values_.begin(), values_.end(), value, Less());
  }
  bool empty() const { return values_.empty(); }
  size_t size() const { return values_.size(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  auto Place(const T& value) {
    return std::lower_bound(values_.begin(), values_.end(), value, Less());
  }

  std::vector<T> values_;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_SMALL_SET_H_
