// SPDX-License-Identifier: BSD-3-Clause
// CmConnector: the answers of rdma_cm.
#include <errno.h>
#include <fmt/format.h>

#include <string>
#include <utility>

#include "dat/backend_kit/own_address.h"
#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_verbs/cm_connector.h"
#include "provider_verbs/os_error.h"
#include "provider_verbs/resolve_time.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::verbs {

using transport::Clock;
using transport::RejectReason;
using What = CmStep::What;

namespace {

CmStep Failed(RejectReason reject, std::string why) {
  return {.what = What::kFailed, .reject = reject, .why = std::move(why)};
}

std::span<const uint8_t> ReplyIn(const CmEvent& event, bool iwarp,
                                 rdmacm::CmField field = rdmacm::CmField::kReply) {
  return rdmacm::ReadField(field, event.private_data(), iwarp).data;
}

}  // namespace

CmStep CmConnector::OnEvent(const CmEvent& event, bool connecting) {
  if (event.type > RDMA_CM_EVENT_ROUTE_ERROR) unanswered_ = false;
  switch (event.type) {
    case RDMA_CM_EVENT_DISCONNECTED:
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      if (!connecting) return OnOver(event);
      return Failed(EndedEarly(), fmt::format("{} before the connection was established",
                                              rdma_event_str(event.type)));
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      return connecting ? OnAddressResolved(event) : CmStep{};
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return {.what = connecting ? What::kRequest : What::kNothing};
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      return {.what = connecting ? What::kEstablish : What::kNothing,
              .data = ReplyIn(event, false)};
    case RDMA_CM_EVENT_ESTABLISHED:
      if (for_datagrams()) {
        return {.what = connecting ? What::kEstablished : What::kNothing,
                .data = ReplyIn(event, false, rdmacm::CmField::kSidrReply)};
      }
      return {.what = connecting ? What::kEstablished : What::kNothing,
              .data = active_ ? ReplyIn(event, device_.traits.iwarp) : std::span<const uint8_t>()};
    case RDMA_CM_EVENT_REJECTED:
      return connecting ? OnRejected(event) : CmStep{};
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
      return connecting ? OnUnreachable(event) : CmStep{};
    default:
      SOFTDAT_LOG(Info, "{}: {}", device_.attributes.device_name, rdma_event_str(event.type));
      return {};
  }
}

CmStep CmConnector::OnOver(const CmEvent& event) {
  if (event.type == RDMA_CM_EVENT_DEVICE_REMOVAL) {
    linked_ = false;  // nobody is left to tell
    return {.what = What::kDeviceGone};
  }
  return {.what = What::kOver, .broken = device_.traits.iwarp && event.status != 0};
}

CmStep CmConnector::OnAddressResolved(const CmEvent& event) {
  const rdma_cm_id* const id = event.id;
  if (id->verbs == nullptr ||
      device_.traits.rdma_device != ibv_get_device_name(id->verbs->device)) {
    return Failed(RejectReason::kUnreachable, "the route to " + AddressText(connect_.remote) +
                                                  " does not lead over this device");
  }
  if (rdma_resolve_route(event.id, ResolveTimeMs(deadline_)) != 0)
    return Failed(RejectReason::kUnreachable, "rdma_resolve_route: " + OsText(errno));
  return {};
}

CmStep CmConnector::OnUnreachable(const CmEvent& event) const {
  if (active_ && event.status == -ECONNREFUSED) return NobodyListens();
  // What the other end answered instead of a queue pair for datagrams.
  if (for_datagrams() && event.status > 0)
    return OnRefused(ReadSidrRejection(event.status, event.private_data()), event.status);
  return Failed(active_ ? RejectReason::kUnreachable : RejectReason::kAborted,
                fmt::format("{}: {}", rdma_event_str(event.type), OsText(event.status)));
}

CmStep CmConnector::OnRejected(const CmEvent& event) const {
  if (!active_) {
    return Failed(RejectReason::kAborted,
                  fmt::format("the peer gave up (status {})", event.status));
  }
  return OnRefused(ReadRejection(event.status, event.private_data(), device_.traits.iwarp),
                   event.status);
}

CmStep CmConnector::OnRefused(const CmRejection& rejection, int status) const {
  switch (rejection.by) {
    case CmRejection::By::kNobodyListens:
      return NobodyListens();
    case CmRejection::By::kConsumer:
      return {.what = What::kFailed,
              .reject = RejectReason::kPeer,
              .why = "the peer's consumer rejected the request",
              .data = rejection.data};
    case CmRejection::By::kOther:
      break;
  }
  return Failed(RejectReason::kNonPeer, fmt::format("rejected with status {}", status));
}

// Tries again while the other program on this host may still be starting (semantics 9.2).
CmStep CmConnector::NobodyListens() const {
  if (Clock::now() < grace_until_ && IsOwnAddress(connect_.remote))
    return {.what = What::kTryAgain};
  return Failed(RejectReason::kNonPeer,
                fmt::format("nobody listens at {}", AddressText(connect_.remote)));
}

}  // namespace softdat::verbs
