// SPDX-License-Identifier: BSD-3-Clause
// Incoming: one Request read from an accepted socket.
#include "provider_softnet/tcp/incoming.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>

#include <algorithm>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/tcp/connection_request.h"
#include "provider_softnet/tcp/socket_util.h"
#include "wire/iwarp/mpa.h"
#include "wire/private_header.h"

namespace softdat::softnet {

Incoming::Incoming(std::shared_ptr<TcpContext> adapter, UniqueFd fd, PortKey key)
    : adapter_(std::move(adapter)),
      fd_(std::move(fd)),
      key_(std::move(key)),
      wanted_(iwarp::kMpaHeaderSize),
      watch_(&adapter_->driver.loop(), [this](int) { OnReadable(); }),
      timer_(&adapter_->driver.loop(),
             [this] { Discard("no whole request within the time limit"); }) {}

Incoming::~Incoming() {
  watch_.Stop();
  if (fd_.valid()) adapter_->CloseNow(std::move(fd_), true);
}

void Incoming::Start() {
  timer_.Start(adapter_->options.handshake_timeout);
  if (Status s = watch_.Start(fd_.get(), UV_READABLE); !s.ok())
    return Discard(std::string(s.reason()));
  OnReadable();  // on loopback the Request is often there already
}

void Incoming::Leave() {
  watch_.Stop();
  timer_.Stop();
  auto& list = adapter_->half_open;
  const auto it =
      std::find_if(list.begin(), list.end(), [this](const auto& i) { return i.get() == this; });
  if (it == list.end()) return;
  std::unique_ptr<Incoming> self = std::move(*it);
  list.erase(it);
  adapter_->driver.DeleteLater(std::shared_ptr<Incoming>(std::move(self)));
}

void Incoming::Discard(const std::string& why) {
  SOFTDAT_LOG(Warning, "connection from {} to port {} dropped: {}",
              AddressText(RemoteAddressOf(fd_.get())), key_.second, why);
  Leave();
}

void Incoming::OnReadable() {
  while (have_ < wanted_) {
    const iovec iov{frame_.data() + have_, wanted_ - have_};
    const ssize_t n = ReceiveNow(fd_.get(), &iov, 1);
    if (n == 0) return Discard("the peer closed before its request was complete");
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) return Discard(strerror(errno));
    have_ += static_cast<size_t>(n);
    iwarp::MpaStart frame;
    const iwarp::MpaParseResult parsed = iwarp::ParseMpaStart({frame_.data(), have_}, &frame);
    if (parsed.status == iwarp::MpaParseStatus::kNeedMore) {
      wanted_ = std::min(parsed.bytes, frame_.size());
    } else if (parsed.status == iwarp::MpaParseStatus::kOk || have_ == wanted_) {
      return OnFrame();
    } else {
      return Discard("no MPA request");
    }
  }
}

void Incoming::OnFrame() {
  iwarp::MpaStart frame;
  uint64_t qualifier = key_.second;
  const bool readable =
      iwarp::ParseMpaStart({frame_.data(), have_}, &frame).status == iwarp::MpaParseStatus::kOk;
  const bool whole = readable && FindPrivateHeader(frame.private_data, kQualifierMagic, &qualifier);
  const std::shared_ptr<ServicePoint> point = PortRegistry::Get().Find(key_, qualifier, whole);

  MpaConfig config;
  config.crc = adapter_->options.crc;
  config.conn_qual = point != nullptr ? point->conn_qual : qualifier;
  ArrivedRequest request;
  request.responder = std::make_unique<MpaResponder>(config);
  request.responder->ReceiveAll({frame_.data(), have_});
  if (point == nullptr) request.responder->Refuse(RefuseReason::kNoListener);
  if (request.responder->state() != MpaState::kRequest) {
    // Garbage, or a request that this side cannot serve; the refusal, if there is one, says so.
    const std::span<const uint8_t> refusal = request.responder->output();
    const iovec iov{const_cast<uint8_t*>(refusal.data()), refusal.size()};
    if (!refusal.empty() && SendNow(fd_.get(), &iov, 1) > 0) adapter_->CloseGently(std::move(fd_));
    return Discard(request.responder->reason().empty() ? "no service point for its qualifier"
                                                       : request.responder->reason());
  }
  request.addresses.local = LocalAddressOf(fd_.get());
  request.addresses.remote = RemoteAddressOf(fd_.get());
  request.addresses.local_port = request.conn_qual = point->conn_qual;
  request.addresses.remote_port = SocketPort(request.addresses.remote);
  request.fd = std::move(fd_);
  Leave();
  if (point->adapter == adapter_) return DeliverRequest(point, std::move(request));
  // The qualifier belongs to another adapter of this process, with a loop of its own. If it closes
  // just now, the request dies with its socket.
  PostRequest(point, &request);
}

}  // namespace softdat::softnet
