// SPDX-License-Identifier: BSD-3-Clause
// Completion queues and shared receive queues as queue pairs hold them. They are reference-counted,
// because an upcall may outlive the engine's object by the few instructions that it takes to
// return.
#ifndef SOFTDAT_PROVIDER_SOFTNET_OBJECTS_QUEUE_CORES_H_
#define SOFTDAT_PROVIDER_SOFTNET_OBJECTS_QUEUE_CORES_H_

#include <memory>

#include "dat/transport/transport.h"
#include "provider_softnet/driver/caller_activity.h"
#include "provider_softnet/driver/channel.h"
#include "provider_softnet/driver/hot_set.h"
#include "provider_softnet/driver/upcall_gate.h"
#include "provider_softnet/queue/completion_ring.h"
#include "provider_softnet/queue/work_queue.h"

namespace softdat::softnet {

class Driver;

// A completion ring with its gate.
class CompletionCore {
 public:
  CompletionCore(uint32_t capacity, transport::CompletionSink* sink) : ring(capacity, sink) {}

  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  CompletionRing ring;
  UpcallGate gate;
  // The streams that threads try first that poll this queue.
  const RefPtr<HotSet> hot = RefPtr<HotSet>::Adopt(new HotSet(HotSet::Tells::kNo));

 private:
  ~CompletionCore() = default;
  std::atomic<uint32_t> references_{1};
};

inline HotSet* HotSetOf(const RefPtr<CompletionCore>& core) {
  return core ? core->hot.get() : nullptr;
}

// The engine's handle to the queue.
class SoftnetCompletionQueue final : public transport::CompletionQueue {
 public:
  // `callers` outlives it. A program that has many completions to take calls the driver only when
  // there is none left, and until then the helper thread would be in its way.
  SoftnetCompletionQueue(uint32_t capacity, transport::CompletionSink* sink,
                         CallerActivity* callers)
      : core_(RefPtr<CompletionCore>::Adopt(new CompletionCore(capacity, sink))),
        callers_(callers) {}
  ~SoftnetCompletionQueue() override;

  [[gnu::hot]] size_t Poll(std::span<transport::Completion> out) override {
    const size_t count = core_->ring.Poll(out);
    taken_ += count;
    if (taken_ >= kTakenForACall) [[unlikely]] {
      taken_ = 0;
      callers_->Note();
    }
    return count;
  }
  bool Arm(bool solicited_only) override { return core_->ring.Arm(solicited_only); }
  Status Resize(uint32_t capacity) override { return core_->ring.Resize(capacity); }

  const RefPtr<CompletionCore>& core() const { return core_; }

  // So many completions count as a call. To look at the clock for each would take too long.
  static constexpr size_t kTakenForACall = 16;

 private:
  const RefPtr<CompletionCore> core_;
  CallerActivity* const callers_;
  size_t taken_ = 0;  // since the last time they counted; the engine calls one function at a time
};

// A shared receive queue, with the queue pairs that wait for a buffer.
class SharedReceiveCore {
 public:
  SharedReceiveCore(uint32_t capacity, uint32_t max_iov, uint32_t pd,
                    transport::SharedReceiveSink* s)
      : queue(capacity, max_iov, pd), sink(s) {}

  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  SharedReceiveQueue queue;
  transport::SharedReceiveSink* const sink;  // may be null
  UpcallGate gate;
  ChannelStack starving{2};  // stalled queue pairs; emptied when a receive is posted

 private:
  ~SharedReceiveCore() = default;
  std::atomic<uint32_t> references_{1};
};

class SoftnetSharedReceiveQueue final : public transport::SharedReceiveQueue {
 public:
  // `driver` outlives it.
  SoftnetSharedReceiveQueue(Driver* driver, const class MemoryTable* memory, uint32_t capacity,
                            uint32_t max_iov, uint32_t pd, transport::SharedReceiveSink* sink)
      : driver_(driver),
        memory_(memory),
        core_(
            RefPtr<SharedReceiveCore>::Adopt(new SharedReceiveCore(capacity, max_iov, pd, sink))) {}
  ~SoftnetSharedReceiveQueue() override;

  Code PostReceive(const transport::ReceiveRequest& request) override;
  Status Resize(uint32_t capacity) override { return core_->queue.Resize(capacity); }
  Status SetLimit(uint32_t limit) override;
  uint32_t Available() const override { return core_->queue.Available(); }

  const RefPtr<SharedReceiveCore>& core() const { return core_; }

 private:
  Driver* const driver_;
  const MemoryTable* const memory_;
  const RefPtr<SharedReceiveCore> core_;
};

// The completion upcalls that an operation owes. They are collected under the queue pair's lock and
// made without it. An upcall may free another queue to which this thread still owes an upcall. The
// debt is then forgiven, because closing that queue's gate would otherwise wait for its own thread.
class PendingUpcalls {
 public:
  PendingUpcalls() = default;
  ~PendingUpcalls() { Make(); }
  PendingUpcalls(const PendingUpcalls&) = delete;
  PendingUpcalls& operator=(const PendingUpcalls&) = delete;

  // With the lock held.
  void Owe(const RefPtr<CompletionCore>& core);
  void OweLimit(const RefPtr<SharedReceiveCore>& core);
  // Without the lock.
  void Make() {
    if (count_ > 0 || limit_ != nullptr) MakeOwed();
  }

  // Called before the gate of a queue is closed. The calling thread drops the upcalls that it owes
  // the queue and has not begun. The gate takes care of one that is running.
  static void Forgive(const CompletionCore* core);
  static void Forgive(const SharedReceiveCore* core);

 private:
  class Making;

  void MakeOwed();
  // Calls `function` for each upcall that is owed and not begun.
  template <typename Function>
  void ForEachOwed(Function&& function) {
    for (int i = 0; i < count_; ++i)
      if (cores_[i] != nullptr) function(&cores_[i]);
    if (limit_ != nullptr) function(&limit_);
  }

  static constexpr int kMost = 2;  // the send and the receive queue
  // The upcalls that are still owed. Each core has been entered and referenced. It becomes null
  // once the upcall is made or forgiven.
  CompletionCore* cores_[kMost];
  int count_ = 0;
  SharedReceiveCore* limit_ = nullptr;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_OBJECTS_QUEUE_CORES_H_
