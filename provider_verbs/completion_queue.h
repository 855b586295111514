// SPDX-License-Identifier: BSD-3-Clause
// Completion queues over ibv_cq.
//
// Poll converts the device's completions straight into the caller's. Anything else that must look
// at the queue (an event, a full send queue, the end of a connection) first moves the device's
// completions into a ring. Poll empties the ring before it asks the device again. So the order is
// kept and nothing is lost.
//
// The device's queue is always armed at least for failed completions. So a program that neither
// polls nor waits still learns that its connection broke.
#ifndef SOFTDAT_PROVIDER_VERBS_COMPLETION_QUEUE_H_
#define SOFTDAT_PROVIDER_VERBS_COMPLETION_QUEUE_H_

#include <infiniband/verbs.h>

#include <memory>
#include <span>
#include <vector>

#include "dat/backend_kit/spin_lock.h"
#include "dat/backend_kit/upcall_gate.h"
#include "dat/transport/transport.h"
#include "provider_verbs/completion_ring.h"
#include "provider_verbs/device.h"

namespace softdat::verbs {

class PairSink;
struct ReceiveProgress;
struct SendProgress;

class CqCore : public std::enable_shared_from_this<CqCore> {
 public:
  // `sink` null: completions are dropped (a direction without a queue of its own).
  static Result<std::shared_ptr<CqCore>> Create(Device& device, uint32_t capacity,
                                                transport::CompletionSink* sink);
  ~CqCore();
  CqCore(const CqCore&) = delete;
  CqCore& operator=(const CqCore&) = delete;

  ibv_cq* hardware() const { return cq_; }
  // Removes the queue from the device's tables and waits for upcalls. The owner's destructor calls
  // it once.
  void Close();

  size_t Poll(std::span<transport::Completion> out);
  bool Arm(bool solicited_only);
  Status Resize(uint32_t capacity);

  // What must be done when no lock is held: upcalls, and reports of queue pairs that failed.
  struct Due {
    bool completion = false;
    bool overflow = false;
    PairSink* failed = nullptr;  // linked by PairSink::next_failed
    // A failure of `pair` was noted and must be reported.
    void AddFailed(PairSink* pair);
    bool any() const { return completion || overflow || failed != nullptr; }
  };
  // Moves the device's completions into the ring.
  void Drain(Due* due);
  // Adds completions that the device does not make (flushes of requests that it never saw).
  void Push(const transport::Completion& completion, Due* due);
  void Push(std::span<const transport::Completion> completions, Due* due);
  void Carry(const Due& due);
  // Does the same for callers whose own locks an upcall may need. The driver's leader makes the
  // upcall.
  void CarryLater(const Due& due);
  // The connection has been reported, so its receives need not wait any more.
  void ReleaseHeld(ReceiveProgress& receives, Due* due);

  // Makes room for the work of one more queue pair, so that the device's queue never overflows.
  Status Attach(uint32_t depth);
  void Detach(uint32_t depth);

  // A queue pair that completes here is being destroyed in the background. The device's queue must
  // stay until that is over.
  void HoldForReaper();
  void ReleaseByReaper();

  // Watchers are queue pairs that check their progress whenever something arrives.
  void AddWatcher(PairSink* pair);
  void RemoveWatcher(PairSink* pair);

  // The driver's leader calls these.
  void OnEvent();
  void ArmBase();
  // The device reports that its queue is lost.
  void OnDeviceError();

 private:
  enum class Level : uint8_t { kNone, kSolicited, kAny };

  static constexpr int kBatch = 16;

  CqCore(Device& device, uint32_t capacity, transport::CompletionSink* sink)
      : device_(device),
        sink_(sink),
        batch_(device.traits.signal_all ? 1 : kBatch),
        capacity_(capacity),
        ring_(capacity) {}

  // lock_ is held, and PollAny releases it.
  size_t PollAny(std::span<transport::Completion> out, const ibv_wc* first);
  void DestroyHardware();
  void DrainLocked(Due* due);
  void PushLocked(const transport::Completion& completion, Due* due);
  void NotifyLocked(Level level);
  void MatchLocked(const transport::Completion& completion, Due* due);

  static bool ConvertPlain(const ibv_wc& wc, transport::Completion* out);
  bool Convert(const ibv_wc& wc, transport::Completion* out, Due* due);
  bool ConvertSend(const ibv_wc& wc, transport::Completion* out, Due* due);
  void RetireEarly(SendProgress& sends, bool success, Due* due);
  bool ConvertReceive(const ibv_wc& wc, transport::Completion* out, Due* due);
  bool ConvertShared(const ibv_wc& wc, transport::Completion* out, Due* due);
  static void FillReceived(const ibv_wc& wc, Device& device, transport::Completion* out);
  void NoteFailure(PairSink& pair, const ibv_wc& wc, Due* due);

  Device& device_;
  transport::CompletionSink* const sink_;
  // How many completions Poll converts at once. It is one if an older completion may be waiting for
  // its turn in the ring.
  const size_t batch_;
  UpcallGate gate_;
  ibv_cq* cq_ = nullptr;

  // Protects the members below, and the conversion of completions.
  SpinLock lock_;
  uint32_t capacity_;      // as the consumer asked for
  uint32_t attached_ = 0;  // work that may complete here
  uint32_t depth_ = 0;     // of the device's queue
  bool resizable_ = true;
  CompletionRing ring_;
  Level armed_ = Level::kNone;     // what the consumer armed
  Level notified_ = Level::kNone;  // what the device is armed for
  bool overflowing_ = false;       // an overflow was reported and has not ended
  bool dead_ = false;              // Close() was called
  int held_ = 0;                   // see HoldForReaper()
  std::vector<PairSink*> watchers_;
};

class CompletionQueue : public transport::CompletionQueue {
 public:
  explicit CompletionQueue(std::shared_ptr<CqCore> core) : core_(std::move(core)) {}
  ~CompletionQueue() override { core_->Close(); }
  size_t Poll(std::span<transport::Completion> out) override { return core_->Poll(out); }
  bool Arm(bool solicited_only) override { return core_->Arm(solicited_only); }
  Status Resize(uint32_t capacity) override { return core_->Resize(capacity); }

  const std::shared_ptr<CqCore>& core() const { return core_; }

 private:
  const std::shared_ptr<CqCore> core_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_COMPLETION_QUEUE_H_
