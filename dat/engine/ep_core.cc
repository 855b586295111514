// SPDX-License-Identifier: BSD-3-Clause
// The part of an endpoint that does not depend on its service.
#include "dat/engine/ep_core.h"

#include "dat/engine/object/dat_error.h"
#include "dat/engine/srq.h"

namespace softdat::engine {

EpCore::EpCore(IaCore* owner, Srq* srq, transport::Service service_type, DAT_EP_STATE initial)
    : Object(owner, kHandleType),
      srq_(srq),
      srq_use_(srq),
      state_(initial),
      received_(std::make_shared<ReceiveTally>(srq != nullptr ? srq->outstanding() : nullptr)),
      service_type_(service_type) {}

DAT_RETURN EpCore::CheckReady() const {
  if (modifying_) {
    return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PROVIDERCONTROL,
                 "dat_ep_modify is at work on the EP");
  }
  const Configuration& c = configuration_;
  if (c.pz && c.connect && (c.recv.get() != nullptr || c.attr.max_recv_dtos == 0) &&
      (c.request.get() != nullptr || c.attr.max_request_dtos == 0)) {
    return DAT_SUCCESS;
  }
  return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY,
               "the EP lacks its PZ, or the EVD of a direction that it has room for");
}

}  // namespace softdat::engine
