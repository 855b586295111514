// SPDX-License-Identifier: BSD-3-Clause
// ShmWire.
#include "provider_softnet/shm/shm_wire.h"

#include <utility>

#include "provider_softnet/connection/endpoint.h"
#include "provider_softnet/shm/shm_context.h"
#include "provider_softnet/shm/shm_listener.h"
#include "provider_softnet/shm/shm_ports.h"

namespace softdat::softnet {
namespace {

class ShmWire final : public Wire {
 public:
  void Describe(transport::AdapterAttributes* a) const override {
    DescribeConnections(options_, a);
  }
  // A try of a stream is no system call, so as many as over a socket take much less time.
  LookInterval look_interval() const override { return {.of_a_queue = 512, .of_a_thread = 521}; }
  void Begin(std::shared_ptr<AdapterShared> shared) override {
    context_ = std::make_shared<ShmContext>(std::move(shared), options_);
  }
  Result<std::unique_ptr<transport::QueuePair>> CreateQueuePair(
      const transport::QueuePairAttributes& a) override {
    return std::unique_ptr<transport::QueuePair>(std::make_unique<IwarpQueuePair>(context_, a));
  }
  Result<std::unique_ptr<transport::Listener>> Listen(
      const transport::ListenParameters& p) override {
    return ShmListener::Create(context_, p);
  }
  void Stop() override { context_->Stop(); }
  void OnProcessExit(LoopClock::time_point deadline) override { context_->OnProcessExit(deadline); }
  void AbandonAfterFork() override { ShmPorts().AbandonAfterFork(); }

 private:
  // A write's notice costs so little here that only small writes wait for it.
  static ConnectionOptions Options() {
    ConnectionOptions o = ConnectionOptions::FromSettings();
    o.gather_bytes = 256 * 1024;
    o.hold_bytes = 16 * 1024;
    return o;
  }

  const ConnectionOptions options_ = Options();
  std::shared_ptr<ShmContext> context_;
};

}  // namespace

std::unique_ptr<Wire> MakeShmWire() { return std::make_unique<ShmWire>(); }

}  // namespace softdat::softnet
