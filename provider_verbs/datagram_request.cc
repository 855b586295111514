// SPDX-License-Identifier: BSD-3-Clause
// DatagramRequest.
#include "provider_verbs/datagram_request.h"

#include <errno.h>
#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <utility>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_verbs/datagram_pair.h"
#include "provider_verbs/datagram_peer.h"
#include "provider_verbs/os_error.h"

namespace softdat::verbs {

using rdmacm::CmField;
using rdmacm::FieldWriter;

namespace {

sockaddr_storage Storage(const sockaddr* address) {
  sockaddr_storage storage{};
  storage.ss_family = address->sa_family;
  std::memcpy(&storage, address, AddressSize(storage));
  return storage;
}

// A requester that has given up makes no answer fail.
void Reply(int result, const char* call) {
  if (result != 0) SOFTDAT_LOG(Info, "{} of a request for datagrams: {}", call, OsText(errno));
}

}  // namespace

DatagramRequest::DatagramRequest(Device& device, std::shared_ptr<CmId> id, uint64_t conn_qual,
                                 std::span<const uint8_t> private_data,
                                 const rdmacm::FieldView& field)
    : device_(device),
      id_(std::move(id)),
      padded_(field.trailer),
      peer_{.qpn = 0, .qkey = kDatagramQkey},
      data_(field.data.begin(), field.data.end()) {
  rdmacm::FindDatagramIdentity(private_data, &peer_);
  addresses_.local = Storage(rdma_get_local_addr(id_->get()));
  addresses_.remote = Storage(rdma_get_peer_addr(id_->get()));
  addresses_.local_port = conn_qual;
  addresses_.remote_port = SocketPort(addresses_.remote);
}

DatagramRequest::~DatagramRequest() {
  if (id_ != nullptr && !device_.abandoned) Refuse(id_->get(), padded_);
}

void DatagramRequest::Refuse(rdma_cm_id* id, bool padded) {
  const FieldWriter field = FieldWriter::Refusal(padded, CmField::kSidrReject);
  Reply(rdma_reject(id, field.data(), field.size()), "refusal");
}

Status DatagramRequest::CheckData(std::span<const uint8_t> private_data) const {
  if (id_ == nullptr) return Status(Code::kInvalidState, "the request was answered already");
  if (private_data.size() > device_.attributes.max_private_data) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} bytes of private data, at most {}", private_data.size(),
                              device_.attributes.max_private_data));
  }
  return Status::Ok();
}

Result<transport::DatagramPeer> DatagramRequest::AcceptDatagrams(
    transport::QueuePair& qp, std::span<const uint8_t> private_data) {
  if (Status s = CheckData(private_data); !s.ok()) return s;
  ProtectionDomain* domain = nullptr;
  Result<uint32_t> number = static_cast<DatagramPair&>(qp).core().Meet(&domain);
  if (!number.ok()) return number.TakeStatus();
  Result<ibv_ah_attr> way = WayTo(device_, addresses_.local, addresses_.remote);
  if (!way.ok()) return way.TakeStatus();
  Result<transport::DatagramPeer> requester =
      MakeDatagramPeer(*domain, way.value(), peer_.qpn, peer_.qkey, addresses_.remote);
  if (!requester.ok()) return requester;
  const FieldWriter field(CmField::kSidrReply, padded_, std::nullopt, private_data);
  rdma_conn_param param{};
  param.private_data = field.data();
  param.private_data_len = field.size();
  param.qp_num = number.value();
  Reply(rdma_accept(id_->get(), &param), "accept");
  id_.reset();
  return requester;
}

Status DatagramRequest::Reject(std::span<const uint8_t> private_data) {
  Status status = CheckData(private_data);
  if (!status.ok()) return status;
  const FieldWriter field(CmField::kSidrReject, padded_, std::nullopt, private_data);
  Reply(rdma_reject(id_->get(), field.data(), field.size()), "reject");
  id_.reset();
  return status;
}

Status DatagramRequest::Accept(transport::QueuePair&, std::span<const uint8_t>) {
  return Status(Code::kInvalidState, "the request is for datagrams");
}

}  // namespace softdat::verbs
