// SPDX-License-Identifier: BSD-3-Clause
// The descriptor of a CNO.
#include "dat/engine/events/cno_descriptor.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "dat/base/descriptor.h"

namespace softdat::engine {

CnoDescriptor::~CnoDescriptor() {
  if (set_ >= 0) close(set_);
  if (event_ >= 0) close(event_);
}

bool CnoDescriptor::Open() {
  event_ = AboveStandard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return event_ >= 0;
}

bool CnoDescriptor::Include(int progress) {
  const int set = AboveStandard(epoll_create1(EPOLL_CLOEXEC));
  if (set < 0) return false;
  for (const int fd : {event_, progress}) {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &wanted) == 0) continue;
    close(set);
    return false;
  }
  set_ = set;
  return true;
}

void CnoDescriptor::Set() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(event_, &one, sizeof(one));
}

void CnoDescriptor::Clear() const {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = read(event_, &count, sizeof(count));
}

}  // namespace softdat::engine
