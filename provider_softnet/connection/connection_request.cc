// SPDX-License-Identifier: BSD-3-Clause
// IwarpConnectionRequest: accept, reject, refuse.
#include "provider_softnet/connection/connection_request.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/connection/endpoint.h"

namespace softdat::softnet {

void DeliverRequest(const std::shared_ptr<ServicePoint>& point, ArrivedRequest arrived) {
  auto own = std::make_unique<IwarpConnectionRequest>(point->context, std::move(arrived));
  IwarpConnectionRequest* const raw = own.get();
  if (point->sink == nullptr) return raw->Refuse(RefuseReason::kNoListener);
  std::unique_ptr<transport::ConnectionRequest> request = std::move(own);
  point->sink->OnRequest(request);
  if (request != nullptr) raw->Refuse(RefuseReason::kBacklog);
}

bool PostRequest(const std::shared_ptr<ServicePoint>& point, ArrivedRequest* arrived) {
  const auto moved = std::make_shared<ArrivedRequest>(std::move(*arrived));
  if (point->context->driver.Post([point, moved] { DeliverRequest(point, std::move(*moved)); }))
    return true;
  *arrived = std::move(*moved);
  return false;
}

bool HandOnTo(const std::shared_ptr<ServicePoint>& point, ArrivedRequest* request) {
  const uint64_t before = std::exchange(request->conn_qual, point->conn_qual);
  const bool handed_on = std::exchange(request->handed_on, true);
  if (PostRequest(point, request)) return true;
  request->conn_qual = before;
  request->handed_on = handed_on;
  return false;
}

IwarpConnectionRequest::IwarpConnectionRequest(std::shared_ptr<ConnectionContext> context,
                                               ArrivedRequest request)
    : context_(std::move(context)), request_(std::move(request)) {
  const std::span<const uint8_t> data = request_.responder->peer_private_data();
  private_data_.assign(data.begin(), data.end());
}

// Why the requester is gone, or empty. An end that comes before the Reply means that the requester
// never had a connection. An end that comes later may belong to a connection that it made and left.
// Data in front of the end are left to the stream to judge.
std::string IwarpConnectionRequest::RequesterGone() const {
  while (true) {
    const ssize_t n = request_.link->Peek();
    if (n > 0 || (n < 0 && errno == EAGAIN)) return {};
    if (n == 0) return "the requester closed before it was answered";
    if (errno != EINTR) return strerror(errno);
  }
}

// The Reply fits into any socket buffer, because nothing else was sent on this connection.
bool IwarpConnectionRequest::SendReply() {
  MpaResponder& mpa = *request_.responder;
  while (!mpa.output().empty()) {
    const iovec iov{const_cast<uint8_t*>(mpa.output().data()), mpa.output().size()};
    const ssize_t n = request_.link->Send(&iov, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    mpa.OnSent(static_cast<size_t>(n));
  }
  return true;
}

Status IwarpConnectionRequest::Accept(transport::QueuePair& qp,
                                      std::span<const uint8_t> private_data) {
  const TokenHold token(&context_->driver.token());
  Endpoint& endpoint = static_cast<IwarpQueuePair&>(qp).endpoint();
  if (request_.link == nullptr)
    return Status(Code::kInvalidState, "the request is answered already");
  if (endpoint.context() != context_.get()) {
    return Status(Code::kInvalidArgument, "the queue pair belongs to another adapter");
  }
  if (Status s = endpoint.CheckAcceptable(); !s.ok()) return s;
  if (private_data.size() > context_->attributes.max_private_data ||
      !request_.responder->Accept(endpoint.attributes().max_read_in,
                                  endpoint.attributes().max_read_out, private_data)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} bytes of private data are too many", private_data.size()));
  }
  AgreedConnection connection;
  connection.requester_gone = RequesterGone();
  // If the peer leaves from now on, the endpoint notices when it reads the link.
  if (connection.requester_gone.empty()) SendReply();
  connection.link = std::move(request_.link);
  connection.agreement = request_.responder->agreement();
  connection.addresses = request_.addresses;
  endpoint.BeginAccepted(std::move(connection));
  return Status::Ok();
}

Status IwarpConnectionRequest::Reject(std::span<const uint8_t> private_data) {
  const TokenHold token(&context_->driver.token());
  if (request_.link == nullptr)
    return Status(Code::kInvalidState, "the request is answered already");
  if (private_data.size() > context_->attributes.max_private_data ||
      !request_.responder->Reject(private_data)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} bytes of private data are too many", private_data.size()));
  }
  SendReply();
  context_->CloseGently(std::move(request_.link));
  return Status::Ok();
}

// The caller has the request to itself, and nobody watches its link, so no token is needed.
Status IwarpConnectionRequest::Handoff(uint64_t conn_qual) {
  if (request_.link == nullptr)
    return Status(Code::kInvalidState, "the request is answered already");
  return context_->HandOn(&request_, conn_qual);
}

void IwarpConnectionRequest::Refuse(RefuseReason reason) {
  if (request_.link == nullptr) return;
  const TokenHold token(&context_->driver.token());
  SOFTDAT_LOG(Info, "request from {} for qualifier {} refused ({})",
              AddressText(request_.addresses.remote), conn_qual(), static_cast<uint64_t>(reason));
  request_.responder->Refuse(reason);
  SendReply();
  context_->CloseGently(std::move(request_.link));
}

}  // namespace softdat::softnet
