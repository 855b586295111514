// SPDX-License-Identifier: BSD-3-Clause
// RingPorts, and how a link connects.
#include "provider_softnet/ring/ring_ports.h"

#include <errno.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/ring/ring_link.h"

namespace softdat::softnet {

RingBacklog::RingBacklog() : doorbell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

bool RingBacklog::Add(std::shared_ptr<RingCable> cable) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (waiting_.size() == kMost) return false;
  waiting_.push_back(std::move(cable));
  const uint64_t one = 1;
  return write(doorbell_.get(), &one, sizeof(one)) == sizeof(one);
}

std::shared_ptr<RingCable> RingBacklog::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (waiting_.empty()) {
    uint64_t rung = 0;
    [[maybe_unused]] const ssize_t n = read(doorbell_.get(), &rung, sizeof(rung));
    return nullptr;
  }
  std::shared_ptr<RingCable> cable = std::move(waiting_.front());
  waiting_.pop_front();
  return cable;
}

RingPorts& RingPorts::Get() {
  static RingPorts ports;
  return ports;
}

// mutex_ must be held.
uint16_t RingPorts::NextFree() {
  do {
    last_ = last_ == UINT16_MAX ? uint16_t{32768} : static_cast<uint16_t>(last_ + 1);
  } while (ports_.count(last_) != 0);
  return last_;
}

uint16_t RingPorts::FreePort() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return NextFree();
}

Status RingPorts::Join(const std::shared_ptr<ServicePoint>& point, bool any,
                       const std::shared_ptr<RingBacklog>& backlog, uint16_t* port) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (any) point->conn_qual = NextFree();
  *port = PortOfQualifier(point->conn_qual);
  if (!ports_[*port].try_emplace(point->conn_qual, Member{point, backlog}).second) {
    return Status(Code::kInUse, fmt::format("qualifier {} has a service point", point->conn_qual));
  }
  return Status::Ok();
}

void RingPorts::Leave(uint16_t port, uint64_t conn_qual) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ports_[port].erase(conn_qual);
  if (ports_[port].empty()) ports_.erase(port);
}

std::shared_ptr<ServicePoint> RingPorts::Find(uint16_t port, uint64_t conn_qual, bool whole) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto members = ports_.find(port);
  if (members == ports_.end()) return nullptr;
  const auto member = members->second.find(conn_qual);
  if (member != members->second.end()) return member->second.point;
  return !whole && members->second.size() == 1 ? members->second.begin()->second.point : nullptr;
}

int RingPorts::Offer(uint16_t port, std::shared_ptr<RingCable> cable) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto members = ports_.find(port);
  if (members == ports_.end()) return ECONNREFUSED;
  return members->second.begin()->second.backlog->Add(std::move(cable)) ? 0 : ETIMEDOUT;
}

int RingLink::Connect(const sockaddr_storage& remote) {
  cable_->addresses[0] = cable_->addresses[1] = remote;
  SetSocketPort(RingPorts::Get().FreePort(), &cable_->addresses[end_]);
  return RingPorts::Get().Offer(SocketPort(remote), cable_);
}

}  // namespace softdat::softnet
