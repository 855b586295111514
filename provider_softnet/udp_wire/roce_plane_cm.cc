// SPDX-License-Identifier: BSD-3-Clause
// RocePlane: connection management. MADs in and out, and whom its events concern.
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>
#include <variant>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/driver/loop_time.h"
#include "provider_softnet/udp/mad_route.h"
#include "provider_softnet/udp_wire/request_data.h"
#include "provider_softnet/udp_wire/roce_endpoint.h"
#include "provider_softnet/udp_wire/roce_plane.h"
#include "provider_softnet/udp_wire/roce_request.h"
#include "wire/rdmacm/mad.h"
#include "wire/rdmacm/private_data.h"
#include "wire/rdmacm/service_id.h"

namespace softdat::softnet {

namespace {

// MADs that wait for the holder of the token. What comes beyond them is sent again by its sender.
constexpr size_t kMostMads = 1024;

template <typename... Functions>
struct Cases : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Cases(Functions...) -> Cases<Functions...>;

// Of the packets for queue pair 1.
bool IsMad(const roce::Packet& packet) {
  const bool datagram = roce::TraitsOf(packet.bth.opcode).operation == roce::Operation::kDatagram;
  return datagram && packet.headers.deth.qkey == rdmacm::kGsiQKey &&
         packet.payload.size() == rdmacm::kMadSize;
}

bool IsOfDatagrams(const rdmacm::CmMessage& message) {
  return std::holds_alternative<rdmacm::SidrReq>(message) ||
         std::holds_alternative<rdmacm::SidrRep>(message);
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// MADs in

void RocePlane::OnMadArrived(const Arrival& arrival) {
  if (!IsMad(arrival.packet)) return;
  try {
    {
      const std::lock_guard<std::mutex> lock(mads_mutex_);
      if (mads_.size() >= kMostMads) return;
      mads_.push_back(
          {arrival.source, {arrival.datagram.begin(), arrival.datagram.end()}, arrival.handed_on});
    }
    driver().Post([plane = shared_from_this()] { plane->TakeMads(); });
  } catch (const std::bad_alloc&) {
    // Lost on the way, as far as its sender can tell, which sends it again.
  }
}

// Without the token, which may never be free again: what is not this member's is handed on, and
// nothing is taken.
void RocePlane::HandOnMadAtExit(const Arrival& arrival) {
  rdmacm::Mad mad;
  if (arrival.handed_on || !IsMad(arrival.packet)) return;
  if (rdmacm::ParseMad(arrival.packet.payload, &mad) != rdmacm::MadParse::kOk) return;
  const MadRoute route = RouteOf(mad.message);
  if (route.by == MadRoute::By::kService) {
    // Our own services have names, too. What comes back by these is dropped.
    port_->HandOnToService(ConnectionServiceOf(route.service_id), arrival);
  } else if (route.by == MadRoute::By::kBlock && !port_->OwnsBlock(route.block)) {
    port_->HandOnToBlock(route.block, arrival);
  }
}

// With the token.
void RocePlane::TakeMads() {
  std::deque<ArrivedMad> mads;
  {
    const std::lock_guard<std::mutex> lock(mads_mutex_);
    mads.swap(mads_);
  }
  for (const ArrivedMad& mad : mads) {
    roce::Packet packet;
    if (roce::ParsePacket(mad.datagram, &packet) != roce::PacketParse::kOk) continue;
    OnMad(Arrival{mad.source, packet, mad.datagram, mad.handed_on});
  }
}

void RocePlane::OnMad(const Arrival& arrival) {
  if (stopped_) return;
  rdmacm::Mad mad;
  if (rdmacm::ParseMad(arrival.packet.payload, &mad) != rdmacm::MadParse::kOk) return;
  if (!arrival.handed_on && HandOnMad(arrival, mad.message)) return;
  // Datagrams will follow from the same socket, and nobody sends again those that get lost.
  if (arrival.handed_on && IsOfDatagrams(mad.message)) port_->Steer(arrival.source);
  cm_->OnMad(arrival.source, arrival.packet.payload, LoopTimeUs());
  resolution_->OnMad(arrival.source, mad, LoopTimeUs());
  Pump();
}

// Gives a message that is another member's to that one. False when it is ours, or nobody's: then
// ours is the answer.
bool RocePlane::HandOnMad(const Arrival& arrival, const rdmacm::CmMessage& message) {
  const MadRoute route = RouteOf(message);
  switch (route.by) {
    case MadRoute::By::kService: {
      const uint64_t service_id = ConnectionServiceOf(route.service_id);
      if (services_.contains(service_id)) return false;
      return port_->HandOnToService(service_id, arrival) != HandOnResult::kNobody;
    }
    case MadRoute::By::kBlock:
      if (port_->OwnsBlock(route.block)) return false;
      return port_->HandOnToBlock(route.block, arrival) != HandOnResult::kNobody;
    case MadRoute::By::kNobody:
      break;
  }
  return false;
}

// -------------------------------------------------------------------------------------------------
// MADs out

void RocePlane::SendMad(const CmOutgoing& outgoing) {
  PacketBatch batch;
  roce::Packet packet;
  packet.bth.opcode = roce::Opcode::kUdSendOnly;
  packet.bth.migrated = true;
  packet.bth.dest_qpn = rdmacm::kGsiQpn;
  packet.bth.psn = mad_psn_++ & roce::kMask24;
  packet.headers.deth = {rdmacm::kGsiQKey, rdmacm::kGsiQpn};
  OutgoingPacket& out = batch.Begin();
  batch.AddOwn(outgoing.mad);
  out.header_size =
      static_cast<uint8_t>(roce::EncodeHeaders(packet, outgoing.mad.size(), out.header));
  batch.Commit();
  // One that finds the socket full is lost, and sent again in time.
  port_->Send(batch, port_->DestinationOf(outgoing.to));
}

// With the token, when the process exits. Nobody here is told anything.
void RocePlane::EndExchanges() {
  if (stopped_) return;
  for (const auto& [id, endpoint] : exchanges_) {
    // A program may leave between a completion and the acknowledgement that the thread which made
    // it is about to send.
    endpoint->PayLast();
    cm_->Abandon(id, LoopTimeUs());
  }
  while (const std::optional<CmOutgoing> outgoing = cm_->TakeOutgoing()) SendMad(*outgoing);
}

void RocePlane::Flush() {
  while (const std::optional<CmOutgoing> outgoing = cm_->TakeOutgoing()) SendMad(*outgoing);
  while (const std::optional<CmOutgoing> outgoing = resolution_->TakeOutgoing()) SendMad(*outgoing);
  bool news = false;
  while (std::optional<CmEvent> event = cm_->TakeEvent()) {
    events_.emplace_back(std::move(*event));
    news = true;
  }
  while (std::optional<SidrEvent> event = resolution_->TakeEvent()) {
    events_.emplace_back(std::move(*event));
    news = true;
  }
  // No upcall from here: the caller is in the middle of its call.
  if (news && !pumping_) driver().Post([plane = shared_from_this()] { plane->Pump(); });
  ArmTimer();
}

void RocePlane::Pump() {
  if (stopped_) return;
  Flush();
  if (std::exchange(pumping_, true)) return;  // whoever is further out goes on
  while (!events_.empty() && !stopped_) {
    const auto event = std::move(events_.front());
    events_.pop_front();
    std::visit([this](const auto& e) { Tell(e); }, event);
    if (!stopped_) Flush();
  }
  pumping_ = false;
}

void RocePlane::ArmTimer() {
  const uint64_t deadline_us = std::min(cm_->deadline_us(), resolution_->deadline_us());
  if (deadline_us == cm_armed_us_ && cm_timer_->running()) return;
  cm_armed_us_ = deadline_us;
  if (deadline_us == kCmNever) return cm_timer_->Stop();
  const uint64_t now_us = LoopTimeUs();
  cm_timer_->Start(std::chrono::microseconds(deadline_us > now_us ? deadline_us - now_us : 0));
}

// -------------------------------------------------------------------------------------------------
// Events

void RocePlane::Attach(CmId id, RoceEndpoint* endpoint) {
  exchanges_[id] = RefPtr<RoceEndpoint>(endpoint);
}

void RocePlane::Detach(CmId id) {
  exchanges_.erase(id);
  if (watch_) watch_->Remove(id);
}

RefPtr<RoceEndpoint> RocePlane::EndpointOf(CmId id) const {
  const auto found = exchanges_.find(id);
  return found == exchanges_.end() ? RefPtr<RoceEndpoint>() : found->second;
}

void RocePlane::Tell(const CmEvent& event) {
  std::visit(Cases{
                 [this](const CmRequestArrived& e) { OnRequest(e); },
                 // Its consumer learns of it from its answer.
                 [](const CmWithdrawn&) {},
                 [this](const CmForNewOwner& e) { TellNewOwner(e); },
                 [this](const CmReplyArrived& e) {
                   if (const auto endpoint = EndpointOf(e.id)) endpoint->OnReply(e);
                 },
                 [this](const CmEstablished& e) {
                   CloseRequest(e.id);
                   if (const auto endpoint = EndpointOf(e.id)) endpoint->OnEstablished();
                 },
                 [this](const CmFailed& e) {
                   CloseRequest(e.id);
                   if (const auto endpoint = EndpointOf(e.id)) endpoint->OnFailed(e);
                 },
                 [this](const CmDisconnected& e) {
                   if (const auto endpoint = EndpointOf(e.id)) endpoint->OnDisconnected(e.by);
                 },
                 [this](const CmOver& e) {
                   Detach(e.id);
                   ReleaseQpn(e.qpn);
                 },
             },
             event);
}

void RocePlane::OnRequest(const CmRequestArrived& event) {
  const auto reject = [&](rdmacm::RejectReason reason) {
    cm_->Reject(event.id, reason, {}, LoopTimeUs());
  };
  const std::optional<RequestMeaning> meaning = ReadRequestData(event.private_data);
  if (!rdmacm::PortOf(rdmacm::PortSpace::kTcp, event.service_id) || !meaning) {
    return reject(rdmacm::RejectReason::kInvalidServiceId);
  }
  if (PathMtuOf(event.path_mtu) > mtu()) return reject(rdmacm::RejectReason::kInvalidMtu);
  const std::shared_ptr<RoceServicePoint> point =
      FindService(event.service_id, meaning->field.qualifier);
  if (point == nullptr) return reject(rdmacm::RejectReason::kInvalidServiceId);
  open_requests_[event.id] = event.service_id;
  Deliver(point, std::make_unique<RoceConnectionRequest>(
                     shared_from_this(), event, point->conn_qual, meaning->source_port,
                     meaning->field.trailer, meaning->field.data));
}

// Nobody takes it: it refuses itself.
void RocePlane::Deliver(const std::shared_ptr<RoceServicePoint>& point,
                        std::unique_ptr<transport::ConnectionRequest> request) {
  if (point->sink != nullptr) point->sink->OnRequest(request);
}

}  // namespace softdat::softnet
