// SPDX-License-Identifier: BSD-3-Clause
// transport::Adapter of softnet: one open device with its wire.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ADAPTER_ADAPTER_H_
#define SOFTDAT_PROVIDER_SOFTNET_ADAPTER_ADAPTER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "dat/transport/transport.h"
#include "provider_softnet/adapter/interfaces.h"
#include "provider_softnet/objects/adapter_shared.h"
#include "provider_softnet/objects/wire.h"

namespace softdat::softnet {

class SoftnetAdapter final : public transport::Adapter {
 public:
  // Costs no thread and no descriptor before the first listener or connect. `random`: unpredictable
  // numbers, for the keys of memory.
  SoftnetAdapter(const Interface& interface, const AdapterOptions& options,
                 std::unique_ptr<Wire> wire, std::function<uint64_t()> random);
  ~SoftnetAdapter() override;

  const transport::AdapterAttributes& attributes() const override { return shared_->attributes; }
  Result<std::unique_ptr<transport::ProtectionDomain>> CreateProtectionDomain() override;
  Result<std::unique_ptr<transport::MemoryRegion>> RegisterMemory(
      transport::ProtectionDomain& pd, const transport::RegionParameters& p) override;
  Result<std::unique_ptr<transport::MemoryWindow>> CreateWindow(transport::ProtectionDomain& pd,
                                                                bool exclusive_to_qp) override;
  Result<std::unique_ptr<transport::CompletionQueue>> CreateCompletionQueue(
      uint32_t capacity, transport::CompletionSink* sink) override;
  Result<std::unique_ptr<transport::QueuePair>> CreateQueuePair(
      const transport::QueuePairAttributes& a) override;
  Result<std::unique_ptr<transport::SharedReceiveQueue>> CreateSharedReceiveQueue(
      transport::ProtectionDomain& pd, uint32_t capacity, uint32_t max_iov,
      transport::SharedReceiveSink* sink) override;
  Result<std::unique_ptr<transport::Listener>> Listen(
      const transport::ListenParameters& p) override;
  Code CheckSegments(std::span<const DAT_LMR_TRIPLET> segments) override;
  transport::ProgressResult Poll(transport::CompletionQueue& queue) override;
  transport::ProgressResult Spin(transport::CompletionQueue& queue,
                                 transport::Clock::time_point deadline,
                                 transport::Clock::time_point* until) override;
  int ProgressDescriptor() override { return shared_->driver.ProgressDescriptor(); }
  transport::ProgressResult LookAround() override { return shared_->driver.LookAround(); }
  transport::ProgressResult Progress(transport::Waiter* waiter,
                                     transport::Clock::time_point deadline) override;
  void OnProcessExit(transport::Clock::time_point deadline) override;
  void AbandonAfterFork() override;

  // What the driver counted, for tests.
  const DriverCounters& counters() const { return shared_->driver.counters(); }

 private:
  // The wire's objects may outlive both members.
  std::shared_ptr<AdapterShared> shared_;
  std::unique_ptr<Wire> wire_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ADAPTER_ADAPTER_H_
