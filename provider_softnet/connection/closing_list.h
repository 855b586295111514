// SPDX-License-Identifier: BSD-3-Clause
// The links of an adapter that outlive their connections (ConnectionContext::CloseGently).
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CLOSING_LIST_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CLOSING_LIST_H_

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>

namespace softdat::softnet {

// A Closing has a number, id(), and can be told to Hurry(), which may take it out of the list.
// Everything here needs the token.
template <typename Closing>
class ClosingList {
 public:
  // The number of the next one. Never 0.
  uint64_t NextId() { return ++last_; }
  void Add(std::unique_ptr<Closing> closing) { list_.push_back(std::move(closing)); }
  void Hurry(uint64_t id) {
    if (const auto it = Find(id); it != list_.end()) (*it)->Hurry();
  }
  // Null when it is not in the list.
  std::unique_ptr<Closing> Take(uint64_t id) {
    const auto it = Find(id);
    if (it == list_.end()) return nullptr;
    std::unique_ptr<Closing> taken = std::move(*it);
    list_.erase(it);
    return taken;
  }
  // `condition` of each: whether it is destroyed now.
  template <typename Condition>
  void RemoveIf(Condition&& condition) {
    list_.remove_if([&](const auto& closing) { return condition(*closing); });
  }
  template <typename Function>
  void ForEach(Function&& function) {
    for (const auto& closing : list_) function(*closing);
  }
  bool empty() const { return list_.empty(); }
  void Clear() { list_.clear(); }

 private:
  auto Find(uint64_t id) {
    return std::find_if(list_.begin(), list_.end(), [id](const auto& c) { return c->id() == id; });
  }

  std::list<std::unique_ptr<Closing>> list_;
  uint64_t last_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CLOSING_LIST_H_
