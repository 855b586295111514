// SPDX-License-Identifier: BSD-3-Clause
// DatagramRequest: accept, reject, refuse.
#include "provider_softnet/udp_wire/datagram_request.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/driver/loop_time.h"
#include "provider_softnet/udp_wire/datagram_endpoint.h"
#include "wire/rdmacm/private_data.h"
#include "wire/rdmacm/reject_reason.h"

namespace softdat::softnet {

using rdmacm::CmField;
using rdmacm::FieldWriter;

DatagramRequest::DatagramRequest(std::shared_ptr<RocePlane> plane,
                                 const SidrRequestArrived& request, uint64_t conn_qual,
                                 const RequestMeaning& meaning)
    : plane_(std::move(plane)),
      id_(request.id),
      padded_(meaning.field.trailer),
      peer_{.qpn = 0, .qkey = kDatagramQkey},
      private_data_(meaning.field.data.begin(), meaning.field.data.end()) {
  rdmacm::FindDatagramIdentity(request.private_data, &peer_);
  addresses_.local = plane_->address();
  addresses_.local_port = conn_qual;
  addresses_.remote = request.source;
  SetSocketPort(meaning.source_port, &addresses_.remote);
  addresses_.remote_port = meaning.source_port;
}

DatagramRequest::~DatagramRequest() {
  const TokenHold token(&plane_->adapter().driver.token());
  if (answered_) return;
  SOFTDAT_LOG(Info, "request for datagrams from {} for qualifier {} refused",
              AddressText(addresses_.remote), conn_qual());
  const FieldWriter field = FieldWriter::Refusal(padded_, CmField::kSidrReject);
  plane_->resolution().Refuse(id_, rdmacm::SidrStatus::kRejected, {field.data(), field.size()},
                              LoopTimeUs());
  plane_->CloseDatagramRequest(id_);
  plane_->Flush();
}

Status DatagramRequest::CheckAnswer(std::span<const uint8_t> private_data) const {
  if (answered_) return Status(Code::kInvalidState, "the request is answered already");
  if (private_data.size() > plane_->adapter().attributes.max_private_data) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} bytes of private data are too many", private_data.size()));
  }
  return Status::Ok();
}

Result<transport::DatagramPeer> DatagramRequest::AcceptDatagrams(
    transport::QueuePair& qp, std::span<const uint8_t> private_data) {
  const TokenHold token(&plane_->adapter().driver.token());
  DatagramEndpoint& endpoint = static_cast<DatagramQueuePair&>(qp).endpoint();
  if (Status s = CheckAnswer(private_data); !s.ok()) return s;
  if (endpoint.adapter() != &plane_->adapter()) {
    return Status(Code::kInvalidArgument, "the queue pair belongs to another adapter");
  }
  Result<uint32_t> own = endpoint.Meet(*plane_);
  if (!own.ok()) return own.TakeStatus();
  transport::DatagramPeer requester =
      MakeDatagramPeer(plane_, addresses_.remote, peer_.qpn, peer_.qkey);
  answered_ = true;
  const FieldWriter field(CmField::kSidrReply, padded_, std::nullopt, private_data);
  plane_->resolution().Accept(
      id_,
      {.qpn = own.value(), .qkey = kDatagramQkey, .private_data = {field.data(), field.size()}},
      LoopTimeUs());
  plane_->CloseDatagramRequest(id_);
  plane_->Flush();
  return requester;
}

Status DatagramRequest::Reject(std::span<const uint8_t> private_data) {
  const TokenHold token(&plane_->adapter().driver.token());
  if (Status s = CheckAnswer(private_data); !s.ok()) return s;
  answered_ = true;
  const FieldWriter field(CmField::kSidrReject, padded_, std::nullopt, private_data);
  plane_->resolution().Refuse(id_, rdmacm::SidrStatus::kRejected, {field.data(), field.size()},
                              LoopTimeUs());
  plane_->CloseDatagramRequest(id_);
  plane_->Flush();
  return Status::Ok();
}

Status DatagramRequest::Accept(transport::QueuePair&, std::span<const uint8_t>) {
  return Status(Code::kInvalidState, "the request is for datagrams");
}

}  // namespace softdat::softnet
