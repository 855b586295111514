// SPDX-License-Identifier: BSD-3-Clause
// Slots of the endpoint: life, query, modification.
#include "dat/engine/argument.h"
#include "dat/engine/ep.h"
#include "dat/engine/ia.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/slots.h"
#include "dat/engine/srq.h"

namespace softdat::engine::slots {
namespace {

// The objects that an EP is created from, pinned for the length of the call.
class EpArguments {
 public:
  EpArguments(DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request, DAT_EVD_HANDLE connect)
      : pz_(pz), recv_(recv), request_(request), connect_(connect) {}

  DAT_RETURN Check(const Ia& ia) const {
    if (!pz_.ok() || (pz_.get() != nullptr && &pz_.get()->ia() != &ia))
      return BadHandle(DAT_INVALID_HANDLE_PZ);
    if (!TakesDtos(recv_, ia)) return BadHandle(DAT_INVALID_HANDLE_EVD_RECV);
    if (!TakesDtos(request_, ia)) return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
    if (!Takes(connect_, DAT_EVD_CONNECTION_FLAG)) return BadHandle(DAT_INVALID_HANDLE_EVD_CONN);
    return DAT_SUCCESS;
  }
  Ep::Parts parts() const {
    Ep::Parts p;
    p.pz = pz_.get();
    p.recv_evd = recv_.get();
    p.request_evd = request_.get();
    p.connect_evd = connect_.get();
    return p;
  }

 private:
  const Optional<Pz> pz_;
  const Optional<Evd> recv_;
  const Optional<Evd> request_;
  const Optional<Evd> connect_;
};

bool IsWatermark(DAT_COUNT n) { return n >= 0 || n == DAT_WATERMARK_INFINITE; }

}  // namespace

DAT_RETURN DAT_API EpCreate(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                            DAT_EVD_HANDLE recv_evd_handle, DAT_EVD_HANDLE request_evd_handle,
                            DAT_EVD_HANDLE connect_evd_handle, const DAT_EP_ATTR* attr,
                            DAT_EP_HANDLE* ep_handle) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  const EpArguments arguments(pz_handle, recv_evd_handle, request_evd_handle, connect_evd_handle);
  DAT_RETURN ret = arguments.Check(*ia);
  if (ret != DAT_SUCCESS) return ret;
  if (ep_handle == nullptr) return BadArgument(7);
  Ep* ep = nullptr;
  ret = Ep::Create(ia.get(), arguments.parts(), attr, DAT_EP_STATE_UNCONNECTED, &ep);
  if (ret == DAT_SUCCESS) *ep_handle = ep->handle();
  return ret;
}

DAT_RETURN DAT_API EpCreateWithSrq(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                   DAT_EVD_HANDLE recv_evd_handle,
                                   DAT_EVD_HANDLE request_evd_handle,
                                   DAT_EVD_HANDLE connect_evd_handle, DAT_SRQ_HANDLE srq_handle,
                                   const DAT_EP_ATTR* attr, DAT_EP_HANDLE* ep_handle) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  const EpArguments arguments(pz_handle, recv_evd_handle, request_evd_handle, connect_evd_handle);
  DAT_RETURN ret = arguments.Check(*ia);
  if (ret != DAT_SUCCESS) return ret;
  const Pinned<Srq> srq(srq_handle);
  if (!srq || &srq->ia() != ia.get()) return BadHandle(DAT_INVALID_HANDLE_SRQ);
  if (attr == nullptr) return BadArgument(7);
  if (ep_handle == nullptr) return BadArgument(8);
  Ep::Parts parts = arguments.parts();
  parts.srq = srq.get();
  if (parts.pz != nullptr && parts.pz != srq->pz()) {
    return BadArgument(2, "an EP and its SRQ must be in one protection zone");
  }
  Ep* ep = nullptr;
  ret = Ep::Create(ia.get(), parts, attr, DAT_EP_STATE_UNCONNECTED, &ep);
  if (ret == DAT_SUCCESS) *ep_handle = ep->handle();
  return ret;
}

DAT_RETURN DAT_API EpQuery(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM* param) {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) return BadHandle(DAT_INVALID_HANDLE_EP);
  if ((mask & ~DAT_EP_FIELD_ALL) != 0) return BadArgument(2);
  if (param == nullptr) return BadArgument(3);
  ep->Query(param);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API EpModify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK mask,
                            const DAT_EP_PARAM* param) {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) return BadHandle(DAT_INVALID_HANDLE_EP);
  if (param == nullptr) return BadArgument(3);
  if ((mask & ~DAT_EP_FIELD_ALL) != 0) return BadArgument(2);
  return ep->Modify(mask, *param);
}

DAT_RETURN DAT_API EpGetStatus(DAT_EP_HANDLE ep_handle, DAT_EP_STATE* state, DAT_BOOLEAN* recv_idle,
                               DAT_BOOLEAN* request_idle) {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) return BadHandle(DAT_INVALID_HANDLE_EP);
  ep->GetStatus(state, recv_idle, request_idle);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API EpFree(DAT_EP_HANDLE ep_handle) {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) return BadHandle(DAT_INVALID_HANDLE_EP);
  return ep->Free();
}

DAT_RETURN DAT_API EpRecvQuery(DAT_EP_HANDLE ep_handle, DAT_COUNT* nbufs_allocated,
                               DAT_COUNT* bufs_alloc_span) {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) return BadHandle(DAT_INVALID_HANDLE_EP);
  ep->ReceiveQuery(nbufs_allocated, bufs_alloc_span);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API EpSetWatermark(DAT_EP_HANDLE ep_handle, DAT_COUNT soft_high_watermark,
                                  DAT_COUNT hard_high_watermark) {
  const Pinned<Ep> ep(ep_handle);
  if (!ep) return BadHandle(DAT_INVALID_HANDLE_EP);
  if (!IsWatermark(soft_high_watermark)) return BadArgument(2);
  if (!IsWatermark(hard_high_watermark)) return BadArgument(3);
  return ep->SetWatermarks(soft_high_watermark, hard_high_watermark);
}

}  // namespace softdat::engine::slots
