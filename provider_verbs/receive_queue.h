// SPDX-License-Identifier: BSD-3-Clause
// The receive queue of a queue pair. A posted receive waits in its slot until there is hardware
// that can take it. If the hardware is destroyed without returning it, it is completed from the
// slot.
#ifndef SOFTDAT_PROVIDER_VERBS_RECEIVE_QUEUE_H_
#define SOFTDAT_PROVIDER_VERBS_RECEIVE_QUEUE_H_

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "dat/backend_kit/spin_lock.h"
#include "dat/transport/transport.h"
#include "provider_verbs/completion_queue.h"
#include "provider_verbs/device.h"
#include "provider_verbs/pair_state.h"
#include "provider_verbs/region_table.h"
#include "provider_verbs/work_slots.h"

namespace softdat::verbs {

class ReceiveQueue {
 public:
  ReceiveQueue(Device& device, PairSink* pair) : device_(device) { progress_.pair = pair; }
  ReceiveQueue(const ReceiveQueue&) = delete;
  ReceiveQueue& operator=(const ReceiveQueue&) = delete;

  // To be called while there is no hardware. Posted receives survive in their order. If they are
  // more than `a.max_recv`, it fails and does nothing.
  Status Adopt(const transport::QueuePairAttributes& a, CqCore* cq);
  // The completion queue is being removed.
  void Detach();
  void SetFate(PostFate fate);

  Code Post(const transport::ReceiveRequest& request);
  uint32_t Outstanding();
  // The segments of one receive. More than the consumer asked for if posted receives have more.
  uint32_t max_iov() const { return max_iov_; }

  // Gives the hardware all posted receives, and every later one. Deactivate() stops this.
  Status Activate(ibv_qp* qp);
  void Deactivate();
  // Whether the hardware has something that it has not returned.
  bool HardwareOwes();
  // The connection is over and the hardware is gone. Completes what is left, and completes later
  // posts at once.
  void Flush(CqCore::Due* due);

  ReceiveProgress& progress() { return progress_; }

 private:
  // lock_ must be held.
  uint32_t InUse() const;
  Code FillSlot(const transport::ReceiveRequest& request, ReceiveSlot* slot);
  Code TakeLocked(ReceiveSlot* slot);
  Code GiveToHardware(ReceiveSlot* slot);
  transport::Completion FlushOf(uint64_t cookie, uint8_t flags) const;
  ReceiveSlot& SlotAt(uint32_t sequence) { return slots_[sequence & mask_]; }

  Device& device_;
  ReceiveProgress progress_;

  // Protects the members below.
  SpinLock lock_;
  CqCore* cq_ = nullptr;
  ibv_qp* qp_ = nullptr;  // null: there is no hardware that takes receives
  PostFate fate_ = PostFate::kTaken;
  bool shared_ = false;  // receives come from a shared queue
  const void* pd_ = nullptr;
  std::vector<ReceiveSlot> slots_;
  std::vector<ibv_sge> sge_;
  uint32_t posted_ = 0;  // the next sequence number
  uint32_t mask_ = 0;
  uint32_t max_ = 0;
  uint32_t max_iov_ = 0;
  RegionCache regions_;
  std::vector<transport::Completion> late_;  // posted while the connection ends
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_RECEIVE_QUEUE_H_
