// SPDX-License-Identifier: BSD-3-Clause
// The reference model of an EVD with a CNO. It is simple enough to be obviously right: it says what
// each call must answer when one thread makes the calls one after the other (semantics 5, 6).
#ifndef SOFTDAT_TESTS_MODEL_EVD_MODEL_H_
#define SOFTDAT_TESTS_MODEL_EVD_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>

namespace softdat::model {

enum class Answer : uint8_t { kOk, kEmpty, kFull, kTimeout, kInvalidState };

struct EvdModel {
  std::deque<uint64_t> queue;
  size_t capacity;
  bool enabled = true;
  bool waitable = true;
  bool attached = true;    // to the CNO
  bool triggered = false;  // the CNO

  explicit EvdModel(size_t entries) : capacity(entries) {}

  Answer Post(uint64_t id) {
    if (queue.size() == capacity) return Answer::kFull;
    queue.push_back(id);
    if (attached && enabled) triggered = true;
    return Answer::kOk;
  }
  Answer Dequeue(uint64_t* id) {
    if (queue.empty()) return Answer::kEmpty;
    *id = queue.front();
    queue.pop_front();
    return Answer::kOk;
  }
  // A wait with timeout 0. nmore is defined unless the state is wrong.
  Answer Wait(size_t threshold, uint64_t* id, size_t* nmore) {
    if (!waitable) return Answer::kInvalidState;
    *nmore = queue.size();
    if (queue.size() < threshold) return Answer::kTimeout;
    --*nmore;
    return Dequeue(id);
  }
  void Enable(bool on) {
    enabled = on;
    TriggerIfPending();
  }
  void Attach(bool on) {
    attached = on;
    TriggerIfPending();
  }
  Answer Resize(size_t entries) {
    if (queue.size() > entries) return Answer::kInvalidState;
    capacity = entries;
    return Answer::kOk;
  }
  // A CNO may wake without need as long as there is something to find. It may never miss a trigger.
  bool MustWake() const { return triggered; }
  bool MayWake() const { return triggered || (attached && enabled && !queue.empty()); }
  void Woken() { triggered = false; }

 private:
  void TriggerIfPending() {
    if (attached && enabled && !queue.empty()) triggered = true;
  }
};

}  // namespace softdat::model

#endif  // SOFTDAT_TESTS_MODEL_EVD_MODEL_H_
