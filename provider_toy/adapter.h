// SPDX-License-Identifier: BSD-3-Clause
// One open toy device. Makes the objects and runs the upcalls.
#ifndef SOFTDAT_PROVIDER_TOY_ADAPTER_H_
#define SOFTDAT_PROVIDER_TOY_ADAPTER_H_

#include <memory>
#include <span>

#include "dat/transport/transport.h"
#include "provider_toy/dispatcher.h"
#include "provider_toy/fabric.h"
#include "provider_toy/quota.h"

namespace softdat::toy {

class Adapter : public transport::Adapter {
 public:
  Adapter(Fabric& fabric, uint32_t device);

  const transport::AdapterAttributes& attributes() const override { return attributes_; }

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

  transport::ProgressResult Progress(transport::Waiter* waiter,
                                     transport::Clock::time_point deadline) override;
  void AbandonAfterFork() override;

 private:
  Fabric& fabric_;
  const uint32_t device_;
  const transport::AdapterAttributes attributes_;
  Quota domains_, regions_, windows_, queues_, queue_pairs_, shared_queues_;
  Dispatcher dispatcher_;
};

}  // namespace softdat::toy

#endif  // SOFTDAT_PROVIDER_TOY_ADAPTER_H_
