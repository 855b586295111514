// SPDX-License-Identifier: BSD-3-Clause
// RoceConnectionRequest: accept, reject, refuse, hand on.
#include "provider_softnet/udp_wire/roce_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/driver/loop_time.h"
#include "provider_softnet/udp_wire/roce_endpoint.h"
#include "wire/rdmacm/private_data.h"
#include "wire/rdmacm/service_id.h"

namespace softdat::softnet {

RoceConnectionRequest::RoceConnectionRequest(std::shared_ptr<RocePlane> plane,
                                             const CmRequestArrived& request, uint64_t conn_qual,
                                             uint16_t source_port, bool padded, ByteSpan data)
    : plane_(std::move(plane)),
      request_(request),
      conn_qual_(conn_qual),
      padded_(padded),
      private_data_(data.begin(), data.end()) {
  addresses_.local = plane_->address();
  addresses_.local_port = conn_qual;
  addresses_.remote = request.source;
  SetSocketPort(source_port, &addresses_.remote);
  addresses_.remote_port = source_port;
}

RoceConnectionRequest::~RoceConnectionRequest() { Refuse(rdmacm::RejectReason::kConsumer); }

Status RoceConnectionRequest::CheckAnswer(std::span<const uint8_t> private_data) const {
  if (answered_) return Status(Code::kInvalidState, "the request is answered already");
  if (private_data.size() > plane_->adapter().attributes.max_private_data) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} bytes of private data are too many", private_data.size()));
  }
  return Status::Ok();
}

Status RoceConnectionRequest::Accept(transport::QueuePair& qp,
                                     std::span<const uint8_t> private_data) {
  const TokenHold token(&plane_->adapter().driver.token());
  RoceEndpoint& endpoint = static_cast<RoceQueuePair&>(qp).endpoint();
  if (Status s = CheckAnswer(private_data); !s.ok()) return s;
  if (endpoint.adapter() != &plane_->adapter()) {
    return Status(Code::kInvalidArgument, "the queue pair belongs to another adapter");
  }
  if (Status s = endpoint.CheckAcceptable(); !s.ok()) return s;
  Result<uint32_t> qpn = plane_->AllocateQpn(&endpoint);
  if (!qpn.ok()) return qpn.TakeStatus();
  const transport::QueuePairAttributes& a = endpoint.attributes();
  AgreedPair agreed;
  agreed.peer = request_.peer;
  agreed.own_psn = plane_->RandomPsn();
  agreed.depths.in = static_cast<uint8_t>(std::min<uint32_t>(a.max_read_in, request_.offered.in));
  agreed.depths.out =
      static_cast<uint8_t>(std::min<uint32_t>(a.max_read_out, request_.offered.out));
  agreed.mtu = std::min(plane_->mtu(), PathMtuOf(request_.path_mtu));
  agreed.retry_count = request_.retry_count;
  agreed.rnr_retry_count = request_.rnr_retry_count;
  agreed.ack_timeout = request_.local_ack_timeout;
  agreed.addresses = addresses_;
  CmAccept accept;
  accept.qpn = qpn.value();
  accept.starting_psn = agreed.own_psn;
  accept.depths = agreed.depths;
  accept.rnr_retry_count = plane_->adapter().options.rnr_retry_count;
  accept.srq = a.srq != nullptr;
  const rdmacm::FieldWriter field(rdmacm::CmField::kReply, padded_, std::nullopt, private_data);
  accept.private_data = {field.data(), field.size()};
  try {
    endpoint.BeginAccepted(plane_, request_.id, qpn.value(), agreed);
  } catch (const std::bad_alloc&) {
    plane_->ReleaseQpn(qpn.value());
    return Status(Code::kNoMemory, "no memory for the connection");
  }
  answered_ = true;
  plane_->cm().Accept(request_.id, accept, LoopTimeUs());
  plane_->Flush();
  return Status::Ok();
}

Status RoceConnectionRequest::Reject(std::span<const uint8_t> private_data) {
  const TokenHold token(&plane_->adapter().driver.token());
  if (Status s = CheckAnswer(private_data); !s.ok()) return s;
  answered_ = true;
  const rdmacm::FieldWriter field(rdmacm::CmField::kReject, padded_, std::nullopt, private_data);
  plane_->cm().Reject(request_.id, rdmacm::RejectReason::kConsumer, {field.data(), field.size()},
                      LoopTimeUs());
  plane_->CloseRequest(request_.id);
  plane_->Flush();
  return Status::Ok();
}

void RoceConnectionRequest::ComeByHandoff(uint64_t aimed_at) {
  handed_on_ = true;
  addresses_.local_port = aimed_at;
}

Status RoceConnectionRequest::Handoff(uint64_t conn_qual) {
  if (HandoffWithin(conn_qual)) return Status::Ok();
  if (answered_) return Status(Code::kInvalidState, "the request is answered already");
  // The caller has the request to itself, so nobody else answers it meanwhile.
  Status status = plane_->HandOff(request_, conn_qual);
  const TokenHold token(&plane_->adapter().driver.token());
  answered_ = status.ok();
  return status;
}

// To a service point of this adapter. False when there is none.
bool RoceConnectionRequest::HandoffWithin(uint64_t conn_qual) {
  const TokenHold token(&plane_->adapter().driver.token());
  if (answered_) return false;
  const uint64_t service = rdmacm::ServiceIdOf(rdmacm::PortSpace::kTcp, PortOfQualifier(conn_qual));
  const std::shared_ptr<RoceServicePoint> point = plane_->FindService(service, conn_qual);
  if (point == nullptr) return false;
  auto moved = std::make_unique<RoceConnectionRequest>(
      plane_, request_, conn_qual, static_cast<uint16_t>(addresses_.remote_port), padded_,
      ByteSpan(private_data_));
  moved->ComeByHandoff(addresses_.local_port);
  answered_ = true;
  plane_->Deliver(point, std::move(moved));
  return true;
}

void RoceConnectionRequest::Refuse(rdmacm::RejectReason reason) {
  const TokenHold token(&plane_->adapter().driver.token());
  if (answered_) return;
  answered_ = true;
  SOFTDAT_LOG(Info, "request from {} for qualifier {} refused ({})", AddressText(addresses_.remote),
              conn_qual_, rdmacm::RejectReasonText(reason));
  const rdmacm::FieldWriter field = rdmacm::FieldWriter::Refusal(padded_);
  plane_->cm().Reject(request_.id, reason, {field.data(), field.size()}, LoopTimeUs());
  plane_->CloseRequest(request_.id);
  plane_->Flush();
}

}  // namespace softdat::softnet
