// SPDX-License-Identifier: BSD-3-Clause
// The clock of a simulation. Events are carried out in the order of their time. Events of the same
// time are carried out in the order in which they were asked for. Time passes only from one event
// to the next.
#ifndef SOFTDAT_TESTS_SIM_VIRTUAL_TIME_H_
#define SOFTDAT_TESTS_SIM_VIRTUAL_TIME_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace softdat::sim {

class VirtualTime {
 public:
  using Id = uint64_t;  // of an event; 0 is none
  using Event = std::function<void()>;

  uint64_t now_us() const { return now_us_; }
  // An event that is due in the past is due now.
  Id At(uint64_t at_us, Event event) {
    const Id id = ++last_id_;
    at_us = std::max(at_us, now_us_);
    events_.emplace(std::pair(at_us, id), std::move(event));
    due_us_.emplace(id, at_us);
    return id;
  }
  Id After(uint64_t delay_us, Event event) { return At(now_us_ + delay_us, std::move(event)); }
  // Does nothing for an event that was carried out, and for 0.
  void Cancel(Id id) {
    const auto due = due_us_.find(id);
    if (due == due_us_.end()) return;
    events_.erase({due->second, id});
    due_us_.erase(due);
  }
  // Goes to the next event and carries it out. Returns false if there is none.
  bool Step() {
    if (events_.empty()) return false;
    auto next = events_.extract(events_.begin());
    now_us_ = next.key().first;
    due_us_.erase(next.key().second);
    next.mapped()();
    return true;
  }
  // Carries out the events that are due up to then.
  void RunUntil(uint64_t until_us) {
    while (!events_.empty() && events_.begin()->first.first <= until_us) Step();
    now_us_ = std::max(now_us_, until_us);
  }
  size_t pending() const { return events_.size(); }

 private:
  uint64_t now_us_ = 0;
  Id last_id_ = 0;
  std::map<std::pair<uint64_t, Id>, Event> events_;
  std::map<Id, uint64_t> due_us_;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_VIRTUAL_TIME_H_
