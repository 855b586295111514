// SPDX-License-Identifier: BSD-3-Clause
// Endpoint: dat_ep_modify, all or nothing (semantics 8.2).
#include <optional>
#include <utility>

#include "dat/engine/dat_error.h"
#include "dat/engine/ep.h"
#include "dat/engine/ep_attributes.h"
#include "dat/engine/ia.h"
#include "dat/engine/srq.h"

namespace softdat::engine {
namespace {

// Facts about an EP that nobody sets.
constexpr DAT_EP_PARAM_MASK kFixed =
    DAT_EP_FIELD_IA_HANDLE | DAT_EP_FIELD_EP_STATE | DAT_EP_FIELD_COMM |
    DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR | DAT_EP_FIELD_LOCAL_PORT_QUAL |
    DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR | DAT_EP_FIELD_REMOTE_PORT_QUAL | DAT_EP_FIELD_SRQ_HANDLE;

bool MayModify(DAT_EP_STATE state, DAT_EP_PARAM_MASK mask) {
  switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
      return true;
    case DAT_EP_STATE_RESERVED:
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
      return (mask & DAT_EP_FIELD_PZ_HANDLE) == 0;
    default:
      return false;
  }
}

// An EVD that the mask names: NULL takes the old one away.
class NamedEvd {
 public:
  NamedEvd(DAT_EP_PARAM_MASK mask, DAT_EP_PARAM_MASK bit, DAT_EVD_HANDLE handle)
      : named_((mask & bit) != 0), null_(handle == DAT_HANDLE_NULL) {
    if (named_ && !null_) evd_.emplace(handle);
  }
  bool named() const { return named_; }
  Evd* get() const { return evd_ ? evd_->get() : nullptr; }
  // Of the right kind; DTO streams also of this IA, whose adapter moves them.
  bool Fits(DAT_EVD_FLAGS stream, const Ia* ia) const {
    if (!named_ || null_) return true;
    return get() != nullptr && get()->Accepts(stream) && (ia == nullptr || &get()->ia() == ia);
  }

 private:
  const bool named_;
  const bool null_;
  std::optional<Pinned<Evd>> evd_;
};

}  // namespace

DAT_RETURN Ep::Modify(DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM& param) {
  const Pinned<Pz> pz((mask & DAT_EP_FIELD_PZ_HANDLE) != 0 ? param.pz_handle : DAT_HANDLE_NULL);
  const NamedEvd recv(mask, DAT_EP_FIELD_RECV_EVD_HANDLE, param.recv_evd_handle);
  const NamedEvd request(mask, DAT_EP_FIELD_REQUEST_EVD_HANDLE, param.request_evd_handle);
  const NamedEvd connect(mask, DAT_EP_FIELD_CONNECT_EVD_HANDLE, param.connect_evd_handle);
  if ((mask & DAT_EP_FIELD_PZ_HANDLE) != 0 && (!pz || &pz->ia() != &ia())) {
    return BadHandle(DAT_INVALID_HANDLE_PZ);
  }
  if (pz && srq_ != nullptr && pz.get() != srq_->pz()) {
    return BadArgument(3, "an EP and its SRQ must be in one protection zone");
  }
  if (!recv.Fits(DAT_EVD_DTO_FLAG, &ia())) return BadHandle(DAT_INVALID_HANDLE_EVD_RECV);
  if (!request.Fits(DAT_EVD_DTO_FLAG, &ia())) return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  if (!connect.Fits(DAT_EVD_CONNECTION_FLAG, nullptr))
    return BadHandle(DAT_INVALID_HANDLE_EVD_CONN);
  if ((mask & kFixed) != 0)
    return BadArgument(3, "the mask names a parameter that cannot be modified");

  Configuration next;
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (!MayModify(state(), mask)) return WrongEpState(state());
    if (modifying_ || retired_)
      return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PROVIDERCONTROL);
    next.attr = configuration_.attr;
    CopyEpAttributes(mask, param.ep_attr, &next.attr);
    const DAT_RETURN ret = GrantEpAttributes(ia().attributes(), uses_srq(), 3, &next.attr);
    if (ret != DAT_SUCCESS) return ret;
    const auto kept = [](const NamedEvd& named, Evd* now) {
      return named.named() ? named.get() : now;
    };
    Evd* const recv_evd = kept(recv, configuration_.recv.get());
    Evd* const request_evd = kept(request, configuration_.request.get());
    Evd* const connect_evd = kept(connect, configuration_.connect.get());
    next.pz = Use<Pz>(pz ? pz.get() : configuration_.pz.get());
    if (pz && !next.pz) return BadHandle(DAT_INVALID_HANDLE_PZ);
    next.connect = Use<Evd>(connect_evd);
    if (connect_evd != nullptr && !next.connect) return BadHandle(DAT_INVALID_HANDLE_EVD_CONN);
    if (!next.recv.Attach(recv_evd, next.attr.recv_completion_flags))
      return BadHandle(DAT_INVALID_HANDLE_EVD_RECV);
    if (!next.request.Attach(request_evd, next.attr.request_completion_flags))
      return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
    modifying_ = true;
    if (Evd* const before = configuration_.recv.get(); before != recv_evd) {
      if (before != nullptr) before->ShareReceived();
      if (recv_evd != nullptr) recv_evd->ShareReceived();
    }
  }
  const Status status = qp_->Configure(QueueAttributes(next));
  DAT_COUNT hard = DAT_WATERMARK_INFINITE;
  Evd* const recv_now = next.recv.get();
  {
    std::lock_guard<std::mutex> lock(mu_);
    modifying_ = false;
    if (status.ok()) {
      // dat_ep_set_watermark may have been called meanwhile: it wins.
      if ((mask & DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW) == 0)
        next.attr.srq_soft_hw = configuration_.attr.srq_soft_hw;
      hard = hard_watermark_;
      std::swap(configuration_, next);
      PublishLimits();
    }
  }
  if (!status.ok()) return Fail(status, Subject::kEp);
  // `next` has the predecessors now.
  Evd* const recv_before = next.recv.get();
  if (srq_ != nullptr && recv_before != recv_now) {
    if (recv_before != nullptr) recv_before->RetireReceives(handle());
    CountReceives(recv_now);
  }
  if (uses_srq() && (mask & DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW) != 0 &&
      ia().attributes().receive_watermarks) {
    return SetWatermarks(
        param.ep_attr.srq_soft_hw == 0 ? DAT_HW_DEFAULT : param.ep_attr.srq_soft_hw, hard);
  }
  return DAT_SUCCESS;
}

}  // namespace softdat::engine
