// SPDX-License-Identifier: BSD-3-Clause
// An endpoint for datagrams: the outcomes of exchanges with peers, and the events of the extension
// that report them.
#include <algorithm>
#include <cstring>
#include <utility>

#include "dat/base/log.h"
#include "dat/engine/ep_datagrams.h"
#include "dat/engine/object/ia_core.h"

namespace softdat::engine {

using transport::RejectReason;

namespace {

// Whether the peer or its provider refused. Otherwise nobody answered.
bool IsReject(RejectReason reason) {
  return reason == RejectReason::kPeer || reason == RejectReason::kNonPeer;
}

void CountFailure(AdapterCounters& counters, RejectReason reason) {
  if (reason == RejectReason::kPeer) return counters.Count(DCNT_IA_CM_USER_REJ_RX);
  if (reason == RejectReason::kNonPeer) counters.Count(DCNT_IA_CM_ERR_REFUSED);
  if (reason == RejectReason::kTimedOut) counters.Count(DCNT_IA_CM_ERR_TIMEOUT);
  counters.Count(DCNT_IA_CM_ERR);
}

}  // namespace

void EpDatagrams::Keep(std::span<const uint8_t> private_data, Exchange* exchange) {
  const size_t size = std::min(private_data.size(), exchange->private_data.size());
  if (size > 0) std::memcpy(exchange->private_data.data(), private_data.data(), size);
  exchange->size = static_cast<DAT_COUNT>(size);
}

DAT_EVENT EpDatagrams::MakeEvent(DAT_IB_EVENT_NUMBER number, const Exchange& exchange,
                                 const DAT_IB_EXTENSION_EVENT_DATA& extension) const {
  DAT_EVENT event;
  std::memset(&event, 0, sizeof(event));
  event.event_number = static_cast<DAT_EVENT_NUMBER>(number);
  DAT_CONNECTION_EVENT_DATA& data = event.event_data.connect_event_data;
  data.ep_handle = ep_.handle();
  data.private_data_size = exchange.size;
  if (exchange.size > 0) data.private_data = const_cast<uint8_t*>(exchange.private_data.data());
  std::memcpy(event.event_extension_data, &extension, sizeof(extension));
  return event;
}

DAT_EVENT EpDatagrams::Complete(uint64_t number, transport::DatagramPeer peer,
                                DAT_IB_EXT_TYPE type) {
  const Exchange& exchange = told_.insert(begun_.extract(number)).position->second;
  AddressHandle* const handle = exchange.handle;
  handles_.push_back(handle);
  handle->Publish(std::move(peer));
  ep_.SetState(DAT_EP_STATE_CONNECTED);
  ep_.ia().counters().Count(DCNT_IA_CM_AH_RESOLVED);
  DAT_IB_EXTENSION_EVENT_DATA extension;
  std::memset(&extension, 0, sizeof(extension));
  extension.type = type;
  extension.status = DAT_OP_SUCCESS;
  extension.remote_ah = handle->Described();
  extension.context.as_64 = number;
  return MakeEvent(DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED, exchange, extension);
}

void EpDatagrams::OnResolved(uint64_t token, transport::DatagramPeer peer,
                             std::span<const uint8_t> private_data) {
  const UpcallPin pin(&ep_);
  if (!pin) return;
  DAT_EVENT event;
  Ref<Evd> evd;
  {
    const std::lock_guard<std::mutex> lock(ep_.mutex());
    const auto exchange = begun_.find(token);
    if (exchange == begun_.end()) return;
    Keep(private_data, &exchange->second);
    event = Complete(token, std::move(peer), DAT_IB_UD_REMOTE_AH);
    evd = Ref<Evd>(ep_.connect_evd());
  }
  ep_.ia().counters().Count(DCNT_IA_CM_ACTIVE_EST);
  evd->Push(event);  // last: an agent may free the EP from within
}

void EpDatagrams::OnUnresolved(uint64_t token, RejectReason reason,
                               std::span<const uint8_t> private_data, const std::string& why) {
  const UpcallPin pin(&ep_);
  if (!pin) return;
  DAT_IB_EXTENSION_EVENT_DATA extension;
  std::memset(&extension, 0, sizeof(extension));
  extension.type = IsReject(reason) ? DAT_IB_UD_CONNECT_REJECT : DAT_IB_UD_CONNECT_ERROR;
  extension.status = DAT_IB_OP_ERR;
  DAT_EVENT event;
  Ref<Evd> evd;
  {
    const std::lock_guard<std::mutex> lock(ep_.mutex());
    if (!begun_.contains(token)) return;
    Exchanges::node_type exchange = Abandon(token);
    if (reason == RejectReason::kPeer) Keep(private_data, &exchange.mapped());
    event = MakeEvent(
        IsReject(reason) ? DAT_IB_UD_CONNECTION_REJECT_EVENT : DAT_IB_UD_CONNECTION_ERROR_EVENT,
        exchange.mapped(), extension);
    // The consumer gets no context to free, so the data of a reject stay as long as the EP.
    if (exchange.mapped().size > 0) told_.insert(std::move(exchange));
    evd = Ref<Evd>(ep_.connect_evd());
  }
  SOFTDAT_LOG(Info, "{}: no answer for datagrams: {}", ep_.ia().name(), why);
  CountFailure(ep_.ia().counters(), reason);
  evd->Push(event);
}

}  // namespace softdat::engine
