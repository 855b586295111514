// SPDX-License-Identifier: BSD-3-Clause
// A reliable connection: connecting, accepting, disconnecting, reset (semantics 8.3, 9.2, 9.3,
// 9.6).
#include "dat/engine/ep_connection.h"

#include <cstring>

#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"

namespace softdat::engine {

using transport::DisconnectMode;

namespace {

// Writes only what changed, because consumers hold pointers to `to` and may be reading.
void Refresh(const sockaddr_storage& from, sockaddr_storage* to) {
  if (std::memcmp(&from, to, sizeof(from)) != 0) *to = from;
}

}  // namespace

uint32_t EpConnection::BeginAttempt(DAT_EP_STATE next, const sockaddr_storage& remote,
                                    DAT_PORT_QUAL port) {
  aborting_ = false;
  remote_ = remote;
  remote_port_ = port;
  ep_.SetState(next);
  return ++attempt_;
}

DAT_RETURN EpConnection::Connect(const Target& target, DAT_TIMEOUT timeout_us,
                                 std::span<const uint8_t> private_data) {
  uint32_t attempt = 0;
  {
    std::lock_guard<std::mutex> lock(ep_.mutex());
    if (ep_.state() != DAT_EP_STATE_UNCONNECTED) return WrongEpState(ep_.state());
    if (ep_.connect_evd() == nullptr) return BadHandle(DAT_INVALID_HANDLE_EVD_CONN);
    const DAT_RETURN ready = ep_.CheckReady();
    if (ready != DAT_SUCCESS) return ready;
    dialled_ = true;
    target_ = target;
    attempt =
        BeginAttempt(DAT_EP_STATE_ACTIVE_CONNECTION_PENDING, target.address, target.conn_qual);
  }
  const Status status = ep_.queue_pair().Connect(Parameters(target, timeout_us, private_data));
  if (status.ok()) {
    ep_.counters().Count(DCNT_EP_CONNECT);
    ep_.ia().counters().Count(DCNT_IA_CM_REQ_TX);
  }
  SettleAttempt(attempt, status.ok(), DAT_EP_STATE_UNCONNECTED);
  return Fail(status, Subject::kEp);
}

DAT_RETURN EpConnection::FindTarget(Target* out) {
  std::lock_guard<std::mutex> lock(ep_.mutex());
  if (ep_.state() != DAT_EP_STATE_CONNECTED) return WrongEpState(ep_.state());
  if (!dialled_) {
    return Error(DAT_INVALID_STATE, DAT_NO_SUBTYPE,
                 "the other EP was accepted, not connected: it names no service point to connect "
                 "to");
  }
  *out = target_;
  return DAT_SUCCESS;
}

DAT_RETURN EpConnection::Accept(transport::ConnectionRequest& request, DAT_EP_STATE from,
                                std::span<const uint8_t> private_data) {
  if (request.service() != transport::Service::kReliable) {
    return Error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP,
                 "the request is for datagrams, and the EP for a connection");
  }
  uint32_t attempt = 0;
  {
    std::lock_guard<std::mutex> lock(ep_.mutex());
    if (ep_.state() != from) return WrongEpState(ep_.state());
    const DAT_RETURN ready = ep_.CheckReady();
    if (ready != DAT_SUCCESS) return ready;
    dialled_ = false;
    attempt = BeginAttempt(DAT_EP_STATE_COMPLETION_PENDING, request.addresses().remote,
                           request.addresses().remote_port);
  }
  const Status status = request.Accept(ep_.queue_pair(), private_data);
  if (status.ok()) ep_.ia().counters().Count(DCNT_IA_CM_REP_TX);
  SettleAttempt(attempt, status.ok(), from);
  return Fail(status, Subject::kEp);
}

void EpConnection::SettleAttempt(uint32_t attempt, bool ok, DAT_EP_STATE from) {
  {
    std::lock_guard<std::mutex> lock(ep_.mutex());
    if (attempt_ != attempt) return;
    const bool disconnected = aborting_ && ep_.state() == DAT_EP_STATE_DISCONNECT_PENDING;
    if (!ok && (Connecting() || disconnected)) ep_.SetState(from);
    if (!ok || !disconnected) return;
  }
  ep_.queue_pair().Disconnect(DisconnectMode::kAbrupt);
}

DAT_RETURN EpConnection::Disconnect(DAT_CLOSE_FLAGS flags) {
  DisconnectMode mode = DisconnectMode::kAbrupt;
  {
    std::lock_guard<std::mutex> lock(ep_.mutex());
    switch (ep_.state()) {
      case DAT_EP_STATE_CONNECTED:
        if (flags == DAT_CLOSE_GRACEFUL_FLAG) mode = DisconnectMode::kGraceful;
        ep_.counters().Count(DCNT_EP_DISCONNECT);
        ep_.ia().counters().Count(DCNT_IA_CM_DREQ_TX);
        break;
      case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
      case DAT_EP_STATE_COMPLETION_PENDING:
        aborting_ = true;  // nothing can end gracefully
        break;
      case DAT_EP_STATE_DISCONNECT_PENDING:
        if (flags == DAT_CLOSE_GRACEFUL_FLAG) return DAT_SUCCESS;
        break;  // an abrupt disconnect overtakes a graceful one
      case DAT_EP_STATE_DISCONNECTED:
        return DAT_SUCCESS;
      default:
        return WrongEpState(ep_.state());
    }
    ep_.SetState(DAT_EP_STATE_DISCONNECT_PENDING);
  }
  ep_.queue_pair().Disconnect(mode);
  return DAT_SUCCESS;
}

DAT_RETURN EpConnection::Reset() {
  uint32_t attempt = 0;
  {
    std::lock_guard<std::mutex> lock(ep_.mutex());
    if (ep_.state() == DAT_EP_STATE_UNCONNECTED) return DAT_SUCCESS;  // posted receives stay
    if (ep_.state() != DAT_EP_STATE_DISCONNECTED) return WrongEpState(ep_.state());
    attempt = attempt_;
  }
  const Status status = ep_.queue_pair().Reset();
  std::lock_guard<std::mutex> lock(ep_.mutex());
  if (!status.ok()) {
    return attempt == attempt_ ? Fail(status, Subject::kEp) : WrongEpState(ep_.state());
  }
  if (attempt == attempt_ && ep_.state() == DAT_EP_STATE_DISCONNECTED)
    ep_.SetState(DAT_EP_STATE_UNCONNECTED);
  return DAT_SUCCESS;
}

void EpConnection::QueryAddresses(const transport::ConnectionAddresses& now, DAT_EP_PARAM* param) {
  if (now.remote.ss_family != AF_UNSPEC) {
    Refresh(now.remote, &remote_);
    Refresh(now.local, &local_);
    remote_port_ = now.remote_port;
    local_port_ = now.local_port;
  }
  param->local_ia_address_ptr = local_.ss_family != AF_UNSPEC
                                    ? reinterpret_cast<DAT_IA_ADDRESS_PTR>(&local_)
                                    : ep_.ia().address();
  param->local_port_qual = local_port_;
  param->remote_ia_address_ptr = reinterpret_cast<DAT_IA_ADDRESS_PTR>(&remote_);
  param->remote_port_qual = remote_port_;
}

}  // namespace softdat::engine
