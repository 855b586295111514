// SPDX-License-Identifier: BSD-3-Clause
// The send queue of a queue pair. It needs no allocation, and one verbs call per post. Its places
// become free when the given completion queue finds that they have completed.
#ifndef SOFTDAT_PROVIDER_VERBS_SEND_QUEUE_H_
#define SOFTDAT_PROVIDER_VERBS_SEND_QUEUE_H_

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "dat/backend_kit/spin_lock.h"
#include "dat/transport/transport.h"
#include "provider_verbs/completion_queue.h"
#include "provider_verbs/device.h"
#include "provider_verbs/pair_state.h"
#include "provider_verbs/region_table.h"
#include "provider_verbs/signalling.h"
#include "provider_verbs/work_slots.h"

namespace softdat::verbs {

class SendQueue {
 public:
  SendQueue(Device& device, PairSink* pair) : device_(device) { progress_.pair = pair; }
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;

  // To be called while nothing is posted.
  void Adopt(const transport::QueuePairAttributes& a, CqCore* cq);
  // The completion queue is being removed.
  void Detach();
  // The hardware that gets the posts. Null when there is none.
  void SetHardware(ibv_qp* qp);
  void SetFate(PostFate fate);

  Code Post(const transport::SendRequest& request);
  uint32_t Outstanding();
  // The segments of one request.
  uint32_t max_iov() const { return max_iov_; }

  // Any thread, without a lock.
  uint32_t InFlight() const {
    return posted_.load(std::memory_order_relaxed) -
           progress_.retired.load(std::memory_order_acquire);
  }
  // If the success of the last posts is not reported, posts a request without effect. Its
  // completion tells that all posts before it are complete.
  void PostMarker(CqCore::Due* due);
  // The connection is over and the hardware is gone. Completes what is left, and completes later
  // posts at once.
  void Flush(CqCore::Due* due);

  SendProgress& progress() { return progress_; }

 private:
  // send_queue_post.cc; lock_ must be held.
  bool PostPlain(const transport::SendRequest& request);
  Code PostAny(const transport::SendRequest& request);  // releases lock_
  Code PostLate(const transport::SendRequest& request);
  Code PostToHardware(const transport::SendRequest& request, CqCore::Due* due);
  SendSlot* NextSlot(CqCore::Due* due);
  Code FillLocal(const transport::SendRequest& request, SendSlot* slot, bool* zero_based);
  Code PostData(const transport::SendRequest& request, SendSlot* slot, CqCore::Due* due);
  Code PostBind(const transport::SendRequest& request, SendSlot* slot, CqCore::Due* due);
  Code PostReadToWindow(const transport::SendRequest& request, SendSlot* slot, CqCore::Due* due);
  bool WantsSignal(const SendSlot& slot);
  // Keeps the way of the datagram that was posted last. Returns the one that its slot had before,
  // to be let go without the lock.
  std::shared_ptr<ibv_ah> KeepWay(const transport::SendRequest& request);
  // send_queue.cc; lock_ must be held.
  Code PostChain(SendSlot* slot, ibv_send_wr* first, CqCore::Due* due);
  Code BindType1(const transport::SendRequest& request, const ibv_send_wr& wr, SendSlot* slot,
                 CqCore::Due* due);
  void NotePostFailure(CqCore::Due* due);
  void PostMarkerLocked(CqCore::Due* due);

  Device& device_;
  SendProgress progress_;

  // Protects the members below.
  SpinLock lock_;
  PostFate fate_ = PostFate::kRefused;
  ibv_qp* qp_ = nullptr;
  CqCore* cq_ = nullptr;
  std::vector<ibv_sge> sge_;
  std::atomic<uint32_t> posted_{0};  // the next sequence number; read without the lock
  RegionCache regions_;
  uint32_t max_ = 0;
  uint32_t max_iov_ = 0;
  uint32_t plain_limit_ = 0;  // the longest request for PostPlain, in bytes
  uint64_t longest_ = 0;      // request, in bytes
  bool datagrams_ = false;    // whether it takes datagrams, and nothing else
  // The ways of datagrams, by slot. The device may look at a way until its datagram has left, but
  // the engine may destroy its handle before.
  std::vector<std::shared_ptr<ibv_ah>> ways_;
  Signalling signalling_;
  std::vector<transport::Completion> late_;  // posted while the connection ends
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_SEND_QUEUE_H_
