// SPDX-License-Identifier: BSD-3-Clause
// CqCore: polling, arming, events, size. The conversion of completions is in completion_convert.cc.
#include "provider_verbs/completion_queue.h"

#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "dat/base/log.h"
#include "provider_verbs/os_error.h"
#include "provider_verbs/pair_sink.h"
#include "provider_verbs/work_slots.h"

namespace softdat::verbs {

using transport::Completion;
using transport::WorkStatus;

namespace {

// Small queues are made a little larger, because resizing costs a system call and siw cannot do it
// at all.
constexpr uint32_t kLeastDepth = 128;

}  // namespace

Result<std::shared_ptr<CqCore>> CqCore::Create(Device& device, uint32_t capacity,
                                               transport::CompletionSink* sink) {
  if (capacity > device.traits.max_cqe) {
    return Status(Code::kNoResources,
                  fmt::format("a completion queue of {} entries: {} has at most {}", capacity,
                              device.traits.rdma_device, device.traits.max_cqe));
  }
  std::shared_ptr<CqCore> core(new CqCore(device, capacity, sink));
  const uint32_t depth = std::min(std::max(capacity, kLeastDepth), device.traits.max_cqe);
  errno = 0;
  core->cq_ = ibv_create_cq(device.context, static_cast<int>(depth), core.get(), device.channel, 0);
  if (core->cq_ == nullptr) {
    return ExhaustionStatus(errno, fmt::format("ibv_create_cq with {} entries", depth));
  }
  core->depth_ = static_cast<uint32_t>(core->cq_->cqe);
  device.AddQueue(core->cq_, core);
  core->ArmBase();
  return core;
}

void CqCore::Close() {
  if (device_.abandoned) return;
  gate_.Close();
  const unsigned unacknowledged = device_.RemoveQueue(cq_);
  if (unacknowledged > 0) ibv_ack_cq_events(cq_, unacknowledged);
  const std::lock_guard<SpinLock> lock(lock_);
  dead_ = true;
  if (held_ == 0) DestroyHardware();
}

void CqCore::DestroyHardware() {
  const int error = ibv_destroy_cq(cq_);
  if (error != 0) SOFTDAT_LOG(Warning, "ibv_destroy_cq: {}", OsText(error));
}

void CqCore::HoldForReaper() {
  const std::lock_guard<SpinLock> lock(lock_);
  ++held_;
}

void CqCore::ReleaseByReaper() {
  const std::lock_guard<SpinLock> lock(lock_);
  if (--held_ == 0 && dead_) DestroyHardware();
}

CqCore::~CqCore() = default;

// Handles the most frequent completion: the success of a request of PostPlain, in its turn. Returns
// false and does nothing for all others.
inline bool CqCore::ConvertPlain(const ibv_wc& wc, Completion* out) {
  static_assert(static_cast<uint64_t>(SlotTag::kSend) == 0);
  if ((wc.wr_id & kTagMask) != 0 || wc.status != IBV_WC_SUCCESS) return false;
  const SendSlot& slot = *SlotOf<SendSlot>(wc.wr_id);
  SendProgress& queue = *slot.queue;
  if (!slot.plain || slot.sequence != queue.retired.load(std::memory_order_relaxed) ||
      queue.early != 0 || queue.dropping.load(std::memory_order_relaxed)) {
    return false;
  }
  *out = slot.done;
  // From here on the slot may be used again.
  queue.retired.store(slot.sequence + 1, std::memory_order_release);
  return true;
}

size_t CqCore::Poll(std::span<Completion> out) {
  lock_.lock();
  if (out.size() != 1 || !ring_.empty() || dead_) [[unlikely]]
    return PollAny(out, nullptr);
  ibv_wc wc;
  const int got = ibv_poll_cq(cq_, 1, &wc);
  if (got > 0 && !ConvertPlain(wc, &out[0])) return PollAny(out, &wc);
  lock_.unlock();
  return got > 0 ? 1 : 0;
}

// `first`: a completion that was already taken from the device, or null.
size_t CqCore::PollAny(std::span<Completion> out, const ibv_wc* first) {
  Due due;
  size_t n = 0;
  {
    const std::lock_guard<SpinLock> lock(lock_, std::adopt_lock);
    if (first != nullptr && Convert(*first, &out[0], &due)) ++n;
    if (!ring_.empty()) {
      n += ring_.Pop(out.subspan(n));
      overflowing_ = false;
    }
    while (n < out.size() && !dead_) {
      ibv_wc wc[kBatch];
      const int want = static_cast<int>(std::min<size_t>(out.size() - n, batch_));
      const int got = ibv_poll_cq(cq_, want, wc);
      for (int i = 0; i < got; ++i) {
        if (Convert(wc[i], &out[n], &due)) ++n;
      }
      if (got < want) break;
      // The conversion may have freed completions that waited for their turn.
      if (!ring_.empty()) [[unlikely]]
        n += ring_.Pop(out.subspan(n));
    }
  }
  if (due.any()) [[unlikely]]
    CarryLater(due);
  return n;
}

void CqCore::NotifyLocked(Level level) {
  if (notified_ >= level || dead_) return;
  const int error = ibv_req_notify_cq(cq_, level == Level::kSolicited ? 1 : 0);
  if (error != 0) {
    SOFTDAT_LOG(Error, "ibv_req_notify_cq: {}", OsText(error));
    return;
  }
  notified_ = level;
}

bool CqCore::Arm(bool solicited_only) {
  Due due;
  bool armed = false;
  {
    const std::lock_guard<SpinLock> lock(lock_);
    armed_ = Level::kNone;
    if (ring_.empty()) {
      const Level level =
          solicited_only && device_.traits.solicited_events ? Level::kSolicited : Level::kAny;
      NotifyLocked(level);
      // Completions that came before the device was armed cause no event.
      DrainLocked(&due);
      if (ring_.empty()) {
        armed_ = level;
        armed = true;
      }
    }
  }
  if (due.any()) [[unlikely]]
    CarryLater(due);
  return armed;
}

// Decides whether the consumer asked to be told about this arrival.
void CqCore::MatchLocked(const Completion& completion, Due* due) {
  if (armed_ == Level::kNone) return;
  const bool failed = completion.status != WorkStatus::kSuccess;
  if (armed_ == Level::kAny ? (!completion.quiet() || failed) : failed) {
    armed_ = Level::kNone;
    due->completion = true;
  }
}

void CqCore::PushLocked(const Completion& completion, Due* due) {
  if (sink_ == nullptr) return;
  if (ring_.size() >= capacity_ + attached_) {
    if (!overflowing_) due->overflow = true;
    overflowing_ = true;
    return;
  }
  ring_.Push(completion);
  MatchLocked(completion, due);
}

void CqCore::Push(const Completion& completion, Due* due) { Push({&completion, 1}, due); }

void CqCore::Push(std::span<const Completion> completions, Due* due) {
  const std::lock_guard<SpinLock> lock(lock_);
  DrainLocked(due);  // older completions first
  for (const Completion& completion : completions) PushLocked(completion, due);
}

void CqCore::DrainLocked(Due* due) {
  while (!dead_) {
    ibv_wc wc[kBatch];
    const int got = ibv_poll_cq(cq_, kBatch, wc);
    for (int i = 0; i < got; ++i) {
      Completion completion;
      if (Convert(wc[i], &completion, due)) PushLocked(completion, due);
    }
    if (got < kBatch) return;
  }
}

void CqCore::Drain(Due* due) {
  const std::lock_guard<SpinLock> lock(lock_);
  DrainLocked(due);
}

void CqCore::Due::AddFailed(PairSink* pair) { pair->next_failed = std::exchange(failed, pair); }

void CqCore::Carry(const Due& due) {
  for (PairSink* pair = due.failed; pair != nullptr;) {
    PairSink* const next = std::exchange(pair->next_failed, nullptr);
    pair->ReportFailure();
    pair = next;
  }
  if (sink_ == nullptr || !(due.completion || due.overflow)) return;
  const UpcallGate::Pass pass(gate_);
  if (!pass.open()) return;
  if (due.overflow) sink_->OnOverflow();
  if (due.completion) sink_->OnCompletion();
}

void CqCore::CarryLater(const Due& due) {
  Carry({.failed = due.failed});  // makes no upcall
  if (due.completion || due.overflow) {
    device_.driver.Post([core = shared_from_this(), due] {
      core->Carry({.completion = due.completion, .overflow = due.overflow});
    });
  }
}

void CqCore::OnEvent() {
  Due due;
  std::vector<std::shared_ptr<PairSink>> watchers;
  {
    const std::lock_guard<SpinLock> lock(lock_);
    const Level was = std::exchange(notified_, Level::kNone);
    DrainLocked(&due);
    // Verbs do not say which receive was solicited. The event says so, if it was asked for only
    // solicited ones. If the device was armed for all, a superfluous wake-up is better than a lost
    // one.
    if (armed_ == Level::kSolicited && was != Level::kNone) {
      armed_ = Level::kNone;
      due.completion = true;
    }
    // Only quiet or swallowed completions have come so far.
    if (armed_ != Level::kNone || !watchers_.empty()) {
      NotifyLocked(watchers_.empty() ? armed_ : Level::kAny);
      DrainLocked(&due);
    }
    for (PairSink* watcher : watchers_) watchers.push_back(watcher->shared_from_this());
  }
  device_.NoteUnarmed(shared_from_this());
  Carry(due);
  for (const auto& watcher : watchers) watcher->OnArrivals();
}

void CqCore::ArmBase() {
  Due due;
  {
    const std::lock_guard<SpinLock> lock(lock_);
    if (notified_ != Level::kNone) return;
    NotifyLocked(std::max(armed_, Level::kSolicited));
    DrainLocked(&due);
  }
  Carry(due);
}

void CqCore::OnDeviceError() {
  Due due;
  {
    const std::lock_guard<SpinLock> lock(lock_);
    due.overflow = !overflowing_;
    overflowing_ = true;
  }
  Carry(due);
}

Status CqCore::Resize(uint32_t capacity) {
  if (capacity > device_.traits.max_cqe) {
    return Status(Code::kNoResources,
                  fmt::format("a completion queue of {} entries: {} has at most {}", capacity,
                              device_.traits.rdma_device, device_.traits.max_cqe));
  }
  Due due;
  Status status;
  {
    const std::lock_guard<SpinLock> lock(lock_);
    DrainLocked(&due);
    if (ring_.size() > capacity) {
      status = Status(Code::kInvalidState, fmt::format("{} completions are queued", ring_.size()));
    } else {
      capacity_ = capacity;
    }
  }
  Carry(due);
  // The device's own queue follows the attached work. The ring grows by itself.
  return status;
}

Status CqCore::Attach(uint32_t depth) {
  const std::lock_guard<SpinLock> lock(lock_);
  const uint32_t needed = attached_ + depth;
  if (needed > depth_ && resizable_) {
    const uint32_t target = std::min(std::max(needed, depth_ * 2), device_.traits.max_cqe);
    const int error = target >= needed ? ibv_resize_cq(cq_, static_cast<int>(target)) : ENOMEM;
    if (error == 0) {
      depth_ = static_cast<uint32_t>(cq_->cqe);
    } else if (error == EOPNOTSUPP || error == -EOPNOTSUPP || error == ENOSYS) {
      resizable_ = false;
      SOFTDAT_LOG(Info, "{} cannot resize completion queues: {} entries for up to {} completions",
                  device_.traits.rdma_device, depth_, needed);
    } else {
      return OsStatus(error, fmt::format("a completion queue for {} completions (has {} entries)",
                                         needed, depth_));
    }
  }
  attached_ = needed;
  return Status::Ok();
}

void CqCore::Detach(uint32_t depth) {
  const std::lock_guard<SpinLock> lock(lock_);
  attached_ -= depth;
}

void CqCore::AddWatcher(PairSink* pair) {
  const std::lock_guard<SpinLock> lock(lock_);
  if (std::find(watchers_.begin(), watchers_.end(), pair) == watchers_.end())
    watchers_.push_back(pair);
  NotifyLocked(Level::kAny);
}

void CqCore::ReleaseHeld(ReceiveProgress& receives, Due* due) {
  const std::lock_guard<SpinLock> lock(lock_);
  DrainLocked(due);
  receives.holding.store(false, std::memory_order_relaxed);
  for (const Completion& completion : receives.held) PushLocked(completion, due);
  receives.held.clear();
}

void CqCore::RemoveWatcher(PairSink* pair) {
  const std::lock_guard<SpinLock> lock(lock_);
  watchers_.erase(std::remove(watchers_.begin(), watchers_.end(), pair), watchers_.end());
}

}  // namespace softdat::verbs
