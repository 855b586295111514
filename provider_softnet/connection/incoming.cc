// SPDX-License-Identifier: BSD-3-Clause
// Incoming: reads one Request from an accepted link.
#include "provider_softnet/connection/incoming.h"

#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/connection/connection_request.h"
#include "provider_softnet/driver/loop_time.h"

namespace softdat::softnet {

Incoming::Incoming(std::shared_ptr<ConnectionContext> context, std::unique_ptr<ByteLink> link,
                   uint16_t port, FindServicePoint find)
    : context_(std::move(context)),
      link_(std::move(link)),
      port_(port),
      find_(std::move(find)),
      reception_(context_->options.handshake_timeout, LoopTime()),
      watch_(&context_->driver.loop(), [this](int) { OnReadable(); }),
      timer_(&context_->driver.loop(), [this] { OnTime(); }) {}

Incoming::~Incoming() {
  watch_.Stop();
  if (link_ != nullptr) context_->CloseNow(std::move(link_), true);
}

void Incoming::Start() {
  timer_.Start(std::chrono::microseconds(0));  // for the second look
  OnReadable();                                // the Request has often arrived already
}

void Incoming::OnTime() {
  if (!std::exchange(looked_again_, true)) {
    timer_.Start(context_->options.handshake_timeout);
    return OnReadable();
  }
  // The timer may fire early by the fraction that was lost in rounding.
  reception_.OnTime(std::max(LoopTime(), reception_.deadline()));
  Discard(reception_.why());
}

// A Request that has not come with its connection is often a few microseconds behind it. To watch a
// socket takes longer than that, so the next turn of the loop looks once more before.
void Incoming::Await() {
  if (watch_.active() || !looked_again_) return;
  if (Status s = watch_.Start(link_.get(), kReadable); !s.ok()) Discard(std::string(s.reason()));
}

// Leaves the half-open connections, to be destroyed soon.
void Incoming::Leave() {
  watch_.Stop();
  timer_.Stop();
  if (std::unique_ptr<Incoming> self = context_->half_open.Take(this))
    context_->driver.DeleteLater(std::shared_ptr<Incoming>(std::move(self)));
}

void Incoming::Evict() {
  reception_.Evict();
  Discard(reception_.why());
}

void Incoming::Discard(const std::string& why) {
  SOFTDAT_LOG(Warning, "connection from {} to port {} dropped: {}",
              AddressText(link_->RemoteAddress()), port_, why);
  Leave();
}

void Incoming::OnReadable() {
  while (reception_.bytes_wanted() > 0) {
    const iovec iov{reception_.room(), reception_.bytes_wanted()};
    const ssize_t n = link_->Receive(&iov, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return Await();
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
  uint64_t qualifier = port_;
  const bool whole = reception_.NamesQualifier(&qualifier);
  const std::shared_ptr<ServicePoint> point = find_(qualifier, whole);
  MpaConfig config;
  config.crc = context_->options.crc;
  config.conn_qual = point != nullptr ? point->conn_qual : qualifier;
  ArrivedRequest request;
  request.responder = reception_.Judge(config, point != nullptr);
  if (request.responder->state() != MpaState::kRequest) {
    const std::span<const uint8_t> refusal = request.responder->output();
    const iovec iov{const_cast<uint8_t*>(refusal.data()), refusal.size()};
    Discard(Reception::RefusalText(*request.responder));
    if (!refusal.empty() && link_->Send(&iov, 1) > 0) context_->CloseGently(std::move(link_));
    return;
  }
  request.addresses.local = link_->LocalAddress();
  request.addresses.remote = link_->RemoteAddress();
  request.addresses.local_port = request.conn_qual = point->conn_qual;
  request.addresses.remote_port = SocketPort(request.addresses.remote);
  request.link = std::move(link_);
  Leave();
  if (point->context == context_) return DeliverRequest(point, std::move(request));
  // The qualifier belongs to another adapter of this process, which has a loop of its own. If that
  // adapter closes just now, the request dies with its link.
  PostRequest(point, &request);
}

}  // namespace softdat::softnet
