// SPDX-License-Identifier: BSD-3-Clause
// RoCEv2 over UDP: what it can do, and its queue pairs and listeners.
#include "provider_softnet/udp_wire/udp_wire.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "dat/base/settings.h"
#include "provider_softnet/udp/datagram_sockets.h"
#include "provider_softnet/udp_wire/datagram_endpoint.h"
#include "provider_softnet/udp_wire/roce_adapter.h"
#include "provider_softnet/udp_wire/roce_endpoint.h"
#include "provider_softnet/udp_wire/roce_listener.h"
#include "provider_softnet/udp_wire/roce_plane.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::softnet {
namespace {

class UdpWire final : public Wire {
 public:
  explicit UdpWire(const RoceOptions& options) : options_(options) {}

  Status Check(const sockaddr_storage& address) const override {
    for (const std::string& problem : GetParsedSettings().problems) {
      // Other libraries read these variables, too, so only this wire minds.
      if (problem.starts_with("DAPL_")) return Status(Code::kInvalidArgument, problem);
    }
    Status port = CheckReceiverPort(address, geteuid());
    if (port.code() != Code::kInUse) return port;
    // The code of the same name is that of a connection qualifier.
    return Status(Code::kNoResources, std::string(port.reason()));
  }
  void Describe(transport::AdapterAttributes* a) const override {
    constexpr uint32_t kMaxReads = 128;
    a->max_read_in = kMaxReads;
    a->max_read_out = kMaxReads;
    a->max_message = kMaxRoceMessage;
    a->max_private_data = static_cast<uint32_t>(rdmacm::MaxPrivateData(/*iwarp=*/false));
    a->mtu = PathMtuFor(a->mtu);
    if (options_.mtu != 0) a->mtu = std::min(a->mtu, options_.mtu);
    a->immediate = a->atomics = true;
    a->invalidate = true;
    a->receive_watermarks = true;
    a->confirms_writes = true;
    a->confirmed_completions = true;
    a->datagrams = true;
    a->max_datagram = a->mtu;
  }
  void Begin(std::shared_ptr<AdapterShared> shared) override {
    adapter_ = std::make_shared<RoceAdapter>(std::move(shared), options_);
  }
  Result<std::unique_ptr<transport::QueuePair>> CreateQueuePair(
      const transport::QueuePairAttributes& a) override {
    if (a.service == transport::Service::kDatagram) {
      return std::unique_ptr<transport::QueuePair>(
          std::make_unique<DatagramQueuePair>(adapter_, a));
    }
    return std::unique_ptr<transport::QueuePair>(std::make_unique<RoceQueuePair>(adapter_, a));
  }
  Result<std::unique_ptr<transport::Listener>> Listen(
      const transport::ListenParameters& p) override {
    return RoceListener::Create(adapter_, p);
  }
  void Stop() override { adapter_->Stop(); }
  void OnProcessExit(LoopClock::time_point deadline) override {
    for (const std::shared_ptr<RocePlane>& plane : adapter_->planes()) plane->Leave(deadline);
  }
  void AbandonAfterFork() override {}

 private:
  const RoceOptions options_;
  std::shared_ptr<RoceAdapter> adapter_;
};

}  // namespace

std::unique_ptr<Wire> MakeUdpWire(const RoceOptions& options) {
  return std::make_unique<UdpWire>(options);
}

std::unique_ptr<Wire> MakeUdpWireFromSettings() { return MakeUdpWire(RoceOptions::FromSettings()); }

}  // namespace softdat::softnet
