// SPDX-License-Identifier: BSD-3-Clause
// The descriptor of a CNO, for a program that sleeps in a loop of its own.
#ifndef SOFTDAT_DAT_ENGINE_EVENTS_CNO_DESCRIPTOR_H_
#define SOFTDAT_DAT_ENGINE_EVENTS_CNO_DESCRIPTOR_H_

#include <utility>

namespace softdat::engine {

// An eventfd that says "triggered". The consumer gets the eventfd itself, or an epoll set of it and
// the adapter's progress descriptor. With the epoll set the data themselves wake the program,
// instead of a thread that has to be woken first. A CNO of the other kind has no descriptor.
class CnoDescriptor {
 public:
  CnoDescriptor() = default;
  ~CnoDescriptor();
  CnoDescriptor(CnoDescriptor&& other) noexcept
      : event_(std::exchange(other.event_, -1)), set_(std::exchange(other.set_, -1)) {}
  CnoDescriptor& operator=(CnoDescriptor&&) = delete;

  // Makes the eventfd. Returns false, with errno, when there is no descriptor left.
  bool Open();
  // Makes the consumer's descriptor readable while `progress` is. Returns false, and changes
  // nothing, when there is no descriptor left.
  bool Include(int progress);

  bool open() const { return event_ >= 0; }
  bool includes_progress() const { return set_ >= 0; }
  int consumers() const { return set_ >= 0 ? set_ : event_; }

  // Make the eventfd readable, and unreadable again. Neither blocks nor fails. The two calls
  // alternate.
  void Set() const;
  void Clear() const;

 private:
  int event_ = -1;
  int set_ = -1;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EVENTS_CNO_DESCRIPTOR_H_
