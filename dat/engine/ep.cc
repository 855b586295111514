// SPDX-License-Identifier: BSD-3-Clause
// Endpoint: creation, query, status and end of life.
#include "dat/engine/ep.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "dat/engine/enum_value.h"
#include "dat/engine/ep_attributes.h"
#include "dat/engine/ep_connection.h"
#include "dat/engine/ep_datagrams.h"
#include "dat/engine/object/ia_core.h"
#include "dat/engine/srq.h"
#include "dat2/softdat.h"

namespace softdat::engine {

using transport::QueuePairAttributes;

namespace {

// Checks one direction of an EP that the consumer described. An EVD and room for work go together.
// The EVD may be missing all the same, so that dat_ep_modify supplies it (semantics 8.1).
DAT_RETURN CheckDirection(const Evd* evd, DAT_COUNT dtos, DAT_COUNT iov, int argument,
                          const char* name) {
  if (evd != nullptr && dtos == 0) {
    return BadArgument(
        argument, std::string("the ") + name + " EVD is given, but room for no " + name + " work");
  }
  if (evd != nullptr && iov == 0) {
    return BadArgument(
        argument, std::string(name) + " work needs at least one segment (max_" + name + "_iov)");
  }
  return DAT_SUCCESS;
}

std::unique_ptr<EpService> MakeService(EpCore& ep) {
  if (ep.datagrams()) return std::make_unique<EpDatagrams>(ep);
  return std::make_unique<EpConnection>(ep);
}

}  // namespace

Ep::Ep(IaCore* owner, Srq* srq, transport::Service service_type, DAT_EP_STATE initial)
    : EpCore(owner, srq, service_type, initial), service_(MakeService(*this)) {}

DAT_RETURN Ep::Create(IaCore* ia, const Parts& parts, const DAT_EP_ATTR* attr, DAT_EP_STATE initial,
                      Ep** out) {
  const bool srq = parts.srq != nullptr;
  const int argument = srq ? 7 : 6;  // of the consumer's call
  Configuration c;
  c.attr = attr != nullptr ? *attr : DefaultEpAttributes(ia->attributes());
  DAT_RETURN ret = GrantEpAttributes(ia->attributes(), srq, argument, &c.attr);
  if (ret == DAT_SUCCESS && attr != nullptr) {
    if (!srq)
      ret =
          CheckDirection(parts.recv_evd, attr->max_recv_dtos, attr->max_recv_iov, argument, "recv");
    if (ret == DAT_SUCCESS) {
      ret = CheckDirection(parts.request_evd, attr->max_request_dtos, attr->max_request_iov,
                           argument, "request");
    }
  }
  if (ret != DAT_SUCCESS) return ret;

  c.pz = Use<Pz>(parts.pz);
  if (parts.pz != nullptr && !c.pz) return BadHandle(DAT_INVALID_HANDLE_PZ);
  c.connect = Use<Evd>(parts.connect_evd);
  if (parts.connect_evd != nullptr && !c.connect) return BadHandle(DAT_INVALID_HANDLE_EVD_CONN);
  if (!c.request.Attach(parts.request_evd, c.attr.request_completion_flags))
    return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);

  const bool datagrams = RawValue(c.attr.service_type) == DAT_IB_SERVICE_TYPE_UD;
  Draft<Ep> ep(new Ep(ia, parts.srq,
                      datagrams ? transport::Service::kDatagram : transport::Service::kReliable,
                      initial));
  if (srq && !ep->srq_use_) return BadHandle(DAT_INVALID_HANDLE_SRQ);
  if (!ep->ReserveHandle()) {
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP, NoHandleReason());
  }
  if (!c.recv.AttachReceives(parts.recv_evd, c.attr.recv_completion_flags, ep->handle(),
                             ep->received_))
    return BadHandle(DAT_INVALID_HANDLE_EVD_RECV);
  auto qp = ia->adapter().CreateQueuePair(ep->QueueAttributes(c));
  if (!qp.ok()) return Fail(qp.status(), Subject::kEp);
  ep->qp_ = qp.Take();
  ep->configuration_ = std::move(c);
  ep->PublishLimits();
  const DAT_COUNT soft = ep->configuration_.attr.srq_soft_hw;
  if (srq && soft != DAT_HW_DEFAULT) {
    ret = ep->SetWatermarks(soft, DAT_WATERMARK_INFINITE);
    if (ret != DAT_SUCCESS) return ret;
  }
  ep.Publish();  // cannot fail: the handle is reserved
  *out = ep.Finish();
  return DAT_SUCCESS;
}

QueuePairAttributes Ep::QueueAttributes(const Configuration& c) {
  const transport::AdapterAttributes& limits = ia().attributes();
  QueuePairAttributes a;
  a.context = handle();
  a.pd = c.pz ? &c.pz->domain() : nullptr;
  a.send_cq = c.request.get() != nullptr ? c.request.get()->completion_queue() : nullptr;
  a.recv_cq = c.recv.get() != nullptr ? c.recv.get()->completion_queue() : nullptr;
  a.srq = srq_ != nullptr ? &srq_->queue() : nullptr;
  a.max_send = static_cast<uint32_t>(c.attr.max_request_dtos);
  a.max_recv = srq_ != nullptr ? 0 : static_cast<uint32_t>(c.attr.max_recv_dtos);
  a.max_send_iov = static_cast<uint32_t>(
      std::max({c.attr.max_request_iov, c.attr.max_rdma_read_iov, c.attr.max_rdma_write_iov}));
  a.max_recv_iov = srq_ != nullptr ? 0 : static_cast<uint32_t>(c.attr.max_recv_iov);
  a.max_read_iov = static_cast<uint32_t>(c.attr.max_rdma_read_iov);
  a.max_read_in = GrantedReads(c.attr.max_rdma_read_in, limits.max_read_in);
  a.max_read_out = GrantedReads(c.attr.max_rdma_read_out, limits.max_read_out);
  a.solicited_receives = (c.attr.recv_completion_flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG) != 0;
  service_->Describe(&a);
  return a;
}

void Ep::PublishLimits() {
  const DAT_EP_ATTR& attr = configuration_.attr;
  // UNSIGNALLED is legal on a post if the EP attribute has it (semantics 8.1, 10.2).
  const uint32_t request = DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG |
                           (attr.request_completion_flags & DAT_COMPLETION_UNSIGNALLED_FLAG);
  const auto set = [this](PostKind kind, DAT_COUNT iov, uint32_t flags) {
    PostLimits& limits = post_limits_[static_cast<size_t>(kind)];
    limits.iov.store(static_cast<uint32_t>(iov), std::memory_order_relaxed);
    limits.flags.store(flags, std::memory_order_relaxed);
  };
  set(PostKind::kSend, attr.max_request_iov, request | DAT_COMPLETION_SOLICITED_WAIT_FLAG);
  set(PostKind::kRead, attr.max_rdma_read_iov, request);
  const uint32_t confirm = ia().attributes().confirms_writes ? SOFTDAT_COMPLETION_CONFIRM_FLAG : 0;
  set(PostKind::kWrite, attr.max_rdma_write_iov,
      request | confirm | SOFTDAT_COMPLETION_EXTENSION_FLAG);
  set(PostKind::kReceive, attr.max_recv_iov,
      (attr.recv_completion_flags & DAT_COMPLETION_UNSIGNALLED_FLAG) |
          SOFTDAT_COMPLETION_EXTENSION_FLAG);
  current_pz_.store(configuration_.pz.get(), std::memory_order_release);
  const Evd* request_evd = configuration_.request.get();
  takes_binds_.store(request_evd != nullptr && request_evd->Accepts(DAT_EVD_RMR_BIND_FLAG),
                     std::memory_order_release);
}

namespace {

DAT_EVD_HANDLE HandleOf(const Evd* evd) { return evd != nullptr ? evd->handle() : DAT_HANDLE_NULL; }

}  // namespace

void Ep::Query(DAT_EP_PARAM* param) {
  const transport::ConnectionAddresses now = qp_->Addresses();
  std::lock_guard<std::mutex> lock(mu_);
  service_->QueryAddresses(now, param);
  param->ia_handle = ia().consumer_handle();
  param->ep_state = state();
  param->comm.domain = param->local_ia_address_ptr->sa_family;
  param->comm.type = datagrams() ? SOCK_DGRAM : SOCK_STREAM;
  param->comm.protocol = 0;
  param->pz_handle = configuration_.pz ? configuration_.pz->handle() : DAT_HANDLE_NULL;
  param->recv_evd_handle = HandleOf(configuration_.recv.get());
  param->request_evd_handle = HandleOf(configuration_.request.get());
  param->connect_evd_handle = HandleOf(configuration_.connect.get());
  param->srq_handle = srq_ != nullptr ? srq_->handle() : DAT_HANDLE_NULL;
  param->ep_attr = configuration_.attr;
  if (ia().attributes().confirmed_completions && !qp_->ConfirmsCompletions()) {
    static constinit DAT_NAMED_ATTR taken{SOFTDAT_ATTR_COMPLETION, "taken"};
    param->ep_attr.ep_provider_specific_count = 1;
    param->ep_attr.ep_provider_specific = &taken;
  }
}

void Ep::GetStatus(DAT_EP_STATE* state_out, DAT_BOOLEAN* recv_idle, DAT_BOOLEAN* request_idle) {
  if (state_out != nullptr) *state_out = state();
  if (recv_idle != nullptr) *recv_idle = qp_->OutstandingReceives() == 0 ? DAT_TRUE : DAT_FALSE;
  if (request_idle != nullptr) *request_idle = qp_->OutstandingSends() == 0 ? DAT_TRUE : DAT_FALSE;
}

void Ep::ReceiveQuery(DAT_COUNT* buffers, DAT_COUNT* span) {
  // Receives complete in message order, so the messages for them are consecutive (semantics 11).
  const auto held = static_cast<DAT_COUNT>(qp_->OutstandingReceives());
  if (buffers != nullptr) *buffers = held;
  if (span != nullptr) *span = held;
}

DAT_RETURN Ep::SetWatermarks(DAT_COUNT soft, DAT_COUNT hard) {
  if (srq_ == nullptr || datagrams() || !ia().attributes().receive_watermarks) {
    return Error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE,
                 srq_ == nullptr || datagrams()
                     ? "watermarks are for connections with an SRQ"
                     : "this back end does not count the receive buffers of an EP");
  }
  static_assert(static_cast<uint32_t>(DAT_WATERMARK_INFINITE) == transport::kNoWatermark);
  {
    std::lock_guard<std::mutex> lock(mu_);
    configuration_.attr.srq_soft_hw = soft;
    hard_watermark_ = hard;
  }
  return Fail(qp_->SetReceiveWatermarks(static_cast<uint32_t>(soft), static_cast<uint32_t>(hard)));
}

bool Ep::Transition(DAT_EP_STATE from, DAT_EP_STATE to) {
  std::lock_guard<std::mutex> lock(mu_);
  if (state() != from || retired_) return false;
  SetState(to);
  return true;
}

DAT_RETURN Ep::Free() {
  {
    std::lock_guard<std::mutex> lock(mu_);
    switch (state()) {
      case DAT_EP_STATE_RESERVED:
      case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
      case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
        return WrongEpState(state());
      default:
        break;
    }
    if (!Retire()) return BadHandle(DAT_INVALID_HANDLE_EP);
    retired_ = true;
  }
  Destroy(1);
  return DAT_SUCCESS;
}

void Ep::TakeBack() {
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (!Retire()) return;  // the IA is being closed and frees the EP itself
    retired_ = true;
  }
  Destroy(0);
}

void Ep::Teardown() {
  // Upcalls may run until the destructor returns, and they look at qp_. So the object goes first,
  // and the pointer after it.
  delete qp_.get();
  static_cast<void>(qp_.release());
  service_->Teardown();
  Configuration gone;
  {
    std::lock_guard<std::mutex> lock(mu_);
    std::swap(gone, configuration_);
  }
  received_->Abandon();
  srq_use_.Reset();
}

}  // namespace softdat::engine
