// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queues over ibv_srq.
#ifndef SOFTDAT_PROVIDER_VERBS_SHARED_RECEIVE_QUEUE_H_
#define SOFTDAT_PROVIDER_VERBS_SHARED_RECEIVE_QUEUE_H_

#include <infiniband/verbs.h>

#include <deque>
#include <memory>
#include <vector>

#include "dat/backend_kit/spin_lock.h"
#include "dat/backend_kit/upcall_gate.h"
#include "dat/transport/transport.h"
#include "provider_verbs/device.h"
#include "provider_verbs/work_slots.h"

namespace softdat::verbs {

class SrqCore : public std::enable_shared_from_this<SrqCore> {
 public:
  static Result<std::shared_ptr<SrqCore>> Create(Device& device, ibv_pd* pd,
                                                 const void* pd_identity, uint32_t capacity,
                                                 uint32_t max_iov,
                                                 transport::SharedReceiveSink* sink);
  SrqCore(const SrqCore&) = delete;
  SrqCore& operator=(const SrqCore&) = delete;

  void Close();
  Code PostReceive(const transport::ReceiveRequest& request);
  Status Resize(uint32_t capacity);
  Status SetLimit(uint32_t limit);
  uint32_t Available();
  // Adds the queue in which the receives of one more queue pair complete.
  void Attach(const std::shared_ptr<CqCore>& queue);
  void Detach(const CqCore* queue);

  ibv_srq* hardware() const { return srq_; }
  uint32_t capacity();
  // Completions call it.
  void Free(SharedSlot* slot);
  // The driver's leader calls it: the device has counted down to the limit.
  void OnLimit();

 private:
  SrqCore(Device& device, const void* pd, uint32_t max_iov, transport::SharedReceiveSink* sink)
      : device_(device), pd_(pd), max_iov_(max_iov), sink_(sink) {}
  void AddSlotsLocked(uint32_t n);

  Device& device_;
  const void* const pd_;
  const uint32_t max_iov_;
  transport::SharedReceiveSink* const sink_;
  UpcallGate gate_;
  ibv_srq* srq_ = nullptr;

  SpinLock lock_;                              // protects the members below
  std::deque<std::vector<SharedSlot>> slots_;  // in pieces, so that slots do not move
  std::deque<std::vector<ibv_sge>> sge_;
  SharedSlot* free_ = nullptr;
  uint32_t capacity_ = 0;
  uint32_t used_ = 0;
  uint32_t limit_ = 0;                           // the armed limit; 0: none
  std::vector<std::shared_ptr<CqCore>> queues_;  // one for each attached queue pair
};

class SharedReceiveQueue : public transport::SharedReceiveQueue {
 public:
  explicit SharedReceiveQueue(std::shared_ptr<SrqCore> core) : core_(std::move(core)) {}
  ~SharedReceiveQueue() override { core_->Close(); }
  Code PostReceive(const transport::ReceiveRequest& request) override {
    return core_->PostReceive(request);
  }
  Status Resize(uint32_t capacity) override { return core_->Resize(capacity); }
  Status SetLimit(uint32_t limit) override { return core_->SetLimit(limit); }
  uint32_t Available() const override { return core_->Available(); }

  const std::shared_ptr<SrqCore>& core() const { return core_; }

 private:
  const std::shared_ptr<SrqCore> core_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_SHARED_RECEIVE_QUEUE_H_
