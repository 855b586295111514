// SPDX-License-Identifier: BSD-3-Clause
// How queue pairs for datagrams meet: the requester's side, and the request at the listener.
#include <utility>

#include "provider_toy/datagram_pair.h"
#include "provider_toy/datagram_request.h"
#include "provider_toy/listener.h"

namespace softdat::toy {

Status DatagramPair::Meet() {
  if (attributes_.pd == nullptr) return Status(Code::kInvalidState, "no protection domain");
  if (attributes_.datagram_sink == nullptr) return Status(Code::kInvalidState, "no datagram sink");
  has_met_ = true;
  return Status::Ok();
}

Status DatagramPair::Resolve(const transport::ConnectParameters& parameters, uint64_t token) {
  if (parameters.private_data.size() > kMaxPrivateData) {
    return Status(Code::kInvalidArgument, "more than 256 bytes of private data");
  }
  auto exchange = std::make_shared<Exchange>();
  const Code code = DeviceOf(parameters.remote, &exchange->to_device);
  if (code == Code::kAddressUnsupported) return Status(code, "neither an IPv4 nor an IPv6 address");
  const Fabric::Lock lock(fabric_);
  if (Status status = Meet(); !status.ok()) return status;
  exchange->requester = this;
  exchange->token = token;
  exchange->number = number_;
  exchange->from_device = device_;
  exchange->conn_qual = parameters.conn_qual;
  exchange->request_data.assign(parameters.private_data.begin(), parameters.private_data.end());
  exchange->addresses.local = AddressOf(device_, parameters.remote.ss_family);
  exchange->addresses.remote = parameters.remote;
  exchange->addresses.local_port = number_;
  exchange->addresses.remote_port = parameters.conn_qual;
  exchanges_.insert(exchange);
  if (code != Code::kOk) {
    Unresolved(exchange, transport::RejectReason::kUnreachable, {},
               "no toy device has this address");
    return Status::Ok();
  }
  Listener* const listener = fabric_.FindListener(exchange->to_device, parameters.conn_qual);
  if (listener == nullptr) {
    Unresolved(exchange, transport::RejectReason::kNonPeer, {},
               "nobody listens at qualifier " + std::to_string(parameters.conn_qual));
    return Status::Ok();
  }
  listener->Deliver(std::make_unique<DatagramRequest>(fabric_, exchange));
  if (parameters.timeout != std::chrono::microseconds::max())
    SetTimer(exchange, parameters.timeout);
  return Status::Ok();
}

void DatagramPair::SetTimer(const std::shared_ptr<Exchange>& exchange,
                            std::chrono::microseconds timeout) {
  exchange->has_timer = true;
  exchange->timer = dispatcher_.PostAt(DeadlineOf(timeout), gate_, [this, exchange] {
    const Fabric::Lock lock(fabric_);
    if (exchange->requester == nullptr) return;
    Unresolved(exchange, transport::RejectReason::kTimedOut, {}, "the peer did not answer in time");
  });
}

void DatagramPair::End(Exchange& exchange) {
  if (exchange.has_timer) dispatcher_.Cancel(exchange.timer);
  exchange.requester = nullptr;
  std::erase_if(exchanges_, [&](const auto& held) { return held.get() == &exchange; });
}

void DatagramPair::Resolved(const std::shared_ptr<Exchange>& exchange, transport::DatagramPeer peer,
                            std::span<const uint8_t> private_data) {
  End(*exchange);
  dispatcher_.Post(gate_, [sink = attributes_.datagram_sink, token = exchange->token,
                           found = std::make_shared<transport::DatagramPeer>(std::move(peer)),
                           data = std::vector<uint8_t>(private_data.begin(), private_data.end())] {
    sink->OnResolved(token, std::move(*found), data);
  });
}

void DatagramPair::Unresolved(const std::shared_ptr<Exchange>& exchange,
                              transport::RejectReason reason, std::span<const uint8_t> private_data,
                              std::string why) {
  End(*exchange);
  dispatcher_.Post(gate_, [sink = attributes_.datagram_sink, token = exchange->token, reason,
                           why = std::move(why),
                           data = std::vector<uint8_t>(private_data.begin(), private_data.end())] {
    sink->OnUnresolved(token, reason, data, why);
  });
}

DatagramRequest::DatagramRequest(Fabric& fabric, std::shared_ptr<Exchange> exchange)
    : fabric_(fabric),
      exchange_(std::move(exchange)),
      addresses_{.local = exchange_->addresses.remote,
                 .remote = exchange_->addresses.local,
                 .local_port = exchange_->addresses.remote_port,
                 .remote_port = exchange_->addresses.local_port} {}

DatagramRequest::~DatagramRequest() {
  if (fabric_.abandoned()) return;
  const Fabric::Lock lock(fabric_);
  if (!spent_) Refuse(transport::RejectReason::kNonPeer, {}, "nobody took the request");
}

Status DatagramRequest::CheckAnswer(std::span<const uint8_t> private_data) const {
  if (spent_) return Status(Code::kInvalidState, "the request was answered already");
  if (private_data.size() > kMaxPrivateData) {
    return Status(Code::kInvalidArgument, "more than 256 bytes of private data");
  }
  return Status::Ok();
}

Result<transport::DatagramPeer> DatagramRequest::AcceptDatagrams(
    transport::QueuePair& qp, std::span<const uint8_t> private_data) {
  const Fabric::Lock lock(fabric_);
  if (Status status = CheckAnswer(private_data); !status.ok()) return status;
  DatagramPair& acceptor = static_cast<DatagramPair&>(qp);
  if (Status status = acceptor.Meet(); !status.ok()) return status;
  transport::DatagramPeer requester =
      Peer(exchange_->from_device, addresses_.remote, exchange_->number);
  transport::DatagramPeer answer = Peer(exchange_->to_device, addresses_.local, acceptor.number());
  spent_ = true;
  if (exchange_->requester != nullptr)
    exchange_->requester->Resolved(exchange_, std::move(answer), private_data);
  return requester;
}

transport::DatagramPeer DatagramRequest::Peer(uint32_t device, const sockaddr_storage& address,
                                              uint32_t number) {
  transport::DatagramPeer peer;
  peer.handle = std::make_unique<AddressHandle>(device, address);
  peer.number = number;
  peer.qkey = kQkey;
  peer.address = address;
  return peer;
}

Status DatagramRequest::Reject(std::span<const uint8_t> private_data) {
  const Fabric::Lock lock(fabric_);
  if (Status status = CheckAnswer(private_data); !status.ok()) return status;
  spent_ = true;
  Refuse(transport::RejectReason::kPeer, private_data, "the peer's program rejected");
  return Status::Ok();
}

Status DatagramRequest::Accept(transport::QueuePair&, std::span<const uint8_t>) {
  return Status(Code::kInvalidState, "the request is for datagrams");
}

void DatagramRequest::Refuse(transport::RejectReason reason, std::span<const uint8_t> private_data,
                             std::string why) {
  if (exchange_->requester == nullptr) return;
  exchange_->requester->Unresolved(exchange_, reason, private_data, std::move(why));
}

}  // namespace softdat::toy
