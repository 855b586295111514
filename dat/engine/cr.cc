// SPDX-License-Identifier: BSD-3-Clause
// Connection request: the consumer's answers.
#include "dat/engine/cr.h"

#include <utility>

#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"
#include "dat/engine/service_point.h"

namespace softdat::engine {

Cr::Cr(IaCore* owner, std::unique_ptr<transport::ConnectionRequest> request, Ep* ep,
       bool provider_created_ep)
    : Object(owner, kHandleType),
      request_(std::move(request)),
      ep_(ep),
      provider_created_ep_(provider_created_ep),
      remote_(request_->addresses().remote),
      remote_port_(request_->addresses().remote_port),
      private_data_(request_->private_data()) {}

Cr* Cr::Create(IaCore* ia, std::unique_ptr<transport::ConnectionRequest>& request, Ep* ep,
               bool provider_created_ep) {
  Cr* cr = new Cr(ia, std::move(request), ep, provider_created_ep);
  if (cr->Publish()) return cr;
  request = std::move(cr->request_);
  cr->Discard();
  return nullptr;
}

void Cr::Withdraw(std::unique_ptr<transport::ConnectionRequest>* request) {
  if (!Retire()) return;
  *request = std::move(request_);
  keep_ep_ = true;
  Destroy(0);
}

void Cr::Query(DAT_CR_PARAM* param) {
  param->remote_ia_address_ptr = reinterpret_cast<DAT_IA_ADDRESS_PTR>(&remote_);
  param->remote_port_qual = remote_port_;
  param->private_data_size = static_cast<DAT_COUNT>(private_data_.size());
  param->private_data = private_data_.empty() ? nullptr : private_data_.data();
  param->local_ep_handle = ep_ ? ep_->handle() : DAT_HANDLE_NULL;
}

DAT_RETURN Cr::Accept(Ep* ep, std::span<const uint8_t> private_data) {
  // Exactly one of the two brings the EP.
  if (static_cast<bool>(ep_) == (ep != nullptr)) return BadHandle(DAT_INVALID_HANDLE_EP);
  DAT_EP_STATE from = DAT_EP_STATE_UNCONNECTED;
  if (ep_) {
    ep = ep_.get();
    from = provider_created_ep_ ? DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING
                                : DAT_EP_STATE_PASSIVE_CONNECTION_PENDING;
  }
  if (!Claim()) return BadHandle(DAT_INVALID_HANDLE_CR);
  const DAT_RETURN ret = ep->service().Accept(*request_, from, private_data);
  if (ret != DAT_SUCCESS) {
    Unclaim();
    return ret;
  }
  keep_ep_ = true;
  ia().counters().Count(DCNT_IA_SP_CR_ACCEPTED);
  Finish();
  return DAT_SUCCESS;
}

DAT_RETURN Cr::Reject(std::span<const uint8_t> private_data) {
  if (!Claim()) return BadHandle(DAT_INVALID_HANDLE_CR);
  const Status status = request_->Reject(private_data);
  if (!status.ok()) {
    Unclaim();
    return Fail(status);
  }
  ia().counters().Count(DCNT_IA_SP_CR_REJECTED);
  ia().counters().Count(DCNT_IA_CM_USER_REJ_TX);
  Finish();
  return DAT_SUCCESS;
}

DAT_RETURN Cr::Handoff(DAT_CONN_QUAL conn_qual) {
  if (!Claim()) return BadHandle(DAT_INVALID_HANDLE_CR);
  const DAT_HANDLE found = ServicePoint::Find(ia(), conn_qual);
  DAT_HANDLE_TYPE type{};
  auto* target =
      static_cast<ServicePoint*>(found == DAT_HANDLE_NULL ? nullptr : PinAnyHandle(found, &type));
  if (target == nullptr) return HandoffElsewhere(conn_qual);
  target->Offer(request_);
  Object::Unpin(CellOf(found), target);
  if (request_ != nullptr) {
    Unclaim();
    return Error(
        DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD,
        "the service point on " + std::to_string(conn_qual) + " has no room for another request");
  }
  Finish();
  return DAT_SUCCESS;
}

DAT_RETURN Cr::HandoffElsewhere(DAT_CONN_QUAL conn_qual) {
  const Status status = request_->Handoff(conn_qual);
  if (status.ok()) {
    Finish();
    return DAT_SUCCESS;
  }
  Unclaim();
  if (status.code() != Code::kNotFound) return Fail(status, Subject::kQualifier);
  return BadArgument(2, "no service point to hand to on " + std::to_string(conn_qual) + ": " +
                            std::string(status.reason()));
}

void Cr::OnUnseen() {
  if (!Claim()) return;
  ia().counters().Count(DCNT_IA_CM_ERR);
  ia().counters().Count(DCNT_IA_CM_ERR_REJ_TX);
  Finish();
}

void Cr::Finish() {
  // False when the IA is being closed: it frees the CR.
  if (Retire()) Destroy(1);
}

void Cr::Teardown() {
  request_.reset();
  if (keep_ep_ || !ep_) return;
  if (provider_created_ep_) {
    ep_->TakeBack();
  } else {
    ep_->Transition(DAT_EP_STATE_PASSIVE_CONNECTION_PENDING, DAT_EP_STATE_UNCONNECTED);
  }
}

}  // namespace softdat::engine
