// SPDX-License-Identifier: BSD-3-Clause
// iWARP over TCP: what it can do, and its queue pairs and listeners.
#include "provider_softnet/tcp/tcp_wire.h"

#include <utility>

#include "provider_softnet/connection/endpoint.h"
#include "provider_softnet/tcp/tcp_context.h"
#include "provider_softnet/tcp/tcp_listener.h"
#include "provider_softnet/tcp/tcp_ports.h"

namespace softdat::softnet {
namespace {

class TcpWire final : public Wire {
 public:
  explicit TcpWire(const TcpOptions& options) : options_(options) {}

  void Describe(transport::AdapterAttributes* a) const override {
    DescribeConnections(options_, a);
  }
  void Begin(std::shared_ptr<AdapterShared> shared) override {
    context_ = std::make_shared<TcpContext>(std::move(shared), options_);
  }
  Result<std::unique_ptr<transport::QueuePair>> CreateQueuePair(
      const transport::QueuePairAttributes& a) override {
    return std::unique_ptr<transport::QueuePair>(std::make_unique<IwarpQueuePair>(context_, a));
  }
  Result<std::unique_ptr<transport::Listener>> Listen(
      const transport::ListenParameters& p) override {
    return TcpListener::Create(context_, p);
  }
  void Stop() override { context_->Stop(); }
  void OnProcessExit(LoopClock::time_point deadline) override {
    context_->leavers.LeaveAll(deadline);
  }
  void AbandonAfterFork() override { TcpPorts().AbandonAfterFork(); }

 private:
  const TcpOptions options_;
  std::shared_ptr<TcpContext> context_;
};

}  // namespace

std::unique_ptr<Wire> MakeTcpWire(const TcpOptions& options) {
  return std::make_unique<TcpWire>(options);
}

std::unique_ptr<Wire> MakeTcpWireFromSettings() { return MakeTcpWire(TcpOptions::FromSettings()); }

}  // namespace softdat::softnet
