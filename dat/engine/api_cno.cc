// SPDX-License-Identifier: BSD-3-Clause
// Slots of the CNO.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "dat/engine/cno.h"
#include "dat/engine/dat_error.h"
#include "dat/engine/ia.h"
#include "dat/engine/slots.h"

namespace softdat::engine::slots {
namespace {

void Close(const Cno::Descriptors& descriptors) {
  if (descriptors.consumers >= 0) close(descriptors.consumers);
  if (descriptors.event >= 0 && descriptors.event != descriptors.consumers)
    close(descriptors.event);
}

DAT_RETURN Create(Ia* ia, Cno::Kind kind, const DAT_OS_WAIT_PROXY_AGENT& agent,
                  const Cno::Descriptors& descriptors, DAT_CNO_HANDLE* handle) {
  // The CNO owns the descriptors from here on.
  Cno* cno = new (std::nothrow) Cno(ia, kind, agent, descriptors);
  if (cno == nullptr) {
    Close(descriptors);
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY, "no memory for a CNO");
  }
  if (!cno->Publish()) {
    cno->DropRef();
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY, "no free handle");
  }
  *handle = cno->handle();
  return DAT_SUCCESS;
}

// A program that sleeps in its own loop is to be woken by the data themselves, not by a thread that
// has to be woken first. Without a descriptor to spare the eventfd does alone, by way of that
// thread.
int EpollSet(int event, int progress) {
  const int set = epoll_create1(EPOLL_CLOEXEC);
  if (set < 0) return event;
  for (const int fd : {event, progress}) {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &wanted) == 0) continue;
    close(set);
    return event;
  }
  return set;
}

}  // namespace

DAT_RETURN DAT_API CnoCreate(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
                             DAT_CNO_HANDLE* cno_handle) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  if (cno_handle == nullptr) return BadArgument(3);
  return Create(ia.get(), Cno::Kind::kAgent, agent, {}, cno_handle);
}

DAT_RETURN DAT_API CnoFdCreate(DAT_IA_HANDLE ia_handle, DAT_FD* fd, DAT_CNO_HANDLE* cno_handle) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  if (fd == nullptr) return BadArgument(2);
  if (cno_handle == nullptr) return BadArgument(3);
  Cno::Descriptors descriptors;
  descriptors.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptors.event < 0) {
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE,
                 std::string("eventfd: ") + std::strerror(errno));
  }
  const int progress = ia->adapter().ProgressDescriptor();
  descriptors.consumers = progress >= 0 ? EpollSet(descriptors.event, progress) : descriptors.event;
  const DAT_RETURN ret =
      Create(ia.get(), Cno::Kind::kFd, DAT_OS_WAIT_PROXY_AGENT_NULL, descriptors, cno_handle);
  if (ret == DAT_SUCCESS) *fd = descriptors.consumers;
  return ret;
}

DAT_RETURN DAT_API CnoModifyAgent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent) {
  const Pinned<Cno> cno(cno_handle);
  if (!cno) return BadHandle(DAT_INVALID_HANDLE_CNO);
  cno->SetAgent(agent);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API CnoQuery(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK mask,
                            DAT_CNO_PARAM* param) {
  const Pinned<Cno> cno(cno_handle);
  if (!cno) return BadHandle(DAT_INVALID_HANDLE_CNO);
  // The published mask values are an enumeration, not bits: 1, 2, 3 and 4 for all; with | they
  // reach 7.
  if ((mask & ~0x7) != 0) return BadArgument(2);
  if (param == nullptr) return BadArgument(3);
  return cno->Query(param);
}

DAT_RETURN DAT_API CnoWait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout_us,
                           DAT_EVD_HANDLE* evd_handle) {
  const Pinned<Cno> cno(cno_handle);
  if (!cno) return BadHandle(DAT_INVALID_HANDLE_CNO);
  if (evd_handle == nullptr) return BadArgument(3);
  return cno->Wait(timeout_us, evd_handle);
}

DAT_RETURN DAT_API CnoTrigger(DAT_CNO_HANDLE cno_handle, DAT_EVD_HANDLE* evd_handle) {
  const Pinned<Cno> cno(cno_handle);
  if (!cno) return BadHandle(DAT_INVALID_HANDLE_CNO);
  if (evd_handle == nullptr) return BadArgument(2);
  return cno->Collect(evd_handle);
}

DAT_RETURN DAT_API CnoFree(DAT_CNO_HANDLE cno_handle) {
  const Pinned<Cno> cno(cno_handle);
  if (!cno) return BadHandle(DAT_INVALID_HANDLE_CNO);
  return cno->Free();
}

}  // namespace softdat::engine::slots
