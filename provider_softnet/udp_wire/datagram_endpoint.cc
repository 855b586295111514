// SPDX-License-Identifier: BSD-3-Clause
// DatagramEndpoint's control operations: creation, configuration, meeting, the end.
#include "provider_softnet/udp_wire/datagram_endpoint.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "dat/backend_kit/own_address.h"
#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/driver/loop_time.h"
#include "provider_softnet/udp_wire/request_data.h"
#include "provider_softnet/udp_wire/route.h"
#include "wire/rdmacm/private_data.h"
#include "wire/rdmacm/service_id.h"

namespace softdat::softnet {

namespace {

// A number rests for so long, because datagrams for it may be under way.
constexpr std::chrono::seconds kRest{2};

}  // namespace

DatagramEndpoint::DatagramEndpoint(std::shared_ptr<RoceAdapter> adapter,
                                   const transport::QueuePairAttributes& attributes)
    : adapter_(std::move(adapter)),
      driver_(&adapter_->driver),
      id_(adapter_->memory.NewQueuePairId()),
      queues_(attributes),
      sink_(attributes.datagram_sink) {
  for (const std::shared_ptr<RocePlane>& plane : adapter_->planes()) {
    sides_[side_count_++].plane = plane;
  }
  MakeDatagrams();
}

DatagramEndpoint::~DatagramEndpoint() = default;

void DatagramEndpoint::MakeDatagrams() {
  datagrams_.emplace(queues_.ForLedger(&adapter_->memory, id_), kDatagramQkey,
                     adapter_->attributes.max_datagram);
}

Status DatagramEndpoint::Configure(const transport::QueuePairAttributes& a) {
  const TokenHold token(&driver_->token());
  const std::lock_guard<FastMutex> lock(mutex_);
  if (has_met_) return Status(Code::kInvalidState, "peers know the queue pair already");
  if (!queues_.sends().empty()) return Status(Code::kInvalidState, "datagrams are being sent");
  if (Status s = queues_.Set(a); !s.ok()) return s;
  sink_ = a.datagram_sink;
  paths_.clear();
  MakeDatagrams();
  return Status::Ok();
}

// -------------------------------------------------------------------------------------------------
// Meeting

DatagramEndpoint::Side& DatagramEndpoint::SideOf(const RocePlane& plane) {
  return sides_[0].plane.get() == &plane ? sides_[0] : sides_[1];
}

DatagramEndpoint::Side* DatagramEndpoint::SideOf(sa_family_t family) {
  for (size_t i = 0; i < side_count_; ++i) {
    if (sides_[i].plane->address().ss_family == family) return &sides_[i];
  }
  return nullptr;
}

Status DatagramEndpoint::GiveNumber(Side* side) {
  if (side->qpn != 0) return Status::Ok();
  Result<uint32_t> qpn = side->plane->AllocateQpn(this);
  if (!qpn.ok()) return qpn.TakeStatus();
  side->qpn = qpn.value();
  return Status::Ok();
}

Result<uint32_t> DatagramEndpoint::Meet(const RocePlane& plane) {
  const std::lock_guard<FastMutex> lock(mutex_);
  if (queues_.pd() == 0) return Status(Code::kInvalidState, "no protection domain");
  if (sink_ == nullptr) return Status(Code::kInvalidState, "no datagram sink");
  Side& side = SideOf(plane);
  if (Status s = GiveNumber(&side); !s.ok()) return s;
  has_met_ = true;
  return side.qpn;
}

Status DatagramEndpoint::Resolve(const transport::ConnectParameters& p, uint64_t token) {
  if (AddressSize(p.remote) == 0) {
    return Status(Code::kAddressUnsupported,
                  fmt::format("address family {} is neither IPv4 nor IPv6", p.remote.ss_family));
  }
  if (p.conn_qual == 0) return Status(Code::kInvalidArgument, "connection qualifier 0");
  if (p.private_data.size() > adapter_->attributes.max_private_data) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} bytes of private data; {} are possible", p.private_data.size(),
                              adapter_->attributes.max_private_data));
  }
  const sockaddr_storage peer = PeerAddress(*adapter_, p.remote);
  Result<std::shared_ptr<RocePlane>> plane = adapter_->PlaneFor(peer);
  if (!plane.ok()) return plane.TakeStatus();
  const TokenHold hold(&driver_->token());
  if (Result<uint32_t> own = Meet(*plane.value()); !own.ok()) return own.TakeStatus();
  if (const int error = RouteError(plane.value()->address(), peer); error != 0) {
    const std::lock_guard<FastMutex> lock(mutex_);
    unreachable_.push_back({token, fmt::format("{} cannot be asked for datagrams: {}",
                                               AddressText(p.remote), std::strerror(error))});
    driver_->RequestAttention(this);
    return Status::Ok();
  }
  Ask(&SideOf(*plane.value()), p, peer, token);
  return Status::Ok();
}

void DatagramEndpoint::Ask(Side* side, const transport::ConnectParameters& p,
                           const sockaddr_storage& peer, uint64_t token) {
  RocePlane& plane = *side->plane;
  const DatagramRequestData data(plane.address(), plane.source_port(), peer, p.conn_qual,
                                 p.private_data, {side->qpn, kDatagramQkey});
  SidrResolve resolve;
  resolve.remote = peer;
  resolve.service_id = rdmacm::ServiceIdOf(rdmacm::PortSpace::kUdp, PortOfQualifier(p.conn_qual));
  if (p.timeout != std::chrono::microseconds::max()) {
    resolve.timeout_us = static_cast<uint64_t>(p.timeout.count());
  }
  if (IsLoopback(peer) || IsOwnAddress(peer)) {
    resolve.grace_us =
        static_cast<uint64_t>(std::chrono::microseconds(adapter_->options.connect_grace).count());
  }
  resolve.private_data = data.bytes();
  const SidrId id = plane.resolution().Resolve(resolve, LoopTimeUs());
  side->asked[id] = {token, peer};
  plane.AttachAsker(id, this);
  plane.Flush();
}

void DatagramEndpoint::OnResolved(const RocePlane& plane, const SidrResolved& event) {
  Side& side = SideOf(plane);
  const auto asked = side.asked.extract(event.id);
  if (asked.empty() || sink_ == nullptr) return;
  sink_->OnResolved(
      asked.mapped().token,
      MakeDatagramPeer(side.plane, asked.mapped().peer, event.qpn, event.qkey),
      rdmacm::ReadField(rdmacm::CmField::kSidrReply, event.private_data, /*iwarp=*/false).data);
}

void DatagramEndpoint::OnUnresolved(const RocePlane& plane, const SidrFailed& event) {
  const auto asked = SideOf(plane).asked.extract(event.id);
  if (asked.empty() || sink_ == nullptr) return;
  sink_->OnUnresolved(asked.mapped().token, event.reason, event.private_data, event.why);
}

void DatagramEndpoint::Attend() {
  const RefPtr<DatagramEndpoint> keep(this);
  std::vector<Unreachable> unreachable;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (dead_) return;
    unreachable.swap(unreachable_);
  }
  OnPacketsEnd();
  for (const Unreachable& u : unreachable) {
    if (sink_ != nullptr) {
      sink_->OnUnresolved(u.token, transport::RejectReason::kUnreachable, {}, u.why);
    }
  }
}

// -------------------------------------------------------------------------------------------------
// The end

void DatagramEndpoint::Shutdown() {
  const TokenHold token(&driver_->token());
  sink_ = nullptr;
  std::array<uint32_t, 2> numbers{};
  LostDatagrams lost;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    dead_ = true;
    for (size_t i = 0; i < side_count_; ++i) numbers[i] = std::exchange(sides_[i].qpn, 0);
    lost = datagrams_->lost();
    queues_.Release();
    paths_.clear();
  }
  for (size_t i = 0; i < side_count_; ++i) {
    Side& side = sides_[i];
    for (const auto& [id, asked] : std::exchange(side.asked, {})) {
      side.plane->DetachAsker(id);
      side.plane->resolution().Cancel(id);
      side.plane->Flush();
    }
    if (numbers[i] != 0) side.plane->ReleaseQpn(numbers[i], kRest);
  }
  if (lost.all() == 0) return;
  SOFTDAT_LOG(Info,
              "datagrams that were lost here: no receive {}, short receive {}, bad memory {}, "
              "other Q_Key {}, other P_Key {}, of other services {}",
              lost.no_receive, lost.short_receive, lost.bad_memory, lost.bad_qkey, lost.bad_pkey,
              lost.of_other_service);
}

}  // namespace softdat::softnet
