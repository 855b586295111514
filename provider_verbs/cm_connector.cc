// SPDX-License-Identifier: BSD-3-Clause
// CmConnector: the requests that each side makes to rdma_cm. Its answers are in
// cm_connector_events.cc.
#include "provider_verbs/cm_connector.h"

#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "dat/backend_kit/own_address.h"
#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/descriptor.h"
#include "dat/base/log.h"
#include "dat/base/settings.h"
#include "dat/base/socket_address.h"
#include "provider_verbs/interfaces.h"
#include "provider_verbs/os_error.h"
#include "provider_verbs/resolve_time.h"
#include "wire/private_header.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::verbs {

using transport::Clock;
using transport::QueuePairAttributes;
using transport::RejectReason;

namespace {

constexpr uint8_t kRetryCount = 7;
constexpr int kMostTakenPorts = 16;
constexpr uint8_t kRetryForEver = 7;  // waits for receivers that are not ready (semantics 10.5)

// The parameters that both sides send about themselves.
rdma_conn_param ParametersOf(const rdmacm::FieldWriter& field, const ReadDepths& depths,
                             const QueuePairAttributes& a, uint32_t qp_num) {
  rdma_conn_param param{};
  param.private_data = field.data();
  param.private_data_len = field.size();
  param.responder_resources = depths.in;
  param.initiator_depth = depths.out;
  param.flow_control = 1;
  param.rnr_retry_count = kRetryForEver;
  param.srq = a.srq != nullptr;
  param.qp_num = qp_num;
  return param;
}

}  // namespace

Status CmConnector::Check(const transport::ConnectParameters& p) const {
  if (p.remote.ss_family != AF_INET && p.remote.ss_family != AF_INET6) {
    return Status(Code::kAddressUnsupported,
                  fmt::format("address family {}: neither IPv4 nor IPv6", p.remote.ss_family));
  }
  size_t most = device_.attributes.max_private_data;
  if (!device_.traits.iwarp && p.conn_qual > kMaxPortQualifier) most -= kPrivateHeaderSize;
  if (p.private_data.size() > most) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("{} bytes of private data, at most {}{}", p.private_data.size(), most,
                    p.conn_qual > kMaxPortQualifier ? " with a qualifier above 65535" : ""));
  }
  return Status::Ok();
}

void CmConnector::Start(const transport::ConnectParameters& p) {
  connect_ = p;
  connect_data_.assign(p.private_data.begin(), p.private_data.end());
  connect_.private_data = connect_data_;
  SetSocketPort(PortOfQualifier(p.conn_qual), &connect_.remote);
  const Clock::time_point now = Clock::now();
  deadline_ = p.timeout == std::chrono::microseconds::max() ? transport::kForever : now + p.timeout;
  grace_until_ =
      std::min(deadline_, now + std::chrono::milliseconds(GetSettings().connect_grace_ms));
  taken_ports_ = 0;
  active_ = true;
  padded_ = !device_.traits.iwarp;
}

Status CmConnector::ChooseAddresses(sockaddr_storage* local) {
  if (!AddressOfFamily(device_.traits.netdev, connect_.remote.ss_family, local)) {
    return Status(Code::kUnreachable,
                  fmt::format("{} has no {} address to connect from", device_.traits.netdev,
                              connect_.remote.ss_family == AF_INET ? "IPv4" : "IPv6"));
  }
  if (IsLoopback(connect_.remote)) {
    // rdma_cm has no loopback (and a request to ::1 makes soft-RoCE of Linux 6.1 hang for
    // everybody). The device knows this host by the interface's own address.
    SOFTDAT_LOG(Info, "{} stands for {}", AddressText(connect_.remote), AddressText(*local));
    const uint16_t port = SocketPort(connect_.remote);
    connect_.remote = *local;
    SetSocketPort(port, &connect_.remote);
  }
  addresses_ = {.local = *local,
                .remote = connect_.remote,
                .local_port = 0,
                .remote_port = connect_.conn_qual};
  return Status::Ok();
}

Status CmConnector::Resolve(std::shared_ptr<CmSink> sink) {
  id_.reset();
  // rdma_cm would resolve such an address to the link address of a group or of everybody, and ask
  // in vain.
  if (IsOfNoHost(connect_.remote)) {
    return Status(Code::kUnreachable, AddressText(connect_.remote) + " is no host's address");
  }
  auto created = CmId::Create(*device_.cm, space_);
  if (!created.ok()) return created.TakeStatus();
  std::shared_ptr<CmId> id = created.Take();
  sockaddr_storage local{};
  Status status = ChooseAddresses(&local);
  if (!status.ok()) return status;
  id_ = id;
  id->SetSink(std::move(sink));
  const int error = id->Resolve(&local, &connect_.remote, ResolveTimeMs(deadline_));
  if (error != 0) {
    return Status(Code::kUnreachable,
                  fmt::format("rdma_resolve_addr from {} to {}: {}", AddressText(local),
                              AddressText(connect_.remote), OsText(error)));
  }
  return Status::Ok();
}

ReadDepths CmConnector::DepthsFor(const QueuePairAttributes& a) const {
  const auto least = [](uint32_t mine, uint32_t theirs) {
    return static_cast<uint8_t>(std::min(mine, theirs));
  };
  if (active_) return {.in = least(a.max_read_in, 255), .out = least(a.max_read_out, 255)};
  return {.in = least(a.max_read_in, offered_.in), .out = least(a.max_read_out, offered_.out)};
}

CmStep CmConnector::Request(uint32_t qp_num, const QueuePairAttributes& a) {
  const rdmacm::FieldWriter field(rdmacm::CmField::kRequest, padded_, qualifier(), connect_data_);
  rdma_conn_param param = ParametersOf(field, DepthsFor(a), a, qp_num);
  param.retry_count = kRetryCount;
  return Send(&param);
}

CmStep CmConnector::RequestDatagrams(const rdmacm::DatagramIdentity& asker) {
  const rdmacm::FieldWriter field(rdmacm::CmField::kSidrRequest, padded_, qualifier(),
                                  connect_data_);
  std::array<uint8_t, rdmacm::kSidrRequestFieldSize + rdmacm::kDatagramIdentitySize> data{};
  std::copy_n(field.data(), field.size(), data.data());
  rdmacm::StoreDatagramIdentity(asker, std::span(data).last<rdmacm::kDatagramIdentitySize>());
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = static_cast<uint8_t>(data.size());
  param.qp_num = asker.qpn;
  return Send(&param);
}

std::optional<uint64_t> CmConnector::qualifier() const {
  if (connect_.conn_qual <= kMaxPortQualifier) return std::nullopt;
  return connect_.conn_qual;
}

CmStep CmConnector::Send(rdma_conn_param* param) {
  unanswered_ = true;
  if (rdma_connect(id(), param) != 0) {
    return NotSent(errno);
  }
  addresses_.local_port = ntohs(rdma_get_src_port(id()));
  std::memcpy(&addresses_.local, rdma_get_local_addr(id()), AddressSize(addresses_.local));
  return {};
}

CmStep CmConnector::NotSent(int error) {
  unanswered_ = false;
  // siw connects before the call returns.
  if (error == ECONNREFUSED) return NobodyListens();
  // rdma_cm draws the port of this end, and does not know those of TCP connections: of other
  // programs, or of this one until TCP has forgotten them. Another id draws another one.
  const bool taken = error == EADDRINUSE || error == EADDRNOTAVAIL;
  if (taken && ++taken_ports_ < kMostTakenPorts) {
    SOFTDAT_LOG(Info, "rdma_connect to {}: {}; it is tried again from another port",
                AddressText(connect_.remote), OsText(error));
    return {.what = CmStep::What::kTryAgain};
  }
  return {.what = CmStep::What::kFailed,
          .reject = RejectReason::kUnreachable,
          .why = std::string(OsStatus(error, "rdma_connect").reason())};
}

Status CmConnector::Establish() {
  return rdma_establish(id()) == 0 ? Status::Ok() : OsStatus(errno, "rdma_establish");
}

void CmConnector::Adopt(const AcceptParameters& p) {
  active_ = false;
  padded_ = p.padded;
  id_ = p.id;
  addresses_ = p.addresses;
  offered_ = {.in = p.responder_resources, .out = p.initiator_depth};
}

Status CmConnector::Accept(uint32_t qp_num, const QueuePairAttributes& a,
                           std::span<const uint8_t> private_data) {
  const rdmacm::FieldWriter field(rdmacm::CmField::kReply, padded_, std::nullopt, private_data);
  rdma_conn_param param = ParametersOf(field, DepthsFor(a), a, qp_num);
  if (rdma_accept(id(), &param) != 0) return OsStatus(errno, "rdma_accept");
  linked_ = true;
  return Status::Ok();
}

void CmConnector::OnFirstMessage() {
  if (id_ != nullptr) rdma_notify(id(), IBV_EVENT_COMM_EST);
}

void CmConnector::Disconnect() {
  if (id_ != nullptr && linked_) rdma_disconnect(id());
}

void CmConnector::GiveUp(bool may_wait) {
  if (id_ == nullptr) return;
  if (unanswered_ && device_.traits.iwarp && may_wait) {
    id_->SetSink(nullptr);
    given_up_ = std::move(id_);
  }
  id_.reset();
  unanswered_ = false;
}

void CmConnector::Clear() {
  id_.reset();
  addresses_ = {};
  linked_ = false;
}

}  // namespace softdat::verbs
