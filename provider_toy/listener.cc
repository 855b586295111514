// SPDX-License-Identifier: BSD-3-Clause
// Listener and ConnectionRequest.
#include "provider_toy/listener.h"

#include <utility>

namespace softdat::toy {

Result<std::unique_ptr<transport::Listener>> Listener::Create(
    Fabric& fabric, Dispatcher& dispatcher, uint32_t device,
    const transport::ListenParameters& parameters) {
  if (parameters.sink == nullptr) return Status(Code::kInvalidArgument, "a listener needs a sink");
  if (parameters.address != nullptr) {
    uint32_t named = 0;
    const Code code = DeviceOf(*parameters.address, &named);
    if (code == Code::kAddressUnsupported || (code == Code::kOk && named != device)) {
      return Status(Code::kAddressUnsupported, "not an address of this device");
    }
    if (code != Code::kOk) return Status(code, "not an address of any toy device");
  }
  const Fabric::Lock lock(fabric);
  const uint64_t qualifier = parameters.any ? fabric.FreeQualifier(device) : parameters.conn_qual;
  if (parameters.any && qualifier == 0) {
    return Status(Code::kNoFreeQualifier, "all qualifiers of the dynamic range are taken");
  }
  std::unique_ptr<Listener> listener(
      new Listener(fabric, dispatcher, device, qualifier, parameters.sink));
  Status status = fabric.AddListener(device, qualifier, listener.get());
  if (!status.ok()) return status;
  listener->listed_ = true;
  return std::unique_ptr<transport::Listener>(std::move(listener));
}

Listener::~Listener() {
  if (fabric_.abandoned() || !listed_) return;
  {
    const Fabric::Lock lock(fabric_);
    fabric_.RemoveListener(device_, conn_qual_);
  }
  gate_->Close();
}

void Listener::Deliver(std::unique_ptr<transport::ConnectionRequest> request) {
  // If the listener is destroyed first, the request dies in the dispatcher's queue and thereby
  // rejects. The request is moved into the queue, because its last owner takes the fabric's lock,
  // which is held here.
  auto shared = std::make_shared<std::unique_ptr<transport::ConnectionRequest>>(std::move(request));
  dispatcher_.Post(gate_, [sink = sink_, shared = std::move(shared)] { sink->OnRequest(*shared); });
}

ConnectionRequest::ConnectionRequest(Fabric& fabric, std::shared_ptr<Connection> connection)
    : fabric_(fabric),
      connection_(std::move(connection)),
      addresses_{.local = connection_->addresses.remote,
                 .remote = connection_->addresses.local,
                 .local_port = connection_->addresses.remote_port,
                 .remote_port = connection_->addresses.local_port} {}

ConnectionRequest::~ConnectionRequest() {
  if (fabric_.abandoned()) return;
  const Fabric::Lock lock(fabric_);
  if (!spent_) FailActive(transport::RejectReason::kNonPeer, {}, "nobody took the request");
}

Status ConnectionRequest::Accept(transport::QueuePair& qp, std::span<const uint8_t> private_data) {
  const Fabric::Lock lock(fabric_);
  if (spent_) return Status(Code::kInvalidState, "the request was answered already");
  if (private_data.size() > kMaxPrivateData) {
    return Status(Code::kInvalidArgument, "more than 256 bytes of private data");
  }
  QueuePair& passive = static_cast<QueuePair&>(qp);
  Status status = passive.CheckAcceptable();
  if (!status.ok()) return status;
  spent_ = true;
  if (connection_->open && connection_->active != nullptr) {
    passive.Accepted(connection_, private_data);
  } else {
    passive.AcceptedTooLate(connection_);
  }
  return Status::Ok();
}

Status ConnectionRequest::Reject(std::span<const uint8_t> private_data) {
  const Fabric::Lock lock(fabric_);
  if (spent_) return Status(Code::kInvalidState, "the request was answered already");
  if (private_data.size() > kMaxPrivateData) {
    return Status(Code::kInvalidArgument, "more than 256 bytes of private data");
  }
  spent_ = true;
  FailActive(transport::RejectReason::kPeer, private_data, "the peer's program rejected");
  return Status::Ok();
}

Status ConnectionRequest::Handoff(uint64_t conn_qual) {
  const Fabric::Lock lock(fabric_);
  if (spent_) return Status(Code::kInvalidState, "the request was answered already");
  uint32_t device = 0;
  Listener* const listener = DeviceOf(addresses_.local, &device) == Code::kOk
                                 ? fabric_.FindListener(device, conn_qual)
                                 : nullptr;
  if (listener == nullptr) return Status(Code::kNotFound, "nobody in this process listens there");
  spent_ = true;
  connection_->conn_qual = conn_qual;
  connection_->handed_on = true;
  listener->Deliver(std::make_unique<ConnectionRequest>(fabric_, connection_));
  return Status::Ok();
}

void ConnectionRequest::FailActive(transport::RejectReason reason,
                                   std::span<const uint8_t> private_data, std::string why) {
  if (connection_->open && connection_->active != nullptr) {
    connection_->active->Fail(reason, private_data, std::move(why));
  }
}

}  // namespace softdat::toy
