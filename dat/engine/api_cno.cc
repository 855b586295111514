// SPDX-License-Identifier: BSD-3-Clause
// Slots of the CNO.
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "dat/engine/events/cno.h"
#include "dat/engine/ia.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/slots.h"

namespace softdat::engine::slots {
namespace {

// The CNO owns `descriptor` from here on.
DAT_RETURN Create(Ia* ia, Cno::Kind kind, const DAT_OS_WAIT_PROXY_AGENT& agent,
                  CnoDescriptor descriptor, DAT_CNO_HANDLE* handle) {
  Cno* cno = new (std::nothrow) Cno(ia, kind, agent, std::move(descriptor));
  if (cno == nullptr)
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY, "no memory for a CNO");
  if (!cno->Publish()) {
    cno->Discard();
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY, NoHandleReason());
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
  return Create(ia.get(), Cno::Kind::kAgent, agent, {}, cno_handle);
}

DAT_RETURN DAT_API CnoFdCreate(DAT_IA_HANDLE ia_handle, DAT_FD* fd, DAT_CNO_HANDLE* cno_handle) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  if (fd == nullptr) return BadArgument(2);
  if (cno_handle == nullptr) return BadArgument(3);
  CnoDescriptor descriptor;
  if (!descriptor.Open()) {
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE,
                 std::string("eventfd: ") + std::strerror(errno));
  }
  // Without the progress descriptor the eventfd is enough, because threads of the back end then
  // signal it.
  if (const int progress = ia->ClaimProgressDescriptor();
      progress >= 0 && !descriptor.Include(progress)) {
    ia->ReleaseProgressDescriptor();
  }
  const int consumers = descriptor.consumers();
  const bool included = descriptor.includes_progress();
  const DAT_RETURN ret = Create(ia.get(), Cno::Kind::kFd, DAT_OS_WAIT_PROXY_AGENT_NULL,
                                std::move(descriptor), cno_handle);
  if (ret == DAT_SUCCESS) {
    *fd = consumers;
  } else if (included) {
    ia->ReleaseProgressDescriptor();
  }
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
  // The published mask values are an enumeration, not bits: 1, 2, 3, and 4 for everything. Combined
  // with | they reach 7.
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
