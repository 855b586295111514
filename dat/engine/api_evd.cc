// SPDX-License-Identifier: BSD-3-Clause
// Slots of the EVD.
#include <string>

#include "dat/engine/events/evd.h"
#include "dat/engine/events/evd_dequeue.h"
#include "dat/engine/guarded_slot.h"
#include "dat/engine/ia.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/slots.h"

namespace softdat::engine::slots {
namespace {

constexpr int kAllStreams = DAT_EVD_SOFTWARE_FLAG | DAT_EVD_CR_FLAG | DAT_EVD_DTO_FLAG |
                            DAT_EVD_CONNECTION_FLAG | DAT_EVD_RMR_BIND_FLAG | DAT_EVD_ASYNC_FLAG;

}  // namespace

DAT_RETURN DAT_API EvdCreate(DAT_IA_HANDLE ia_handle, DAT_COUNT min_qlen, DAT_CNO_HANDLE cno_handle,
                             DAT_EVD_FLAGS flags, DAT_EVD_HANDLE* evd_handle) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  if (min_qlen <= 0) return BadArgument(2, "an EVD needs at least one entry");
  const Pinned<Cno> cno(cno_handle);
  if (cno_handle != DAT_HANDLE_NULL && !cno) return BadHandle(DAT_INVALID_HANDLE_CNO);
  if ((flags & kAllStreams) == 0 || (flags & ~kAllStreams) != 0) {
    return BadArgument(4, "EVD flags name no stream, or one that does not exist");
  }
  if (evd_handle == nullptr) return BadArgument(5);
  Evd* evd = nullptr;
  const DAT_RETURN ret = Evd::Create(ia.get(), min_qlen, cno.get(), flags, &evd);
  if (ret == DAT_SUCCESS) *evd_handle = evd->handle();
  return ret;
}

DAT_RETURN DAT_API EvdQuery(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK mask,
                            DAT_EVD_PARAM* param) {
  const Pinned<Evd> evd(evd_handle);
  if (!evd) return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  if ((mask & ~DAT_EVD_FIELD_ALL) != 0) return BadArgument(2);
  if (param == nullptr) return BadArgument(3);
  evd->Query(param);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API EvdModifyCno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle) {
  const Pinned<Evd> evd(evd_handle);
  if (!evd) return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  const Pinned<Cno> cno(cno_handle);
  if (cno_handle != DAT_HANDLE_NULL && !cno) return BadHandle(DAT_INVALID_HANDLE_CNO);
  return evd->ModifyCno(cno.get());
}

DAT_RETURN DAT_API EvdEnable(DAT_EVD_HANDLE evd_handle) {
  const Pinned<Evd> evd(evd_handle);
  if (!evd) return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  evd->SetEnabled(true);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API EvdDisable(DAT_EVD_HANDLE evd_handle) {
  const Pinned<Evd> evd(evd_handle);
  if (!evd) return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  evd->SetEnabled(false);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API EvdSetUnwaitable(DAT_EVD_HANDLE evd_handle) {
  const Pinned<Evd> evd(evd_handle);
  if (!evd) return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  evd->SetWaitable(false);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API EvdClearUnwaitable(DAT_EVD_HANDLE evd_handle) {
  const Pinned<Evd> evd(evd_handle);
  if (!evd) return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  evd->SetWaitable(true);
  return DAT_SUCCESS;
}

[[gnu::hot]] DAT_RETURN DAT_API EvdWait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout_us,
                                        DAT_COUNT threshold, DAT_EVENT* event, DAT_COUNT* nmore) {
  const Pinned<Evd> evd(evd_handle);
  if (!evd) return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  if (threshold <= 0) return BadArgument(3, "the threshold is at least 1");
  if (event == nullptr) return BadArgument(4);
  if (nmore == nullptr) return BadArgument(5);
  return evd->Wait(timeout_us, threshold, event, nmore);
}

[[gnu::hot]] DAT_RETURN DAT_API EvdDequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT* event) try {
  return Evd::Dequeue(evd_handle, event);
} catch (const std::bad_alloc&) {
  return kNoMemory;
}

DAT_RETURN DAT_API EvdPostSe(DAT_EVD_HANDLE evd_handle, const DAT_EVENT* event) {
  const Pinned<Evd> evd(evd_handle);
  if (!evd) return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  if (!evd->Accepts(DAT_EVD_SOFTWARE_FLAG))
    return BadArgument(1, "the EVD takes no software events");
  if (event == nullptr || event->event_number != DAT_SOFTWARE_EVENT) return BadArgument(2);
  return evd->PostSoftwareEvent(*event);
}

DAT_RETURN DAT_API EvdResize(DAT_EVD_HANDLE evd_handle, DAT_COUNT min_qlen) {
  const Pinned<Evd> evd(evd_handle);
  if (!evd) return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  if (min_qlen <= 0) return BadArgument(2, "an EVD needs at least one entry");
  const uint32_t limit = evd->ia().attributes().max_cq_depth;
  if (static_cast<uint32_t>(min_qlen) > limit) {
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD,
                 "an EVD of this IA has at most " + std::to_string(limit) + " entries");
  }
  return evd->Resize(min_qlen);
}

DAT_RETURN DAT_API EvdFree(DAT_EVD_HANDLE evd_handle) {
  const Pinned<Evd> evd(evd_handle);
  if (!evd) return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  return evd->Free();
}

}  // namespace softdat::engine::slots
