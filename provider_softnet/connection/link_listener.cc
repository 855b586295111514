// SPDX-License-Identifier: BSD-3-Clause
// LinkListener.
#include "provider_softnet/connection/link_listener.h"

#include <fmt/format.h>
#include <string.h>

#include <utility>

#include "dat/base/socket_address.h"
#include "provider_softnet/connection/incoming.h"

namespace softdat::softnet {

LinkListener::LinkListener(std::shared_ptr<ConnectionContext> context)
    : context_(std::move(context)) {
  point_->context = context_;
}

Status LinkListener::Check(const transport::ListenParameters& p) {
  if (p.sink == nullptr) return Status(Code::kInvalidArgument, "a listener without a sink");
  if (!p.any && p.conn_qual == 0) return Status(Code::kInvalidArgument, "connection qualifier 0");
  if (p.address != nullptr && AddressSize(*p.address) == 0) {
    return Status(Code::kAddressUnsupported, "the address to listen on is neither IPv4 nor IPv6");
  }
  return Status::Ok();
}

Status LinkListener::Listen(const transport::ListenParameters& p, std::string host,
                            Sockets sockets) {
  sockets_ = std::move(sockets);
  key_.first = std::move(host);
  point_->conn_qual = p.any ? 0 : p.conn_qual;
  point_->sink = p.sink;
  if (Status s = sockets_.ports->Join(point_, p.any, sockets_.open, &fd_, &key_); !s.ok()) return s;
  context_->driver.counters().sockets_opened.Add();
  const auto hold = [point = point_, port = key_.second](int error) {
    point->sink->OnRequestsHeld(
        fmt::format("cannot take connections on port {}: {}", port, strerror(error)));
  };
  acceptor_.emplace(point_,
                    Acceptor::Handler{[this](UniqueFd socket) { Take(std::move(socket)); }, hold});
  return acceptor_->Start(fd_.get());
}

LinkListener::~LinkListener() {
  const TokenHold token(&context_->driver.token());
  if (!acceptor_) return;
  acceptor_.reset();
  point_->sink = nullptr;
  sockets_.ports->Leave(key_, point_);
  fd_.Close();
  context_->driver.counters().sockets_closed.Add();
}

// Starting may make an upcall that destroys this listener.
void LinkListener::Take(UniqueFd socket) {
  std::unique_ptr<ByteLink> link = sockets_.link(std::move(socket), *context_);
  if (link == nullptr) return;
  context_->driver.counters().sockets_opened.Add();
  if (Incoming* const oldest = context_->half_open.Surplus()) oldest->Evict();
  const auto find = [ports = sockets_.ports, key = key_](uint64_t conn_qual, bool whole) {
    return ports->Find(key, conn_qual, whole);
  };
  const std::shared_ptr<ConnectionContext> context = context_;
  context->half_open.Add(std::make_unique<Incoming>(context, std::move(link), key_.second, find))
      ->Start();
}

}  // namespace softdat::softnet
