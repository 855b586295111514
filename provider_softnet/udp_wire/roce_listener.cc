// SPDX-License-Identifier: BSD-3-Clause
// RoceListener.
#include "provider_softnet/udp_wire/roce_listener.h"

#include <fmt/format.h>

#include <algorithm>

#include "dat/base/socket_address.h"

namespace softdat::softnet {

namespace {

// Ports to choose from: the dynamic ones of RFC 6335.
constexpr uint64_t kFirstFree = 49152;
constexpr uint64_t kFreePorts = 65536 - kFirstFree;
constexpr int kTries = 1000;

}  // namespace

Result<std::unique_ptr<transport::Listener>> RoceListener::Create(
    const std::shared_ptr<RoceAdapter>& adapter, const transport::ListenParameters& p) {
  if (p.sink == nullptr) return Status(Code::kInvalidArgument, "a listener without a sink");
  if (!p.any && p.conn_qual == 0) return Status(Code::kInvalidArgument, "connection qualifier 0");
  std::vector<std::shared_ptr<RocePlane>> planes;
  Status why(Code::kAddressUnsupported, "the address to listen on is not one of this IA");
  for (const std::shared_ptr<RocePlane>& plane : adapter->planes()) {
    if (p.address != nullptr && !SameHost(*p.address, plane->address())) continue;
    if (Status s = plane->Start(); s.ok()) {
      planes.push_back(plane);
    } else if (planes.empty()) {
      why = std::move(s);  // a second address is welcome, and no condition
    }
  }
  if (planes.empty()) return why;
  const TokenHold token(&adapter->driver.token());
  auto point = std::make_shared<RoceServicePoint>();
  point->sink = p.sink;
  std::unique_ptr<RoceListener> listener(new RoceListener(adapter, point));
  for (int tries = 0; tries < kTries; ++tries) {
    point->conn_qual = p.any ? kFirstFree + planes[0]->Random() % kFreePorts : p.conn_qual;
    Status s = listener->Join(planes);
    if (s.ok()) return std::unique_ptr<transport::Listener>(std::move(listener));
    if (!p.any || s.code() != Code::kInUse) return s;
  }
  return Status(Code::kNoFreeQualifier, "no port is left to choose from");
}

Status RoceListener::Join(std::span<const std::shared_ptr<RocePlane>> planes) {
  for (const std::shared_ptr<RocePlane>& plane : planes) {
    Status s = plane->JoinService(point_);
    if (s.ok()) {
      joined_.push_back(plane);
      continue;
    }
    for (const std::shared_ptr<RocePlane>& joined : joined_) joined->LeaveService(point_);
    joined_.clear();
    return s;
  }
  return Status::Ok();
}

RoceListener::~RoceListener() {
  const TokenHold token(&adapter_->driver.token());
  point_->sink = nullptr;
  for (const std::shared_ptr<RocePlane>& plane : joined_) plane->LeaveService(point_);
}

}  // namespace softdat::softnet
