// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queue.
#include "dat/engine/srq.h"

#include <algorithm>
#include <string>

#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"

namespace softdat::engine {

Srq::Srq(IaCore* owner, Pz* pz, const DAT_SRQ_ATTR& attr)
    : Object(owner, kHandleType),
      max_iov_(static_cast<uint32_t>(attr.max_recv_iov)),
      pz_(pz),
      max_recv_dtos_(attr.max_recv_dtos),
      low_watermark_(attr.low_watermark) {}

DAT_RETURN Srq::Create(IaCore* ia, Pz* pz, const DAT_SRQ_ATTR& attr, Srq** out) {
  Draft<Srq> srq(new Srq(ia, pz, attr));
  if (!srq->pz_) return BadHandle(DAT_INVALID_HANDLE_PZ);
  auto queue = ia->adapter().CreateSharedReceiveQueue(
      pz->domain(), static_cast<uint32_t>(attr.max_recv_dtos), srq->max_iov_, srq.get());
  if (!queue.ok()) return Fail(queue.status(), Subject::kSrq);
  srq->queue_ = queue.Take();
  if (!srq.Publish()) return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ, NoHandleReason());
  *out = srq.Finish();
  return DAT_SUCCESS;
}

void Srq::Query(DAT_SRQ_PARAM* param) {
  const auto available = static_cast<DAT_COUNT>(queue_->Available());
  std::lock_guard<std::mutex> lock(mu_);
  param->ia_handle = ia().consumer_handle();
  param->srq_state = DAT_SRQ_STATE_OPERATIONAL;
  param->pz_handle = pz_->handle();
  param->max_recv_dtos = max_recv_dtos_;
  param->max_recv_iov = static_cast<DAT_COUNT>(max_iov_);
  param->low_watermark = low_watermark_;
  param->available_dto_count = available;
  // The two numbers change between the two reads. Never report less than what is available.
  param->outstanding_dto_count = std::max(available, static_cast<DAT_COUNT>(outstanding_->value()));
}

DAT_RETURN Srq::Resize(DAT_COUNT max_recv_dtos) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (max_recv_dtos < low_watermark_) {
      return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_OPERATIONAL,
                   "the low watermark is " + std::to_string(low_watermark_));
    }
  }
  const Status status = queue_->Resize(static_cast<uint32_t>(max_recv_dtos));
  if (!status.ok()) return Fail(status, Subject::kSrq);
  std::lock_guard<std::mutex> lock(mu_);
  max_recv_dtos_ = max_recv_dtos;
  return DAT_SUCCESS;
}

DAT_RETURN Srq::SetLowWatermark(DAT_COUNT low_watermark) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (low_watermark > max_recv_dtos_) {
      return BadArgument(2,
                         "the SRQ holds at most " + std::to_string(max_recv_dtos_) + " receives");
    }
    low_watermark_ = low_watermark;
  }
  return Fail(queue_->SetLimit(static_cast<uint32_t>(low_watermark)), Subject::kSrq);
}

void Srq::OnLimit() {
  const UpcallPin pin(this);
  if (!pin) return;
  // No document names the event number of watermark notices. This is the one that verbs providers
  // use (semantics 11).
  ia().PostAsync(DAT_ASYNC_ERROR_EP_BROKEN, handle(), DAT_SRQ_LOW_WATERMARK_EVENT);
}

DAT_RETURN Srq::Free() {
  if (!Retire())
    return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE, "an EP uses the SRQ");
  Destroy(1);
  return DAT_SUCCESS;
}

void Srq::Teardown() {
  queue_.reset();
  pz_.Reset();
}

}  // namespace softdat::engine
