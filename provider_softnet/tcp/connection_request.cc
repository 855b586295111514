// SPDX-License-Identifier: BSD-3-Clause
// TcpConnectionRequest: accept, reject, refuse.
#include "provider_softnet/tcp/connection_request.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/tcp/endpoint.h"
#include "provider_softnet/tcp/handoff_sender.h"
#include "provider_softnet/tcp/socket_util.h"

namespace softdat::softnet {

void DeliverRequest(const std::shared_ptr<ServicePoint>& point, ArrivedRequest arrived) {
  auto own = std::make_unique<TcpConnectionRequest>(point->adapter, std::move(arrived));
  TcpConnectionRequest* const raw = own.get();
  if (point->sink == nullptr) return raw->Refuse(RefuseReason::kNoListener);
  std::unique_ptr<transport::ConnectionRequest> request = std::move(own);
  point->sink->OnRequest(request);
  if (request != nullptr) raw->Refuse(RefuseReason::kBacklog);
}

bool PostRequest(const std::shared_ptr<ServicePoint>& point, ArrivedRequest* arrived) {
  const auto moved = std::make_shared<ArrivedRequest>(std::move(*arrived));
  if (point->adapter->driver.Post([point, moved] { DeliverRequest(point, std::move(*moved)); }))
    return true;
  *arrived = std::move(*moved);
  return false;
}

TcpConnectionRequest::TcpConnectionRequest(std::shared_ptr<TcpContext> adapter,
                                           ArrivedRequest request)
    : adapter_(std::move(adapter)), request_(std::move(request)) {
  const std::span<const uint8_t> data = request_.responder->peer_private_data();
  private_data_.assign(data.begin(), data.end());
}

// Whether the requester gave up before the Reply. Only then does its end tell that it never had a
// connection: behind the Reply, an end without a message is one it may have made and left. Data in
// front of the end are left to the stream to judge.
std::string TcpConnectionRequest::RequesterGone() const {
  while (true) {
    const ssize_t n = PeekNow(request_.fd.get());
    if (n > 0 || (n < 0 && errno == EAGAIN)) return {};
    if (n == 0) return "the requester closed before it was answered";
    if (errno != EINTR) return strerror(errno);
  }
}

// The Reply fits any socket buffer: nothing else was sent on this connection.
bool TcpConnectionRequest::SendReply() {
  MpaResponder& mpa = *request_.responder;
  while (!mpa.output().empty()) {
    const iovec iov{const_cast<uint8_t*>(mpa.output().data()), mpa.output().size()};
    const ssize_t n = SendNow(request_.fd.get(), &iov, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    mpa.OnSent(static_cast<size_t>(n));
  }
  return true;
}

Status TcpConnectionRequest::Accept(transport::QueuePair& qp,
                                    std::span<const uint8_t> private_data) {
  const TokenHold token(&adapter_->driver.token());
  Endpoint& endpoint = static_cast<TcpQueuePair&>(qp).endpoint();
  if (!request_.fd.valid()) return Status(Code::kInvalidState, "the request is answered already");
  if (endpoint.adapter() != adapter_.get()) {
    return Status(Code::kInvalidArgument, "the queue pair belongs to another adapter");
  }
  if (Status s = endpoint.CheckAcceptable(); !s.ok()) return s;
  if (private_data.size() > adapter_->attributes.max_private_data ||
      !request_.responder->Accept(endpoint.attributes().max_read_in,
                                  endpoint.attributes().max_read_out, private_data)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} bytes of private data are too many", private_data.size()));
  }
  AgreedConnection connection;
  connection.requester_gone = RequesterGone();
  // A peer that goes from now on shows when the endpoint reads its socket.
  if (connection.requester_gone.empty()) SendReply();
  connection.fd = std::move(request_.fd);
  connection.agreement = request_.responder->agreement();
  connection.addresses = request_.addresses;
  endpoint.BeginAccepted(std::move(connection));
  return Status::Ok();
}

Status TcpConnectionRequest::Reject(std::span<const uint8_t> private_data) {
  const TokenHold token(&adapter_->driver.token());
  if (!request_.fd.valid()) return Status(Code::kInvalidState, "the request is answered already");
  if (private_data.size() > adapter_->attributes.max_private_data ||
      !request_.responder->Reject(private_data)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} bytes of private data are too many", private_data.size()));
  }
  SendReply();
  adapter_->CloseGently(std::move(request_.fd));
  return Status::Ok();
}

// Whoever calls it has the request for itself, and nobody watches its socket: no token is needed.
Status TcpConnectionRequest::Handoff(uint64_t conn_qual) {
  if (!request_.fd.valid()) return Status(Code::kInvalidState, "the request is answered already");
  const std::string host = HostText(request_.addresses.local);
  if (const auto point = PortRegistry::Get().FindForHandoff(host, conn_qual)) {
    const uint64_t before = std::exchange(request_.conn_qual, conn_qual);
    const bool handed_on = std::exchange(request_.handed_on, true);
    if (PostRequest(point, &request_)) return Status::Ok();
    request_.conn_qual = before;
    request_.handed_on = handed_on;
  }
  const HandoffOffer offer{conn_qual, request_.responder->received()};
  Status status = OfferToProcess(offer, host, request_.fd.get(), adapter_->options.handoff_timeout);
  if (!status.ok()) return status;
  const TokenHold token(&adapter_->driver.token());
  adapter_->CloseNow(std::move(request_.fd), false);
  return status;
}

void TcpConnectionRequest::Refuse(RefuseReason reason) {
  if (!request_.fd.valid()) return;
  const TokenHold token(&adapter_->driver.token());
  SOFTDAT_LOG(Info, "request from {} for qualifier {} refused ({})",
              AddressText(request_.addresses.remote), conn_qual(), static_cast<uint64_t>(reason));
  request_.responder->Refuse(reason);
  SendReply();
  adapter_->CloseGently(std::move(request_.fd));
}

}  // namespace softdat::softnet
