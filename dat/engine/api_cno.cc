// SPDX-License-Identifier: BSD-3-Clause
// Slots of the CNO.
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

DAT_RETURN Create(Ia* ia, Cno::Kind kind, const DAT_OS_WAIT_PROXY_AGENT& agent, int fd,
                  DAT_CNO_HANDLE* handle) {
  // The CNO owns the descriptor from here on.
  Cno* cno = new (std::nothrow) Cno(ia, kind, agent, fd);
  if (cno == nullptr) {
    if (fd >= 0) close(fd);
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY, "no memory for a CNO");
  }
  if (!cno->Publish()) {
    cno->DropRef();
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY, "no free handle");
  }
  *handle = cno->handle();
  return DAT_SUCCESS;
}

}  // namespace

DAT_RETURN DAT_API CnoCreate(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
                             DAT_CNO_HANDLE* cno_handle) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  if (cno_handle == nullptr) return BadArgument(3);
  return Create(ia.get(), Cno::Kind::kAgent, agent, -1, cno_handle);
}

DAT_RETURN DAT_API CnoFdCreate(DAT_IA_HANDLE ia_handle, DAT_FD* fd, DAT_CNO_HANDLE* cno_handle) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  if (fd == nullptr) return BadArgument(2);
  if (cno_handle == nullptr) return BadArgument(3);
  const int event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event_fd < 0) {
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE,
                 std::string("eventfd: ") + std::strerror(errno));
  }
  const DAT_RETURN ret =
      Create(ia.get(), Cno::Kind::kFd, DAT_OS_WAIT_PROXY_AGENT_NULL, event_fd, cno_handle);
  if (ret == DAT_SUCCESS) *fd = event_fd;
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
