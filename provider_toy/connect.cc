// SPDX-License-Identifier: BSD-3-Clause
// QueuePair: connecting, disconnecting, and the reports to the connection sink.
#include <utility>

#include "provider_toy/listener.h"
#include "provider_toy/queue_pair.h"

namespace softdat::toy {

QueuePair* QueuePair::Peer() const {
  if (state_ != State::kConnected && state_ != State::kDraining) return nullptr;
  return connection_->active == this ? connection_->passive : connection_->active;
}

Status QueuePair::Connect(const transport::ConnectParameters& parameters) {
  const Fabric::Lock lock(fabric_);
  if (Status status = CheckAcceptable(); !status.ok()) return status;
  if (parameters.private_data.size() > kMaxPrivateData) {
    return Status(Code::kInvalidArgument, "more than 256 bytes of private data");
  }
  uint32_t device = 0;
  const Code code = DeviceOf(parameters.remote, &device);
  if (code == Code::kAddressUnsupported) return Status(code, "neither an IPv4 nor an IPv6 address");

  auto connection = std::make_shared<Connection>();
  connection->active = this;
  connection->conn_qual = parameters.conn_qual;
  connection->request_data.assign(parameters.private_data.begin(), parameters.private_data.end());
  connection->addresses.local = AddressOf(device_, parameters.remote.ss_family);
  connection->addresses.remote = parameters.remote;
  connection->addresses.local_port = number_;
  connection->addresses.remote_port = parameters.conn_qual;
  connection_ = connection;
  is_active_ = true;
  state_ = State::kConnecting;
  if (code != Code::kOk) {
    Fail(transport::RejectReason::kUnreachable, {}, "no toy device has this address");
    return Status::Ok();
  }
  Listener* const listener = fabric_.FindListener(device, parameters.conn_qual);
  if (listener == nullptr) {
    Fail(transport::RejectReason::kNonPeer, {},
         "nobody listens at qualifier " + std::to_string(parameters.conn_qual));
    return Status::Ok();
  }
  listener->Deliver(std::make_unique<ConnectionRequest>(fabric_, connection));
  if (parameters.timeout != std::chrono::microseconds::max()) {
    connection->has_timer = true;
    connection->timer =
        dispatcher_.PostAt(DeadlineOf(parameters.timeout), gate_, [this, connection] {
          const Fabric::Lock timer_lock(fabric_);
          if (!connection->open || connection->passive != nullptr) return;
          Fail(transport::RejectReason::kTimedOut, {}, "the peer did not answer in time");
        });
  }
  return Status::Ok();
}

Status QueuePair::CheckAcceptable() const {
  if (state_ != State::kIdle) return Status(Code::kInvalidState, "the queue pair is not idle");
  if (attributes_.pd == nullptr) return Status(Code::kInvalidState, "no protection domain");
  if (attributes_.sink == nullptr) return Status(Code::kInvalidState, "no connection sink");
  return Status::Ok();
}

void QueuePair::Accepted(std::shared_ptr<Connection> connection,
                         std::span<const uint8_t> private_data) {
  connection->passive = this;
  connection_ = std::move(connection);
  is_active_ = false;
  state_ = State::kConnected;
  QueuePair& active = *connection_->active;
  active.state_ = State::kConnected;
  if (connection_->has_timer) active.dispatcher_.Cancel(connection_->timer);
  active.PostEstablished(private_data);
  PostEstablished({});
}

void QueuePair::AcceptedTooLate(std::shared_ptr<Connection> connection) {
  connection_ = std::move(connection);
  connection_->passive = this;
  is_active_ = false;
  state_ = State::kConnecting;
  Fail(transport::RejectReason::kAborted, {}, "the peer gave up before the accept");
}

void QueuePair::PostEstablished(std::span<const uint8_t> private_data) {
  dispatcher_.Post(gate_, [this, connection = connection_,
                           data = std::vector<uint8_t>(private_data.begin(), private_data.end())] {
    ReportEstablished(connection, data);
  });
}

void QueuePair::ReportEstablished(const std::shared_ptr<Connection>& connection,
                                  const std::vector<uint8_t>& private_data) {
  Fabric& fabric = fabric_;
  transport::ConnectionSink* sink = nullptr;
  {
    const Fabric::Lock lock(fabric);
    if (skip_established_) return;
    sink = attributes_.sink;
  }
  sink->OnEstablished(private_data);
  // The upcall may have destroyed this queue pair. The connection shows whether it did.
  const Fabric::Lock lock(fabric);
  if (connection->active != this && connection->passive != this) return;
  established_reported_ = true;
  if (QueuePair* const peer = Peer()) peer->Pump();
}

void QueuePair::Fail(transport::RejectReason reason, std::span<const uint8_t> private_data,
                     std::string why) {
  CloseConnection();
  Flush();
  state_ = State::kEnded;
  final_report_due_ = true;
  dispatcher_.Post(gate_, [this, reason, why = std::move(why),
                           data = std::vector<uint8_t>(private_data.begin(), private_data.end())] {
    BeginFinalReport()->OnFailed(reason, data, why);
  });
}

void QueuePair::EndSide(transport::EndReason reason, const std::string& why) {
  CloseConnection();
  Flush();
  state_ = State::kEnded;
  final_report_due_ = true;
  dispatcher_.Post(gate_, [this, reason, why] { BeginFinalReport()->OnEnded(reason, why); });
}

void QueuePair::EndBoth(transport::EndReason reason, const std::string& why) {
  QueuePair* const peer = Peer();
  EndSide(reason, why);
  if (peer != nullptr) peer->EndSide(reason, why);
}

transport::ConnectionSink* QueuePair::BeginFinalReport() {
  const Fabric::Lock lock(fabric_);
  final_report_due_ = false;
  return attributes_.sink;
}

void QueuePair::CloseConnection() {
  if (!connection_) return;
  if (connection_->has_timer && connection_->active == this) dispatcher_.Cancel(connection_->timer);
  connection_->open = false;
  if (connection_->active == this) connection_->active = nullptr;
  if (connection_->passive == this) connection_->passive = nullptr;
}

void QueuePair::Disconnect(transport::DisconnectMode mode) {
  const Fabric::Lock lock(fabric_);
  if (state_ == State::kConnecting) {
    EndSide(transport::EndReason::kDisconnected, "disconnected before it was connected");
    return;
  }
  if (state_ != State::kConnected && state_ != State::kDraining) return;
  if (!established_reported_) skip_established_ = true;
  if (mode == transport::DisconnectMode::kGraceful) {
    state_ = State::kDraining;
    Pump();
  } else {
    EndBoth(transport::EndReason::kDisconnected, "abrupt disconnect");
  }
}

Status QueuePair::Reset() {
  const Fabric::Lock lock(fabric_);
  if (state_ == State::kIdle) return Status::Ok();
  if (state_ != State::kEnded) return Status(Code::kInvalidState, "the queue pair is in use");
  if (final_report_due_) return Status(Code::kInvalidState, "the end is not reported yet");
  connection_.reset();
  state_ = State::kIdle;
  established_reported_ = false;
  skip_established_ = false;
  return Status::Ok();
}

transport::ConnectionAddresses QueuePair::Addresses() const {
  const Fabric::Lock lock(fabric_);
  if (!connection_) return {};
  const transport::ConnectionAddresses& seen = connection_->addresses;
  if (is_active_) return seen;
  return {.local = seen.remote,
          .remote = seen.local,
          .local_port = seen.remote_port,
          .remote_port = seen.local_port};
}

}  // namespace softdat::toy
