// SPDX-License-Identifier: BSD-3-Clause
// ConnectionRequest.
#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <cstring>
#include <utility>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_verbs/listener.h"
#include "provider_verbs/os_error.h"
#include "provider_verbs/queue_pair.h"

namespace softdat::verbs {
namespace {

sockaddr_storage Storage(const sockaddr* address) {
  sockaddr_storage storage{};
  storage.ss_family = address->sa_family;
  std::memcpy(&storage, address, AddressSize(storage));
  return storage;
}

}  // namespace

void RequestCore::OnCmEvent(const CmEvent& event) {
  std::shared_ptr<CmSink> successor;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    successor = successor_;
    if (successor == nullptr) gone_ = true;  // an event before any answer means the end
  }
  if (successor != nullptr) successor->OnCmEvent(event);
}

bool RequestCore::HandOver(std::shared_ptr<CmSink> successor) {
  const std::lock_guard<std::mutex> lock(mutex_);
  successor_ = std::move(successor);
  return gone_;
}

ConnectionRequest::ConnectionRequest(Device& device, std::shared_ptr<CmId> id, uint64_t conn_qual,
                                     const rdmacm::FieldView& field, const rdma_conn_param& params)
    : device_(device),
      id_(std::move(id)),
      conn_qual_(conn_qual),
      padded_(field.trailer),
      responder_resources_(params.responder_resources),
      initiator_depth_(params.initiator_depth),
      data_(field.data.begin(), field.data.end()) {
  addresses_.local = Storage(rdma_get_local_addr(id_->get()));
  addresses_.remote = Storage(rdma_get_peer_addr(id_->get()));
  addresses_.local_port = conn_qual_;
  addresses_.remote_port = SocketPort(addresses_.remote);
  id_->SetSink(core_);
}

ConnectionRequest::~ConnectionRequest() {
  if (id_ != nullptr && !device_.abandoned) Refuse(device_, id_->get(), padded_);
}

void ConnectionRequest::Refuse(Device& device, rdma_cm_id* id, bool padded) {
  const rdmacm::FieldWriter field = rdmacm::FieldWriter::Refusal(padded && !device.traits.iwarp);
  if (rdma_reject(id, field.data(), field.size()) != 0) {
    SOFTDAT_LOG(Info, "rdma_reject: {}", OsText(errno));
  }
}

Status ConnectionRequest::CheckData(std::span<const uint8_t> private_data) const {
  if (id_ == nullptr) return Status(Code::kInvalidState, "the request was answered already");
  if (private_data.size() > device_.attributes.max_private_data) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} bytes of private data, at most {}", private_data.size(),
                              device_.attributes.max_private_data));
  }
  return Status::Ok();
}

Status ConnectionRequest::Accept(transport::QueuePair& qp, std::span<const uint8_t> private_data) {
  Status status = CheckData(private_data);
  if (!status.ok()) return status;
  const std::shared_ptr<QpCore>& core = static_cast<QueuePair&>(qp).core();
  AcceptParameters p;
  p.id = id_;
  p.padded = padded_;
  p.responder_resources = responder_resources_;
  p.initiator_depth = initiator_depth_;
  p.addresses = addresses_;
  // Events that come from here on go to the pair. The pair drops them while the id is not its own.
  p.gone = core_->HandOver(core);
  status = core->Accept(p, private_data);
  if (!status.ok()) {
    core_->HandOver(nullptr);
    return status;
  }
  id_->SetSink(core);
  id_.reset();
  return status;
}

Status ConnectionRequest::Reject(std::span<const uint8_t> private_data) {
  Status status = CheckData(private_data);
  if (!status.ok()) return status;
  const rdmacm::FieldWriter field(rdmacm::CmField::kReject, padded_, std::nullopt, private_data);
  // A requester that has given up does not make the reject fail.
  if (rdma_reject(id_->get(), field.data(), field.size()) != 0) {
    SOFTDAT_LOG(Info, "rdma_reject: {}", OsText(errno));
  }
  id_.reset();
  return status;
}

}  // namespace softdat::verbs
