// SPDX-License-Identifier: BSD-3-Clause
// RocePlane: how queue pairs for datagrams meet, and whom the events of it concern.
#include <utility>

#include "dat/base/log.h"
#include "provider_softnet/driver/loop_time.h"
#include "provider_softnet/udp_wire/datagram_endpoint.h"
#include "provider_softnet/udp_wire/datagram_request.h"
#include "provider_softnet/udp_wire/request_data.h"
#include "provider_softnet/udp_wire/roce_plane.h"
#include "wire/rdmacm/service_id.h"

namespace softdat::softnet {

void RocePlane::AttachAsker(SidrId id, DatagramEndpoint* endpoint) {
  askers_[id] = RefPtr<DatagramEndpoint>(endpoint);
}

void RocePlane::DetachAsker(SidrId id) { askers_.erase(id); }

// There is one event for each question.
RefPtr<DatagramEndpoint> RocePlane::TakeAsker(SidrId id) {
  const auto asker = askers_.extract(id);
  return asker.empty() ? RefPtr<DatagramEndpoint>() : asker.mapped();
}

void RocePlane::CloseDatagramRequest(SidrId id) {
  const auto open = open_datagram_requests_.extract(id);
  if (!open.empty()) DropServiceIfUnused(open.mapped());
}

void RocePlane::Tell(const SidrEvent& event) {
  if (const auto* arrived = std::get_if<SidrRequestArrived>(&event)) {
    OnDatagramRequest(*arrived);
  } else if (const auto* resolved = std::get_if<SidrResolved>(&event)) {
    if (const auto asker = TakeAsker(resolved->id)) asker->OnResolved(*this, *resolved);
  } else if (const auto* failed = std::get_if<SidrFailed>(&event)) {
    SOFTDAT_LOG(Info, "{}", failed->why);
    if (const auto asker = TakeAsker(failed->id)) asker->OnUnresolved(*this, *failed);
  }
}

void RocePlane::OnDatagramRequest(const SidrRequestArrived& event) {
  const auto refuse = [&](rdmacm::SidrStatus status) {
    resolution_->Refuse(event.id, status, {}, LoopTimeUs());
  };
  const std::optional<RequestMeaning> meaning =
      ReadRequestData(event.private_data, rdmacm::CmField::kSidrRequest);
  if (!meaning) return refuse(rdmacm::SidrStatus::kUnsupportedVersion);
  if (!rdmacm::PortOf(rdmacm::PortSpace::kUdp, event.service_id)) {
    return refuse(rdmacm::SidrStatus::kUnsupportedServiceId);
  }
  const uint64_t service_id = ConnectionServiceOf(event.service_id);
  const std::shared_ptr<RoceServicePoint> point = FindService(service_id, meaning->field.qualifier);
  if (point == nullptr) return refuse(rdmacm::SidrStatus::kUnsupportedServiceId);
  open_datagram_requests_[event.id] = service_id;
  Deliver(point,
          std::make_unique<DatagramRequest>(shared_from_this(), event, point->conn_qual, *meaning));
}

}  // namespace softdat::softnet
