// SPDX-License-Identifier: BSD-3-Clause
// RocePlane: starting, stopping, queue pair numbers, service points, packets to queue pairs.
#include "provider_softnet/udp_wire/roce_plane.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/socket_address.h"
#include "dat/base/thread_local.h"
#include "provider_softnet/driver/loop_time.h"
#include "provider_softnet/memory/random_numbers.h"
#include "provider_softnet/udp_wire/datagram_endpoint.h"
#include "provider_softnet/udp_wire/roce_endpoint.h"
#include "provider_softnet/udp_wire/roce_request.h"
#include "wire/rdmacm/mad.h"
#include "wire/rdmacm/service_id.h"

namespace softdat::softnet {

namespace {

// The queue pairs that this thread has packets for, and has not told that these are all. Each is
// held by a reference. Batches do not nest: upcalls, which may receive in turn, are made when the
// list is empty again.
struct Touched {
  static constexpr size_t kMost = 16;
  RocePair* pairs[kMost];
  uint32_t qpns[kMost];  // by which each was found
  size_t count;
};
constinit thread_local Touched t_touched SOFTDAT_EARLY_TLS = {};

// How long a question for datagrams waits for its answer before it is asked again. The kernel at
// the other end forgets what it has answered, and takes the same question for a new one: so an
// asker that was busy for a while had better find the answer first.
constexpr uint64_t kFirstQuestionUs = 500'000;

// The one of them that has this number; null if there is none. Mostly it is the last one.
RocePair* FindTouched(uint32_t qpn) {
  for (size_t i = t_touched.count; i-- > 0;) {
    if (t_touched.qpns[i] == qpn) return t_touched.pairs[i];
  }
  return nullptr;
}

}  // namespace

RocePlane::RocePlane(RoceAdapter* adapter, const sockaddr_storage& address)
    : adapter_(adapter), address_(address) {}

RocePlane::~RocePlane() = default;

Status RocePlane::Start() {
  if (started_.load(std::memory_order_acquire)) return Status::Ok();
  if (Status s = driver().Start(); !s.ok()) return s;
  const TokenHold token(&driver().token());
  if (started_.load(std::memory_order_relaxed)) return Status::Ok();
  Result<std::function<uint64_t()>> random = RandomNumbers();
  if (!random.ok()) return random.TakeStatus();
  Result<std::function<uint64_t()>> starts = RandomNumbers();
  if (!starts.ok()) return starts.TakeStatus();
  Result<std::unique_ptr<UdpPort>> port =
      UdpPort::Open(address_, adapter_->options.port, &driver(), this);
  if (!port.ok()) return port.TakeStatus();
  random_ = random.Take();
  port_ = port.Take();
  CmOptions cm;
  cm.ca_guid = random_();
  cm.comm_id_block = port_->home_block();
  cm_.emplace(cm, random_);
  CmOptions sidr = cm;
  sidr.first_interval_us = kFirstQuestionUs;
  resolution_.emplace(sidr, random_);
  cm_timer_.emplace(&driver().loop(), [this] {
    const std::shared_ptr<RocePlane> keep = shared_from_this();
    cm_->OnTime(LoopTimeUs());
    resolution_->OnTime(LoopTimeUs());
    Pump();
  });
  const auto has_member = [this](const std::string& host, uint32_t qpn) {
    return port_->HasMember(host, qpn);
  };
  watch_.emplace(has_member, &driver().loop(), [this](CmId id) {
    if (const auto endpoint = EndpointOf(id)) endpoint->OnDisconnected(CmDisconnected::By::kPeer);
  });
  // Each block costs a descriptor, and one is there already.
  auto claim = [this, is_first = true]() mutable -> Result<uint32_t> {
    if (std::exchange(is_first, false)) return port_->home_block();
    return port_->ClaimBlock();
  };
  pairs_ = std::make_unique<QpnTable<RocePair>>(std::move(claim), starts.Take());
  // Packets that came before this were for nobody.
  started_.store(true, std::memory_order_release);
  return Status::Ok();
}

void RocePlane::Stop() {
  if (!started_.load(std::memory_order_acquire)) return;
  const TokenHold token(&driver().token());
  services_.clear();
  // What another member of this address is told may have come here.
  port_->TakeTheRest();
  TakeMads();
  const auto exchanges = std::exchange(exchanges_, {});
  for (const auto& [id, endpoint] : exchanges) endpoint->OnPlaneStops();
  stopped_ = true;
  cm_timer_.reset();
  watch_.reset();
  DropLeases();
  askers_.clear();
  {
    const std::lock_guard<std::mutex> lock(waiting_mutex_);
    waiting_.clear();
  }
  port_.reset();
  pairs_.reset();
}

void RocePlane::Leave(LoopClock::time_point deadline) {
  if (!started_.load(std::memory_order_acquire)) return;
  // Our last packets may have come to our own sockets. A peer is to have them before it hears of
  // the end, but one that stands still must not keep that from the others.
  constexpr std::chrono::milliseconds kForThePackets{50};
  const LoopClock::time_point soon = std::min(LoopClock::now() + kForThePackets, deadline);
  leaving_.store(true, std::memory_order_relaxed);
  port_->BeginLeaving();
  port_->TakeTheRest();
  port_->HandOnTheRest(soon);
  driver().RunAtExit(soon + kForThePackets,
                     [plane = shared_from_this()] { plane->EndExchanges(); });
  port_->TakeTheRest();
  // What waits for a member that reads slowly would die with the process.
  port_->HandOnTheRest(deadline);
}

// -------------------------------------------------------------------------------------------------
// Queue pairs

Result<uint32_t> RocePlane::AllocateQpn(RocePair* pair) {
  return pairs_->Allocate(RefPtr<RocePair>(pair), QpnBlock::Clock::now());
}

void RocePlane::ReleaseQpn(uint32_t qpn, std::chrono::milliseconds rest) {
  pairs_->Release(qpn, QpnBlock::Clock::now() + rest);
}

[[gnu::hot]] void RocePlane::OnPacket(const Arrival& arrival) {
  if (!started_.load(std::memory_order_acquire)) return;
  const bool leaving = leaving_.load(std::memory_order_relaxed);
  if (arrival.packet.bth.dest_qpn == rdmacm::kGsiQpn) {
    return leaving ? HandOnMadAtExit(arrival) : OnMadArrived(arrival);
  }
  if (leaving) return;
  const uint32_t qpn = arrival.packet.bth.dest_qpn;
  if (RocePair* const touched = FindTouched(qpn)) return touched->OnPacket(arrival);
  const RefPtr<RocePair> pair = pairs_->Find(qpn);
  if (!pair) return;
  pair->OnPacket(arrival);
  if (t_touched.count == Touched::kMost) return pair->FinishPacketsSoon();
  pair->Ref();
  t_touched.pairs[t_touched.count] = pair.get();
  t_touched.qpns[t_touched.count++] = qpn;
}

// No upcall before this: the port's socket is free again only now, and an upcall may wait for what
// comes by it.
[[gnu::hot]] void RocePlane::OnBatchEnd() {
  const Touched mine = std::exchange(t_touched, {});
  for (size_t i = 0; i < mine.count; ++i) {
    mine.pairs[i]->OnPacketsEnd();
    mine.pairs[i]->Unref();
  }
}

// -------------------------------------------------------------------------------------------------
// A full socket

void RocePlane::WaitForRoom(RocePair* pair) {
  {
    const std::lock_guard<std::mutex> lock(waiting_mutex_);
    waiting_.emplace_back(pair);
  }
  port_->WantWritable();
}

void RocePlane::OnWritable() {
  std::vector<RefPtr<RocePair>> waiting;
  {
    const std::lock_guard<std::mutex> lock(waiting_mutex_);
    waiting.swap(waiting_);
  }
  for (const RefPtr<RocePair>& pair : waiting) pair->OnRoom();
}

// -------------------------------------------------------------------------------------------------
// Service points

uint64_t ConnectionServiceOf(uint64_t service_id) {
  const auto port = rdmacm::PortOf(rdmacm::PortSpace::kUdp, service_id);
  return port ? rdmacm::ServiceIdOf(rdmacm::PortSpace::kTcp, *port) : service_id;
}

Status RocePlane::JoinService(const std::shared_ptr<RoceServicePoint>& point) {
  const uint64_t id =
      rdmacm::ServiceIdOf(rdmacm::PortSpace::kTcp, PortOfQualifier(point->conn_qual));
  const auto known = services_.find(id);
  if (known == services_.end()) {
    Result<std::unique_ptr<ServiceBinding>> binding = port_->ListenOn(id);
    if (!binding.ok()) {
      if (binding.status().code() != Code::kInUse) return binding.TakeStatus();
      return Status(Code::kInUse, fmt::format("qualifier {} has a service point at {} already",
                                              point->conn_qual, HostText(address_)));
    }
    Service& service = services_[id];
    service.binding = binding.Take();
    service.points[point->conn_qual] = point;
    return Status::Ok();
  }
  if (!known->second.points.emplace(point->conn_qual, point).second) {
    return Status(Code::kInUse,
                  fmt::format("qualifier {} has a service point already", point->conn_qual));
  }
  return Status::Ok();
}

void RocePlane::LeaveService(const std::shared_ptr<RoceServicePoint>& point) {
  const uint64_t id =
      rdmacm::ServiceIdOf(rdmacm::PortSpace::kTcp, PortOfQualifier(point->conn_qual));
  const auto known = services_.find(id);
  if (known == services_.end()) return;
  const auto member = known->second.points.find(point->conn_qual);
  if (member == known->second.points.end() || member->second != point) return;
  known->second.points.erase(member);
  DropServiceIfUnused(id);
}

void RocePlane::DropServiceIfUnused(uint64_t service_id) {
  const auto service = services_.find(service_id);
  if (service == services_.end() || !service->second.points.empty()) return;
  const auto is_for_it = [&](const auto& open) { return open.second == service_id; };
  if (std::any_of(open_requests_.begin(), open_requests_.end(), is_for_it)) return;
  if (std::any_of(open_datagram_requests_.begin(), open_datagram_requests_.end(), is_for_it))
    return;
  services_.erase(service);
  OnServiceDropped(service_id);
}

void RocePlane::CloseRequest(CmId id) {
  TellFirstOwner(id);
  const auto open = open_requests_.find(id);
  if (open == open_requests_.end()) return;
  const uint64_t service_id = open->second;
  open_requests_.erase(open);
  DropServiceIfUnused(service_id);
}

std::shared_ptr<RoceServicePoint> RocePlane::FindService(uint64_t service_id,
                                                         std::optional<uint64_t> conn_qual) {
  const auto known = services_.find(service_id);
  if (known == services_.end()) return nullptr;
  const auto& points = known->second.points;
  const uint64_t wanted =
      conn_qual ? *conn_qual : *rdmacm::PortOf(rdmacm::PortSpace::kTcp, service_id);
  if (const auto exact = points.find(wanted); exact != points.end()) return exact->second;
  // A foreign peer can name only the port.
  if (!conn_qual && points.size() == 1) return points.begin()->second;
  return nullptr;
}

}  // namespace softdat::softnet
