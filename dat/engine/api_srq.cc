// SPDX-License-Identifier: BSD-3-Clause
// Slots of the shared receive queue.
#include "dat/engine/argument.h"
#include "dat/engine/guarded_slot.h"
#include "dat/engine/ia.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/slots.h"
#include "dat/engine/srq.h"

namespace softdat::engine::slots {

DAT_RETURN DAT_API SrqCreate(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR* attr,
                             DAT_SRQ_HANDLE* srq_handle) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  const Pinned<Pz> pz(pz_handle);
  if (!pz || &pz->ia() != ia.get()) return BadHandle(DAT_INVALID_HANDLE_PZ);
  if (attr == nullptr) return BadArgument(3);
  if (srq_handle == nullptr) return BadArgument(4);
  const transport::AdapterAttributes& limits = ia->attributes();
  if (!limits.srq) return Error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE, "this IA has no SRQs");
  if (attr->max_recv_dtos <= 0 ||
      static_cast<uint32_t>(attr->max_recv_dtos) > limits.max_srq_depth) {
    return BadArgument(3, "max_recv_dtos must be 1 to " + std::to_string(limits.max_srq_depth));
  }
  if (attr->max_recv_iov <= 0 || static_cast<uint32_t>(attr->max_recv_iov) > limits.max_iov) {
    return BadArgument(3, "max_recv_iov must be 1 to " + std::to_string(limits.max_iov));
  }
  if (attr->low_watermark != DAT_SRQ_LW_DEFAULT) {
    return BadArgument(3, "low_watermark must be DAT_SRQ_LW_DEFAULT at creation");
  }
  Srq* srq = nullptr;
  const DAT_RETURN ret = Srq::Create(ia.get(), pz.get(), *attr, &srq);
  if (ret == DAT_SUCCESS) *srq_handle = srq->handle();
  return ret;
}

DAT_RETURN DAT_API SrqQuery(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK mask,
                            DAT_SRQ_PARAM* param) {
  const Pinned<Srq> srq(srq_handle);
  if (!srq) return BadHandle(DAT_INVALID_HANDLE_SRQ);
  if ((mask & ~DAT_SRQ_FIELD_ALL) != 0) return BadArgument(2);
  if (param == nullptr) return BadArgument(3);
  srq->Query(param);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API SrqPostRecv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments,
                               DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE cookie) try {
  const Pinned<Srq> srq(srq_handle);
  if (!srq) [[unlikely]]
    return BadHandle(DAT_INVALID_HANDLE_SRQ);
  if (static_cast<uint32_t>(num_segments) > srq->max_iov()) [[unlikely]]
    return BadArgument(2);
  if (local_iov == nullptr && num_segments != 0) [[unlikely]]
    return BadArgument(3);
  transport::ReceiveRequest request;
  request.cookie = cookie.as_64;
  request.local = {local_iov, static_cast<size_t>(num_segments)};
  const Code code = srq->PostReceive(request);
  if (code != Code::kOk) [[unlikely]]
    return ToDat(code, Subject::kSrq);
  return DAT_SUCCESS;
} catch (const std::bad_alloc&) {
  return kNoMemory;
}

DAT_RETURN DAT_API SrqResize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT max_recv_dtos) {
  const Pinned<Srq> srq(srq_handle);
  if (!srq) return BadHandle(DAT_INVALID_HANDLE_SRQ);
  const uint32_t limit = srq->ia().attributes().max_srq_depth;
  if (max_recv_dtos <= 0) return BadArgument(2);
  if (static_cast<uint32_t>(max_recv_dtos) > limit) {
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ,
                 "an SRQ of this IA holds at most " + std::to_string(limit) + " receives");
  }
  return srq->Resize(max_recv_dtos);
}

DAT_RETURN DAT_API SrqSetLw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark) {
  const Pinned<Srq> srq(srq_handle);
  if (!srq) return BadHandle(DAT_INVALID_HANDLE_SRQ);
  if (low_watermark < 0) return BadArgument(2);
  return srq->SetLowWatermark(low_watermark);
}

DAT_RETURN DAT_API SrqFree(DAT_SRQ_HANDLE srq_handle) {
  const Pinned<Srq> srq(srq_handle);
  if (!srq) return BadHandle(DAT_INVALID_HANDLE_SRQ);
  return srq->Free();
}

}  // namespace softdat::engine::slots
