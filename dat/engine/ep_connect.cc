// SPDX-License-Identifier: BSD-3-Clause
// Endpoint: connecting, accepting, disconnecting, reset (semantics 8.3, 9.2, 9.3, 9.6).
#include "dat/engine/dat_error.h"
#include "dat/engine/ep.h"
#include "dat/engine/ia.h"

namespace softdat::engine {

using transport::DisconnectMode;

namespace {

DAT_RETURN NotReady() {
  return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY,
               "the EP lacks its PZ, or the EVD of a direction that it has room for");
}

DAT_RETURN BeingModified() {
  return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PROVIDERCONTROL,
               "dat_ep_modify is at work on the EP");
}

std::chrono::microseconds ConnectTimeout(DAT_TIMEOUT timeout_us) {
  return timeout_us == DAT_TIMEOUT_INFINITE ? std::chrono::microseconds::max()
                                            : std::chrono::microseconds(timeout_us);
}

}  // namespace

bool Ep::Ready() const {
  const Configuration& c = configuration_;
  return c.pz && c.connect && (c.recv.get() != nullptr || c.attr.max_recv_dtos == 0) &&
         (c.request.get() != nullptr || c.attr.max_request_dtos == 0);
}

DAT_RETURN Ep::Connect(const sockaddr_storage& remote, DAT_CONN_QUAL conn_qual,
                       DAT_TIMEOUT timeout_us, std::span<const uint8_t> private_data) {
  uint32_t attempt = 0;
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (state() != DAT_EP_STATE_UNCONNECTED) return WrongEpState(state());
    if (!configuration_.connect) return BadHandle(DAT_INVALID_HANDLE_EVD_CONN);
    if (modifying_) return BeingModified();
    if (!Ready()) return NotReady();
    attempt = ++attempt_;
    aborting_ = false;
    remote_ = remote;
    remote_port_ = conn_qual;
    dialled_ = true;
    dialled_address_ = remote;
    dialled_qual_ = conn_qual;
    SetState(DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
  }
  transport::ConnectParameters p;
  p.remote = remote;
  p.conn_qual = conn_qual;
  p.timeout = ConnectTimeout(timeout_us);
  p.private_data = private_data;
  const Status status = qp_->Connect(p);
  if (status.ok()) {
    counters_.Count(DCNT_EP_CONNECT);
    ia().counters().Count(DCNT_IA_CM_REQ_TX);
  }
  SettleAttempt(attempt, status.ok(), DAT_EP_STATE_UNCONNECTED);
  return Fail(status, Subject::kEp);
}

DAT_RETURN Ep::DupConnect(Ep& like, DAT_TIMEOUT timeout_us, std::span<const uint8_t> private_data) {
  sockaddr_storage remote;
  DAT_CONN_QUAL conn_qual = 0;
  {
    std::lock_guard<std::mutex> lock(like.mu_);
    if (like.state() != DAT_EP_STATE_CONNECTED) return WrongEpState(like.state());
    if (!like.dialled_) {
      return Error(
          DAT_INVALID_STATE, DAT_NO_SUBTYPE,
          "the other EP was accepted, not connected: it names no service point to connect to");
    }
    remote = like.dialled_address_;
    conn_qual = like.dialled_qual_;
  }
  return Connect(remote, conn_qual, timeout_us, private_data);
}

DAT_RETURN Ep::Accept(transport::ConnectionRequest& request, DAT_EP_STATE from,
                      std::span<const uint8_t> private_data) {
  uint32_t attempt = 0;
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (state() != from) return WrongEpState(state());
    if (modifying_) return BeingModified();
    if (!Ready()) return NotReady();
    attempt = ++attempt_;
    aborting_ = false;
    remote_ = request.addresses().remote;
    remote_port_ = request.addresses().remote_port;
    dialled_ = false;
    SetState(DAT_EP_STATE_COMPLETION_PENDING);
  }
  const Status status = request.Accept(*qp_, private_data);
  if (status.ok()) ia().counters().Count(DCNT_IA_CM_REP_TX);
  SettleAttempt(attempt, status.ok(), from);
  return Fail(status, Subject::kEp);
}

void Ep::SettleAttempt(uint32_t attempt, bool ok, DAT_EP_STATE from) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (attempt_ != attempt) return;
    const bool disconnected = aborting_ && state() == DAT_EP_STATE_DISCONNECT_PENDING;
    if (!ok && (Connecting() || disconnected)) SetState(from);
    if (!ok || !disconnected) return;
  }
  qp_->Disconnect(DisconnectMode::kAbrupt);
}

DAT_RETURN Ep::Disconnect(DAT_CLOSE_FLAGS flags) {
  DisconnectMode mode = DisconnectMode::kAbrupt;
  {
    std::lock_guard<std::mutex> lock(mu_);
    switch (state()) {
      case DAT_EP_STATE_CONNECTED:
        if (flags == DAT_CLOSE_GRACEFUL_FLAG) mode = DisconnectMode::kGraceful;
        counters_.Count(DCNT_EP_DISCONNECT);
        ia().counters().Count(DCNT_IA_CM_DREQ_TX);
        break;
      case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
      case DAT_EP_STATE_COMPLETION_PENDING:
        aborting_ = true;  // nothing to be graceful about
        break;
      case DAT_EP_STATE_DISCONNECT_PENDING:
        if (flags == DAT_CLOSE_GRACEFUL_FLAG) return DAT_SUCCESS;
        break;  // an abrupt one overtakes a graceful one
      case DAT_EP_STATE_DISCONNECTED:
        return DAT_SUCCESS;
      default:
        return WrongEpState(state());
    }
    SetState(DAT_EP_STATE_DISCONNECT_PENDING);
  }
  qp_->Disconnect(mode);
  return DAT_SUCCESS;
}

DAT_RETURN Ep::Reset() {
  uint32_t attempt = 0;
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (state() == DAT_EP_STATE_UNCONNECTED) return DAT_SUCCESS;  // posted receives stay
    if (state() != DAT_EP_STATE_DISCONNECTED) return WrongEpState(state());
    attempt = attempt_;
  }
  const Status status = qp_->Reset();
  std::lock_guard<std::mutex> lock(mu_);
  if (!status.ok()) return attempt == attempt_ ? Fail(status, Subject::kEp) : WrongEpState(state());
  if (attempt == attempt_ && state() == DAT_EP_STATE_DISCONNECTED)
    SetState(DAT_EP_STATE_UNCONNECTED);
  return DAT_SUCCESS;
}

}  // namespace softdat::engine
