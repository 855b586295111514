// SPDX-License-Identifier: BSD-3-Clause
// transport::Adapter over an open RDMA device.
#ifndef SOFTDAT_PROVIDER_VERBS_ADAPTER_H_
#define SOFTDAT_PROVIDER_VERBS_ADAPTER_H_

#include <memory>
#include <span>
#include <string>

#include "dat/transport/transport.h"
#include "provider_verbs/device.h"

namespace softdat::verbs {

class Adapter : public transport::Adapter {
 public:
  explicit Adapter(std::unique_ptr<Device> device) : device_(std::move(device)) {}
  ~Adapter() override;

  const transport::AdapterAttributes& attributes() const override { return device_->attributes; }
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
                                     transport::Clock::time_point deadline) override {
    return device_->driver.Progress(waiter, deadline);
  }
  void AbandonAfterFork() override;

 private:
  const std::unique_ptr<Device> device_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_ADAPTER_H_
