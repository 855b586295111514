// SPDX-License-Identifier: BSD-3-Clause
// An endpoint for datagrams: the consumer's calls. ep_datagrams_upcalls.cc has the outcomes.
#include "dat/engine/ep_datagrams.h"

#include <utility>
#include <vector>

#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"

namespace softdat::engine {

void EpDatagrams::Describe(transport::QueuePairAttributes* attributes) {
  attributes->service = transport::Service::kDatagram;
  attributes->datagram_sink = this;
  attributes->max_read_in = attributes->max_read_out = 0;
}

DAT_RETURN EpDatagrams::Begin(uint64_t* out) {
  const DAT_RETURN ready = ep_.CheckReady();
  if (ready != DAT_SUCCESS) return ready;
  Draft<AddressHandle> handle(AddressHandle::Create(&ep_.ia(), &ep_, this, ep_.pz()));
  if (!handle->ReserveHandle())
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY, NoHandleReason());
  // Makes room now, so that success allocates nothing.
  if (handles_.capacity() < handles_.size() + begun_.size() + 1)
    handles_.reserve(2 * (handles_.size() + begun_.size() + 1));
  Exchange& exchange = begun_[last_number_ + 1];
  exchange.handle = handle.Finish();
  *out = ++last_number_;
  if (ep_.state() == DAT_EP_STATE_UNCONNECTED) ep_.SetState(DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
  return DAT_SUCCESS;
}

EpDatagrams::Exchanges::node_type EpDatagrams::Abandon(uint64_t number) {
  Exchanges::node_type exchange = begun_.extract(number);
  exchange.mapped().handle->Discard();
  if (begun_.empty() && ep_.state() == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING)
    ep_.SetState(DAT_EP_STATE_UNCONNECTED);
  return exchange;
}

DAT_RETURN EpDatagrams::Connect(const Target& target, DAT_TIMEOUT timeout_us,
                                std::span<const uint8_t> private_data) {
  uint64_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(ep_.mutex());
    if (ep_.connect_evd() == nullptr) return BadHandle(DAT_INVALID_HANDLE_EVD_CONN);
    const DAT_RETURN ret = Begin(&number);
    if (ret != DAT_SUCCESS) return ret;
  }
  const Status status =
      ep_.queue_pair().Resolve(Parameters(target, timeout_us, private_data), number);
  if (status.ok()) {
    ep_.counters().Count(DCNT_EP_CONNECT);
    ep_.ia().counters().Count(DCNT_IA_CM_AH_REQ_TX);
    return DAT_SUCCESS;
  }
  const std::lock_guard<std::mutex> lock(ep_.mutex());
  Abandon(number);
  return Fail(status, Subject::kEp);
}

DAT_RETURN EpDatagrams::FindTarget(Target*) {
  return Error(DAT_INVALID_STATE, DAT_NO_SUBTYPE,
               "the other EP is for datagrams: it has no connection");
}

DAT_RETURN EpDatagrams::Accept(transport::ConnectionRequest& request, DAT_EP_STATE,
                               std::span<const uint8_t> private_data) {
  if (request.service() != transport::Service::kDatagram) {
    return Error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP,
                 "the EP is for datagrams, and the request for a connection");
  }
  uint64_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(ep_.mutex());
    const DAT_RETURN ret = Begin(&number);
    if (ret != DAT_SUCCESS) return ret;
    // The requester's private data is what the event of this side carries.
    Keep(request.private_data(), &begun_.at(number));
  }
  Result<transport::DatagramPeer> requester =
      request.AcceptDatagrams(ep_.queue_pair(), private_data);
  DAT_EVENT event;
  Ref<Evd> evd;
  {
    const std::lock_guard<std::mutex> lock(ep_.mutex());
    if (!requester.ok()) {
      Abandon(number);
      return Fail(requester.status(), Subject::kEp);
    }
    event = Complete(number, requester.Take(), DAT_IB_UD_PASSIVE_REMOTE_AH);
    evd = Ref<Evd>(ep_.connect_evd());
  }
  ep_.ia().counters().Count(DCNT_IA_CM_PASSIVE_EST);
  evd->Push(event);
  return DAT_SUCCESS;
}

DAT_RETURN EpDatagrams::Reset() {
  // Peers would go on using what they know of the queue pair.
  if (ep_.state() != DAT_EP_STATE_UNCONNECTED) return WrongEpState(ep_.state());
  return DAT_SUCCESS;
}

void EpDatagrams::QueryAddresses(const transport::ConnectionAddresses&, DAT_EP_PARAM* param) {
  param->local_ia_address_ptr = ep_.ia().address();
  param->local_port_qual = 0;
  param->remote_ia_address_ptr = reinterpret_cast<DAT_IA_ADDRESS_PTR>(&nowhere_);
  param->remote_port_qual = 0;
}

DAT_RETURN EpDatagrams::FreeExchange(const DAT_CONTEXT& context) {
  const std::lock_guard<std::mutex> lock(ep_.mutex());
  if (told_.erase(context.as_64) == 1) return DAT_SUCCESS;
  return Error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP, "the EP has no such context");
}

void EpDatagrams::Forget(AddressHandle* handle) {
  const std::lock_guard<std::mutex> lock(ep_.mutex());
  std::erase(handles_, handle);
}

void EpDatagrams::Teardown() {
  std::vector<Ref<AddressHandle>> left;
  Exchanges begun;
  {
    const std::lock_guard<std::mutex> lock(ep_.mutex());
    for (AddressHandle* handle : handles_) left.emplace_back(handle);
    std::swap(begun, begun_);
  }
  for (auto& [number, exchange] : begun) exchange.handle->Discard();
  // If a consumer is freeing a handle at this moment, that call does the rest.
  for (const Ref<AddressHandle>& handle : left) {
    if (handle->RetireAnyway()) handle->Destroy(0);
  }
}

}  // namespace softdat::engine
