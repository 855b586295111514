// SPDX-License-Identifier: BSD-3-Clause
// The descriptor of a CNO, for a program that sleeps in a loop of its own.
#ifndef SOFTDAT_DAT_ENGINE_CNO_DESCRIPTOR_H_
#define SOFTDAT_DAT_ENGINE_CNO_DESCRIPTOR_H_

#include <utility>

namespace softdat::engine {

// An eventfd that says "triggered". What the consumer has is the eventfd itself or, so that the
// data themselves wake the program and not a thread that has to be woken first, an epoll set of it
// and the adapter's progress descriptor. None at all in a CNO of the other kind.
class CnoDescriptor {
 public:
  CnoDescriptor() = default;
  ~CnoDescriptor();
  CnoDescriptor(CnoDescriptor&& other) noexcept
      : event_(std::exchange(other.event_, -1)), set_(std::exchange(other.set_, -1)) {}
  CnoDescriptor& operator=(CnoDescriptor&&) = delete;

  // Makes the eventfd. False, with errno, when there is no descriptor left.
  bool Open();
  // Makes the consumer's descriptor readable while `progress` is. False, and nothing is different,
  // when there is no descriptor left.
  bool Include(int progress);

  bool open() const { return event_ >= 0; }
  bool includes_progress() const { return set_ >= 0; }
  int consumers() const { return set_ >= 0 ? set_ : event_; }

  // Make it readable, and not by the trigger. Neither blocks nor fails; calls of them alternate.
  void Set() const;
  void Clear() const;

 private:
  int event_ = -1;
  int set_ = -1;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_CNO_DESCRIPTOR_H_
