// SPDX-License-Identifier: BSD-3-Clause
// A reliable connection: the back end's upcalls, the transitions they cause, and the one final
// event (semantics 8.3).
#include <algorithm>
#include <cstring>

#include "dat/base/log.h"
#include "dat/engine/ep_connection.h"
#include "dat/engine/object/ia_core.h"

namespace softdat::engine {

using transport::EndReason;
using transport::RejectReason;

namespace {

DAT_EVENT_NUMBER EventOf(RejectReason reason) {
  switch (reason) {
    case RejectReason::kPeer:
      return DAT_CONNECTION_EVENT_PEER_REJECTED;
    case RejectReason::kNonPeer:
      return DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
    case RejectReason::kUnreachable:
      return DAT_CONNECTION_EVENT_UNREACHABLE;
    case RejectReason::kTimedOut:
      return DAT_CONNECTION_EVENT_TIMED_OUT;
    case RejectReason::kAborted:
      break;
  }
  return DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR;
}

// Counts the messages that led to the event of a connection. `was` is the state of the EP before
// the event.
void CountConnectionEvent(AdapterCounters& counters, DAT_EP_STATE was, DAT_EVENT_NUMBER number) {
  switch (number) {
    case DAT_CONNECTION_EVENT_ESTABLISHED:
      if (was != DAT_EP_STATE_ACTIVE_CONNECTION_PENDING)
        return counters.Count(DCNT_IA_CM_PASSIVE_EST);
      counters.Count(DCNT_IA_CM_REP_RX);
      return counters.Count(DCNT_IA_CM_ACTIVE_EST);
    case DAT_CONNECTION_EVENT_DISCONNECTED:
      // Otherwise this side began the disconnect, or nothing was connected yet.
      if (was == DAT_EP_STATE_CONNECTED) counters.Count(DCNT_IA_CM_DREQ_RX);
      return;
    case DAT_CONNECTION_EVENT_PEER_REJECTED:
      return counters.Count(DCNT_IA_CM_USER_REJ_RX);
    case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
      counters.Count(DCNT_IA_CM_ERR_REFUSED);
      break;
    case DAT_CONNECTION_EVENT_TIMED_OUT:
      counters.Count(DCNT_IA_CM_ERR_TIMEOUT);
      break;
    case DAT_CONNECTION_EVENT_BROKEN:
      counters.Count(DCNT_IA_CM_ERR_RESET);
      break;
    default:
      break;
  }
  counters.Count(DCNT_IA_CM_ERR);
}

}  // namespace

bool EpConnection::Connecting() const {
  return ep_.state() == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING ||
         ep_.state() == DAT_EP_STATE_COMPLETION_PENDING;
}

bool EpConnection::Ending() const {
  return Connecting() || ep_.state() == DAT_EP_STATE_CONNECTED ||
         ep_.state() == DAT_EP_STATE_DISCONNECT_PENDING;
}

DAT_COUNT EpConnection::KeepPrivateData(std::span<const uint8_t> private_data) {
  const size_t size = std::min(private_data.size(), private_data_.size());
  if (size > 0) std::memcpy(private_data_.data(), private_data.data(), size);
  return static_cast<DAT_COUNT>(size);
}

void EpConnection::PostEvent(Evd* evd, DAT_EP_STATE was, DAT_EVENT_NUMBER number,
                             DAT_COUNT private_data_size) {
  CountConnectionEvent(ep_.ia().counters(), was, number);
  if (evd == nullptr) return;
  DAT_EVENT event;
  event.event_number = number;
  auto& data = event.event_data.connect_event_data;
  data.ep_handle = ep_.handle();
  data.private_data_size = private_data_size;
  data.private_data = private_data_size > 0 ? private_data_.data() : nullptr;
  // Completions made before the end of a connection come out before its event (semantics 5.5).
  evd->Push(event, number != DAT_CONNECTION_EVENT_ESTABLISHED);
}

// In each upcall the push comes last, because the event may make a consumer's agent free the EP
// from within the push. The pin keeps the memory until the push returns.

void EpConnection::OnEstablished(std::span<const uint8_t> private_data) {
  const UpcallPin pin(&ep_);
  if (!pin) return;
  Ref<Evd> evd;
  DAT_COUNT size = 0;
  DAT_EP_STATE was{};
  {
    std::lock_guard<std::mutex> lock(ep_.mutex());
    // The EP was disconnected meanwhile, so the back end reports the end of the connection.
    if (!Connecting()) return;
    was = ep_.state();
    // Only the active side's event carries private data (semantics 5.7).
    if (was == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING) size = KeepPrivateData(private_data);
    evd = Ref<Evd>(ep_.connect_evd());
    ep_.SetState(DAT_EP_STATE_CONNECTED);
  }
  PostEvent(evd.get(), was, DAT_CONNECTION_EVENT_ESTABLISHED, size);
}

void EpConnection::OnFailed(RejectReason reason, std::span<const uint8_t> private_data,
                            const std::string& why) {
  const UpcallPin pin(&ep_);
  if (!pin) return;
  Ref<Evd> evd;
  DAT_COUNT size = 0;
  DAT_EVENT_NUMBER number = EventOf(reason);
  DAT_EP_STATE was{};
  {
    std::lock_guard<std::mutex> lock(ep_.mutex());
    if (!Ending()) return;
    was = ep_.state();
    if (was == DAT_EP_STATE_DISCONNECT_PENDING) {
      // The consumer aborted the attempt first, and that is its outcome (semantics 8.3 note 1).
      number = DAT_CONNECTION_EVENT_DISCONNECTED;
    } else if (was == DAT_EP_STATE_COMPLETION_PENDING) {
      number = DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR;
    } else if (was == DAT_EP_STATE_CONNECTED) {
      number = DAT_CONNECTION_EVENT_BROKEN;  // a back end must not; still one final event
    } else if (reason == RejectReason::kPeer) {
      size = KeepPrivateData(private_data);
    }
    evd = Ref<Evd>(ep_.connect_evd());
    ep_.SetState(DAT_EP_STATE_DISCONNECTED);
  }
  SOFTDAT_LOG(Info, "{}: connection attempt failed: {}", ep_.ia().name(), why);
  PostEvent(evd.get(), was, number, size);
}

void EpConnection::OnEnded(EndReason reason, const std::string& why) {
  const UpcallPin pin(&ep_);
  if (!pin) return;
  Ref<Evd> evd;
  DAT_EVENT_NUMBER number = reason == EndReason::kBroken ? DAT_CONNECTION_EVENT_BROKEN
                                                         : DAT_CONNECTION_EVENT_DISCONNECTED;
  DAT_EP_STATE was{};
  {
    std::lock_guard<std::mutex> lock(ep_.mutex());
    if (!Ending()) return;
    was = ep_.state();
    // The connection was never established, so this is no disconnect (semantics 8.3, fatal error
    // and peer's disconnect).
    if (was == DAT_EP_STATE_COMPLETION_PENDING)
      number = DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR;
    if (was == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING)
      number = DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
    evd = Ref<Evd>(ep_.connect_evd());
    ep_.SetState(DAT_EP_STATE_DISCONNECTED);
  }
  SOFTDAT_LOG(Info, "{}: connection ended: {}", ep_.ia().name(), why);
  // "Last buffer of the SRQ returned": consumers wait for it after each end (semantics 5.8,
  // dtestsrq).
  if (ep_.uses_srq())
    ep_.ia().PostAsync(DAT_ASYNC_ERROR_EP_BROKEN, ep_.handle(), DAT_EP_TRANSFER_TO_ERROR);
  PostEvent(evd.get(), was, number, 0);
}

void EpConnection::OnReceiveWatermark() {
  const UpcallPin pin(&ep_);
  if (!pin) return;
  ep_.ia().PostAsync(DAT_ASYNC_ERROR_EP_BROKEN, ep_.handle(), DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT);
}

}  // namespace softdat::engine
