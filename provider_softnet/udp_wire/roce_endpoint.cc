// SPDX-License-Identifier: BSD-3-Clause
// RoceEndpoint's control operations: creation, configuration, connecting, disconnecting, reset, the
// end.
#include "provider_softnet/udp_wire/roce_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "dat/backend_kit/own_address.h"
#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/driver/loop_time.h"
#include "provider_softnet/udp_wire/request_data.h"
#include "provider_softnet/udp_wire/route.h"
#include "wire/rdmacm/service_id.h"

namespace softdat::softnet {

namespace {

uint8_t Depth(uint32_t reads) { return static_cast<uint8_t>(std::min(reads, 128u)); }

}  // namespace

RoceEndpoint::RoceEndpoint(std::shared_ptr<RoceAdapter> adapter,
                           const transport::QueuePairAttributes& attributes)
    : adapter_(std::move(adapter)),
      driver_(&adapter_->driver),
      id_(adapter_->memory.NewQueuePairId()),
      queues_(attributes),
      gathering_({.messages = adapter_->options.gather_messages,
                  .bytes = adapter_->options.gather_bytes,
                  .halves = true,
                  .hold_bytes = adapter_->options.hold_bytes}),
      sink_(attributes.sink) {}

RoceEndpoint::~RoceEndpoint() = default;

Status RoceEndpoint::Configure(const transport::QueuePairAttributes& a) {
  const TokenHold token(&driver_->token());
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (state_ != State::kIdle && state_ != State::kEnded) {
      return Status(Code::kInvalidState, "the queue pair is connected or connecting");
    }
    if (Status s = queues_.CheckFits(a); !s.ok()) return s;
  }
  DropConnection();
  const std::lock_guard<FastMutex> lock(mutex_);
  // It looks again: receives may have been posted meanwhile.
  Status s = queues_.Set(a);
  if (s.ok()) sink_ = a.sink;
  return s;
}

Status RoceEndpoint::CheckAcceptable() const {
  const std::lock_guard<FastMutex> lock(mutex_);
  if (state_ != State::kIdle) return Status(Code::kInvalidState, "the queue pair is not idle");
  if (queues_.pd() == 0)
    return Status(Code::kInvalidState, "the queue pair has no protection domain");
  return Status::Ok();
}

Status RoceEndpoint::Connect(const transport::ConnectParameters& p) {
  if (AddressSize(p.remote) == 0) {
    return Status(Code::kAddressUnsupported,
                  fmt::format("address family {} is neither IPv4 nor IPv6", p.remote.ss_family));
  }
  if (p.conn_qual == 0) return Status(Code::kInvalidArgument, "connection qualifier 0");
  if (p.private_data.size() > adapter_->attributes.max_private_data) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} bytes of private data; {} are possible", p.private_data.size(),
                              adapter_->attributes.max_private_data));
  }
  const sockaddr_storage peer = PeerAddress(*adapter_, p.remote);
  Result<std::shared_ptr<RocePlane>> plane = adapter_->PlaneFor(peer);
  if (!plane.ok()) return plane.TakeStatus();
  const TokenHold token(&driver_->token());
  if (Status s = CheckAcceptable(); !s.ok()) return s;
  if (const int error = RouteError(plane.value()->address(), peer); error != 0) {
    return BeginUnreachable(p, error);
  }
  Result<uint32_t> qpn = plane.value()->AllocateQpn(this);
  if (!qpn.ok()) return qpn.TakeStatus();
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    plane_ = plane.Take();
  }
  const RequestData data(plane_->address(), plane_->source_port(), peer, p.conn_qual,
                         p.private_data);
  CmConnect connect;
  connect.local = plane_->address();
  connect.remote = peer;
  connect.service_id = rdmacm::ServiceIdOf(rdmacm::PortSpace::kTcp, PortOfQualifier(p.conn_qual));
  connect.qpn = qpn.value();
  connect.starting_psn = asked_psn_ = plane_->RandomPsn();
  connect.depths = {.in = Depth(attributes().max_read_in), .out = Depth(attributes().max_read_out)};
  connect.path_mtu = PathMtuCode(plane_->mtu());
  connect.retry_count = adapter_->options.retry_count;
  connect.rnr_retry_count = adapter_->options.rnr_retry_count;
  connect.local_ack_timeout = adapter_->options.ack_timeout;
  connect.srq = static_cast<bool>(queues_.srq());
  if (p.timeout != std::chrono::microseconds::max()) {
    connect.timeout_us = static_cast<uint64_t>(p.timeout.count());
  }
  if (IsLoopback(peer) || IsOwnAddress(peer)) {
    connect.grace_us =
        static_cast<uint64_t>(std::chrono::microseconds(adapter_->options.connect_grace).count());
  }
  connect.private_data = data.bytes();
  exchange_ = plane_->cm().Connect(connect, LoopTimeUs());
  accepted_ = false;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    state_ = State::kConnecting;
    qpn_ = qpn.value();
    addresses_ = {};
    addresses_.local = plane_->address();
    addresses_.local_port = plane_->source_port();
    addresses_.remote = p.remote;
    addresses_.remote_port = p.conn_qual;
  }
  plane_->Attach(exchange_, this);
  plane_->Flush();
  return Status::Ok();
}

// The consumer is told by an event (semantics 9.2).
Status RoceEndpoint::BeginUnreachable(const transport::ConnectParameters& p, int error) {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  state_ = State::kConnecting;
  addresses_ = {};
  addresses_.remote = p.remote;
  addresses_.remote_port = p.conn_qual;
  unreachable_ = fmt::format("connect to {}: {}", AddressText(p.remote), std::strerror(error));
  pending_.unreachable = true;
  Finish(&lock, &upcalls);
  return Status::Ok();
}

void RoceEndpoint::Disconnect(transport::DisconnectMode mode) {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  if (state_ == State::kConnected) {
    gathering_.OnWritten();  // they leave first
    connection_->Disconnect(mode);
    if (!connection_->ended()) pending_.draining = true;
    return Finish(&lock, &upcalls);
  }
  if (state_ != State::kConnecting) return;
  lock.unlock();
  const TokenHold token(&driver_->token());
  lock.lock();
  if (state_ == State::kConnected) {
    lock.unlock();
    return Disconnect(mode);
  }
  if (state_ != State::kConnecting) return;
  lock.unlock();
  DropConnection();
  lock.lock();
  state_ = State::kEnded;
  queues_.FlushReceives(&upcalls);
  pending_.aborted = true;
  Finish(&lock, &upcalls);
}

Status RoceEndpoint::Reset() {
  const TokenHold token(&driver_->token());
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (state_ == State::kIdle) return Status::Ok();
    if (state_ != State::kEnded)
      return Status(Code::kInvalidState, "the queue pair is still connected");
  }
  DropConnection();
  const std::lock_guard<FastMutex> lock(mutex_);
  state_ = State::kIdle;
  addresses_ = {};
  queues_.DropReceives();
  return Status::Ok();
}

void RoceEndpoint::Shutdown() {
  // What is flushed may be all that a waiter of the queue is going to be told of: last of all,
  // without the token.
  PendingUpcalls upcalls;
  const TokenHold token(&driver_->token());
  sink_ = nullptr;
  bool unattended;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    dead_ = true;
    if (connection_ != nullptr && state_ == State::kConnected) {
      gathering_.OnWritten();
      connection_->Disconnect(transport::DisconnectMode::kAbrupt);
      Transmit();
      TakeActions(&upcalls);
    }
    // Its limit runs, or is about to be started (AttendToEnd). The exchange keeps it until then.
    unattended = pending_.ended;
    lingers_ = exchange_ != 0 && connection_ != nullptr && connection_->ended() &&
               connection_->end().refused && (unattended || (limit_ && limit_->running()));
  }
  if (!lingers_) return Vanish();
  if (unattended) driver_->RequestAttention(this);
}

void RoceEndpoint::OnPlaneStops() {
  if (lingers_) Vanish();
}

void RoceEndpoint::Vanish() {
  DropConnection();
  if (timer_) timer_->Close();
  if (limit_) limit_->Close();
  if (farewell_) farewell_->Close();
  const std::lock_guard<FastMutex> lock(mutex_);
  lingers_ = false;
  state_ = State::kEnded;
  queues_.Release();
}

// Detaches everything that belongs to the connection. A peer that has one is told.
void RoceEndpoint::DropConnection() {
  if (timer_) timer_->Stop();
  if (limit_) limit_->Stop();
  if (farewell_) farewell_->Stop();
  established_ = false;
  drained_mark_ = UINT64_MAX;
  if (exchange_ != 0) {
    plane_->Detach(exchange_);
    plane_->cm().Abandon(exchange_, LoopTimeUs());
    exchange_ = 0;
    plane_->Flush();
  }
  const std::lock_guard<FastMutex> lock(mutex_);
  connection_.reset();
  data_open_ = false;
  full_ = false;
  owing_ = false;
  ride_hope_ = {};
  armed_us_ = 0;
  qpn_ = 0;
  early_.clear();
  gathering_.Reset();
  pending_ = {};
}

transport::ConnectionAddresses RoceEndpoint::Addresses() const {
  const std::lock_guard<FastMutex> lock(mutex_);
  return addresses_;
}

uint32_t RoceEndpoint::OutstandingSends() const {
  const std::lock_guard<FastMutex> lock(mutex_);
  return queues_.sends().count();
}

uint32_t RoceEndpoint::OutstandingReceives() const {
  const std::lock_guard<FastMutex> lock(mutex_);
  if (!queues_.srq()) return queues_.receives().count();
  return connection_ == nullptr ? 0 : connection_->held_receives();
}

Status RoceEndpoint::SetReceiveWatermarks(uint32_t soft, uint32_t hard) {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  queues_.SetWatermarks(soft, hard);
  if (connection_ != nullptr) connection_->OnWatermarksSet();
  Finish(&lock, &upcalls);
  return Status::Ok();
}

}  // namespace softdat::softnet
