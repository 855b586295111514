// SPDX-License-Identifier: BSD-3-Clause
// Endpoint's control operations: creation, configuration, connecting, disconnecting, reset,
// shutdown.
#include "provider_softnet/connection/endpoint.h"

#include <fmt/format.h>

#include <utility>

#include "dat/base/socket_address.h"
#include "provider_softnet/connection/connector.h"

namespace softdat::softnet {

Endpoint::Endpoint(std::shared_ptr<ConnectionContext> context,
                   const transport::QueuePairAttributes& attributes)
    : context_(std::move(context)),
      driver_(&context_->driver),
      id_(context_->memory.NewQueuePairId()),
      queues_(attributes),
      gathering_({.messages = context_->options.gather_messages,
                  .bytes = context_->options.gather_bytes,
                  .halves = context_->options.confirm,
                  .hold_bytes = context_->options.hold_bytes}),
      sink_(attributes.sink) {}

Endpoint::~Endpoint() = default;

Status Endpoint::Configure(const transport::QueuePairAttributes& a) {
  const TokenHold token(&driver_->token());
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (state_ != State::kIdle && state_ != State::kEnded) {
      return Status(Code::kInvalidState, "the queue pair is connected or connecting");
    }
    if (Status s = queues_.CheckFits(a); !s.ok()) return s;
  }
  DropConnection(true);
  const std::lock_guard<FastMutex> lock(mutex_);
  // Set() checks the attributes again, because receives may have been posted meanwhile.
  Status s = queues_.Set(a);
  if (s.ok()) sink_ = a.sink;
  return s;
}

Status Endpoint::Connect(const transport::ConnectParameters& parameters) {
  const TokenHold token(&driver_->token());
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (state_ != State::kIdle) return Status(Code::kInvalidState, "the queue pair is not idle");
    if (queues_.pd() == 0)
      return Status(Code::kInvalidState, "the queue pair has no protection domain");
  }
  if (AddressSize(parameters.remote) == 0) {
    return Status(
        Code::kAddressUnsupported,
        fmt::format("address family {} is neither IPv4 nor IPv6", parameters.remote.ss_family));
  }
  if (parameters.conn_qual == 0) return Status(Code::kInvalidArgument, "connection qualifier 0");
  if (parameters.private_data.size() > context_->attributes.max_private_data) {
    return Status(Code::kInvalidArgument, fmt::format("{} bytes of private data; {} are possible",
                                                      parameters.private_data.size(),
                                                      context_->attributes.max_private_data));
  }
  if (Status s = driver_->Start(); !s.ok()) return s;
  auto connector = std::make_unique<Connector>(this, context_.get(), parameters,
                                               attributes().max_read_in, attributes().max_read_out);
  if (Status s = connector->Start(); !s.ok()) return s;
  connector_ = std::move(connector);
  const std::lock_guard<FastMutex> lock(mutex_);
  state_ = State::kConnecting;
  addresses_ = {};
  addresses_.remote = parameters.remote;
  addresses_.remote_port = parameters.conn_qual;
  return Status::Ok();
}

void Endpoint::Disconnect(transport::DisconnectMode mode) {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  if (state_ == State::kConnected) {
    gathering_.OnWritten();  // gathered sends leave first
    stream_->Disconnect(mode);
    if (!stream_->ended()) pending_.draining = true;
    return Finish(&lock, &upcalls);
  }
  if (state_ == State::kEnded && mode == transport::DisconnectMode::kAbrupt) {
    // An abrupt disconnect overtakes a graceful one whose data the peer may still hold.
    if (stream_ != nullptr) stream_->Disconnect(mode);
    lock.unlock();
    const TokenHold token(&driver_->token());
    return context_->HurryClosing(closing_);
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
  // The peer of an accepted connection believes that it is connected, so it must see an orderly
  // end.
  DropConnection(false);
  lock.lock();
  state_ = State::kEnded;
  queues_.FlushReceives(&upcalls);
  pending_.aborted = true;
  Finish(&lock, &upcalls);
}

Status Endpoint::Reset() {
  const TokenHold token(&driver_->token());
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (state_ == State::kIdle) return Status::Ok();
    if (state_ != State::kEnded)
      return Status(Code::kInvalidState, "the queue pair is still connected");
  }
  DropConnection(true);
  const std::lock_guard<FastMutex> lock(mutex_);
  state_ = State::kIdle;
  closing_ = 0;
  addresses_ = {};
  queues_.DropReceives();
  return Status::Ok();
}

void Endpoint::Shutdown() {
  // The upcalls for flushed work may be the last thing that a waiter on the queue hears. They are
  // made at the very end, without the token.
  PendingUpcalls upcalls;
  const TokenHold token(&driver_->token());
  bool connected;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    dead_ = true;
    connected = state_ == State::kConnected || state_ == State::kConnecting;
    // A message that is half sent must be sent whole, so that the peer sees an orderly end.
    if (stream_ != nullptr && state_ == State::kConnected) {
      gathering_.OnWritten();
      stream_->Disconnect(transport::DisconnectMode::kAbrupt);
      Transmit();
      TakeActions(&upcalls);
    }
  }
  sink_ = nullptr;
  DropConnection(!connected, true);
  if (stream_timer_) stream_timer_->Close();
  if (limit_timer_) limit_timer_->Close();
  const std::lock_guard<FastMutex> lock(mutex_);
  state_ = State::kEnded;
  queues_.Release();
}

// Detaches everything that belongs to the connection. Closes the link with a reset or with a FIN.
void Endpoint::DropConnection(bool reset, bool abrupt) {
  if (connector_ != nullptr) {
    connector_->Cancel();
    driver_->DeleteLater(std::shared_ptr<Connector>(std::move(connector_)));
  }
  acceptance_.reset();
  established_ = false;
  CloseConnection(reset, abrupt);
  const std::lock_guard<FastMutex> lock(mutex_);
  stream_.reset();
  pending_ = {};
}

// `abrupt`: the peer need not deliver what it still holds.
void Endpoint::CloseConnection(bool reset, bool abrupt) {
  if (stream_timer_) stream_timer_->Stop();
  if (limit_timer_) limit_timer_->Stop();
  draining_ = false;
  driver_->DropHot(this, HotSetOf(queues_.send_cq()), HotSetOf(queues_.recv_cq()));
  context_->paths.Remove(this);
  context_->leavers.Remove(this);
  path_judge_.Forget();
  std::unique_ptr<ByteLink> link;
  std::vector<uint8_t> rest;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (!reset && abrupt) rest = TakeRest();
    data_open_ = false;
    send_blocked_ = false;
    hangup_seen_ = false;
    gathering_.Reset();
    link = std::move(link_);
  }
  if (watch_ && (reset || link == nullptr)) watch_->Stop();
  if (link == nullptr) return;
  if (reset) {
    context_->CloseNow(std::move(link), true);
  } else {
    SocketWatch* const watch = watch_ ? watch_->Release() : nullptr;
    closing_ = context_->CloseGently(std::move(link), abrupt, std::move(rest), watch);
  }
}

// What an ended stream still has to send: the rest of a message that is half sent. With it, the
// peer sees an orderly end.
std::vector<uint8_t> Endpoint::TakeRest() {
  std::vector<uint8_t> rest;
  if (link_ != nullptr) link_->MakeRoom();  // the process may end before the peer reads
  iovec iov[4];
  while (stream_ != nullptr && stream_->ended() && stream_->wants_transmit()) {
    const Stream::Batch batch = stream_->TransmitVector(iov, std::size(iov), SIZE_MAX);
    for (size_t i = 0; i < batch.count; ++i) {
      const auto* bytes = static_cast<const uint8_t*>(iov[i].iov_base);
      rest.insert(rest.end(), bytes, bytes + iov[i].iov_len);
    }
    stream_->OnTransmitted(batch.bytes);
    if (batch.count == 0) break;
  }
  return rest;
}

transport::ConnectionAddresses Endpoint::Addresses() const {
  const std::lock_guard<FastMutex> lock(mutex_);
  return addresses_;
}

uint32_t Endpoint::OutstandingSends() const {
  const std::lock_guard<FastMutex> lock(mutex_);
  return queues_.sends().count();
}

uint32_t Endpoint::OutstandingReceives() const {
  const std::lock_guard<FastMutex> lock(mutex_);
  if (!queues_.srq()) return queues_.receives().count();
  return stream_ == nullptr ? 0 : stream_->held_receives();
}

bool Endpoint::ConfirmsCompletions() const {
  const std::lock_guard<FastMutex> lock(mutex_);
  return stream_ == nullptr || stream_->can_confirm();
}

Status Endpoint::SetReceiveWatermarks(uint32_t soft, uint32_t hard) {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  queues_.SetWatermarks(soft, hard);
  if (stream_ != nullptr) stream_->OnWatermarksSet();
  Finish(&lock, &upcalls);
  return Status::Ok();
}

Status Endpoint::CheckAcceptable() const {
  const std::lock_guard<FastMutex> lock(mutex_);
  if (state_ != State::kIdle) return Status(Code::kInvalidState, "the queue pair is not idle");
  if (queues_.pd() == 0)
    return Status(Code::kInvalidState, "the queue pair has no protection domain");
  return Status::Ok();
}

}  // namespace softdat::softnet
