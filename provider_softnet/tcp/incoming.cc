// SPDX-License-Identifier: BSD-3-Clause
// Incoming: one Request read from an accepted socket.
#include "provider_softnet/tcp/incoming.h"

#include <errno.h>
#include <fmt/format.h>

#include <algorithm>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/tcp/connection_request.h"
#include "provider_softnet/tcp/loop_time.h"
#include "provider_softnet/tcp/socket_util.h"

namespace softdat::softnet {

Incoming::Incoming(std::shared_ptr<TcpContext> adapter, UniqueFd fd, PortKey key)
    : adapter_(std::move(adapter)),
      fd_(std::move(fd)),
      key_(std::move(key)),
      reception_(adapter_->options.handshake_timeout, LoopTime()),
      watch_(&adapter_->driver.loop(), [this](int) { OnReadable(); }),
      timer_(&adapter_->driver.loop(), [this] {
        // The timer may be early by the fraction that it was rounded.
        reception_.OnTime(std::max(LoopTime(), reception_.deadline()));
        Discard(reception_.why());
      }) {}

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

// Out of the half-open ones, to be destroyed soon.
void Incoming::Leave() {
  watch_.Stop();
  timer_.Stop();
  if (std::unique_ptr<Incoming> self = adapter_->half_open.Take(this))
    adapter_->driver.DeleteLater(std::shared_ptr<Incoming>(std::move(self)));
}

void Incoming::Evict() {
  reception_.Evict();
  Discard(reception_.why());
}

void Incoming::Discard(const std::string& why) {
  SOFTDAT_LOG(Warning, "connection from {} to port {} dropped: {}",
              AddressText(RemoteAddressOf(fd_.get())), key_.second, why);
  Leave();
}

void Incoming::OnReadable() {
  while (reception_.bytes_wanted() > 0) {
    const iovec iov{reception_.room(), reception_.bytes_wanted()};
    const ssize_t n = ReceiveNow(fd_.get(), &iov, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n > 0) {
      reception_.OnReceived(static_cast<size_t>(n));
    } else {
      reception_.OnLost(n == 0 ? 0 : errno);
    }
  }
  if (reception_.state() == Reception::State::kDropped) return Discard(reception_.why());
  OnRequest();
}

void Incoming::OnRequest() {
  uint64_t qualifier = key_.second;
  const bool whole = reception_.NamesQualifier(&qualifier);
  const std::shared_ptr<ServicePoint> point = PortRegistry::Get().Find(key_, qualifier, whole);
  MpaConfig config;
  config.crc = adapter_->options.crc;
  config.conn_qual = point != nullptr ? point->conn_qual : qualifier;
  ArrivedRequest request;
  request.responder = reception_.Judge(config, point != nullptr);
  if (request.responder->state() != MpaState::kRequest) {
    const std::span<const uint8_t> refusal = request.responder->output();
    const iovec iov{const_cast<uint8_t*>(refusal.data()), refusal.size()};
    if (!refusal.empty() && SendNow(fd_.get(), &iov, 1) > 0) adapter_->CloseGently(std::move(fd_));
    return Discard(Reception::RefusalText(*request.responder));
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
