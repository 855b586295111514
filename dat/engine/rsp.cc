// SPDX-License-Identifier: BSD-3-Clause
// Reserved service point: one request, for one EP. It lives on after the request, until the
// consumer frees it (semantics 3.1).
#include <utility>

#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"
#include "dat/engine/service_point.h"

namespace softdat::engine {

Rsp::Rsp(IaCore* owner, Ep* ep)
    : ServicePoint(owner, kHandleType),
      ep_(ep),
      ep_handle_(ep != nullptr ? ep->handle() : DAT_HANDLE_NULL) {}

DAT_RETURN Rsp::Create(IaCore* ia, DAT_CONN_QUAL conn_qual, Ep* ep, Evd* evd, Ref<Rsp>* out) {
  Rsp* rsp = new Rsp(ia, ep);
  Ref<Rsp> keep(rsp);
  if (ep != nullptr && ep->datagrams()) {
    rsp->Discard();
    return Error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP,
                 "an EP for datagrams is not reserved: it takes any number of requests");
  }
  if (ep != nullptr && !ep->Transition(DAT_EP_STATE_UNCONNECTED, DAT_EP_STATE_RESERVED)) {
    rsp->Discard();
    return WrongEpState(ep->state());
  }
  const DAT_RETURN ret = rsp->PublishAndListen(evd, conn_qual, false, nullptr);
  if (ret != DAT_SUCCESS) {
    // Harmless when the teardown has done it already.
    if (ep != nullptr) ep->Transition(DAT_EP_STATE_RESERVED, DAT_EP_STATE_UNCONNECTED);
    return ret;
  }
  *out = std::move(keep);
  return DAT_SUCCESS;
}

void Rsp::Arrive(std::unique_ptr<transport::ConnectionRequest>& request) {
  const UpcallPin pin(this);
  if (!pin || request->service() != transport::Service::kReliable) return;
  if (used_.exchange(true, std::memory_order_acq_rel)) return;
  bool announced = false;
  if (!ep_) {
    announced = AnnounceWithNewEp(request);
  } else if (ep_->Transition(DAT_EP_STATE_RESERVED, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING)) {
    announced = Announce(request, ep_.get(), false);
    if (!announced) ep_->Transition(DAT_EP_STATE_PASSIVE_CONNECTION_PENDING, DAT_EP_STATE_RESERVED);
  }
  if (announced) {
    StopListening();
  } else {
    used_.store(false, std::memory_order_release);
  }
}

void Rsp::Query(DAT_RSP_PARAM* param) {
  param->ia_handle = ia().consumer_handle();
  param->conn_qual = conn_qual();
  param->evd_handle = evd()->handle();
  param->ep_handle = ep_handle_;
}

void Rsp::Teardown() {
  ServicePoint::Teardown();
  if (used_.exchange(true, std::memory_order_acq_rel) || !ep_) return;
  ep_->Transition(DAT_EP_STATE_RESERVED, DAT_EP_STATE_UNCONNECTED);
}

}  // namespace softdat::engine
