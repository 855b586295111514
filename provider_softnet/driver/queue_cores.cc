// SPDX-License-Identifier: BSD-3-Clause
// Upcalls of completion and shared receive queues.
#include "provider_softnet/driver/queue_cores.h"

#include <utility>

#include "provider_softnet/driver/driver.h"
#include "provider_softnet/iwarp/stream.h"

namespace softdat::softnet {

void PendingUpcalls::Owe(const RefPtr<CompletionCore>& core) {
  if (!core) return;
  for (int i = 0; i < count_; ++i) {
    if (cores_[i] == core.get()) return;
  }
  core->Ref();
  core->gate.Enter();
  cores_[count_++] = core.get();
}

void PendingUpcalls::OweLimit(const RefPtr<SharedReceiveCore>& core) {
  if (!core || limit_ != nullptr || core->sink == nullptr) return;
  core->Ref();
  core->gate.Enter();
  limit_ = core.get();
}

void PendingUpcalls::MakeOwed() {
  for (int i = 0; i < count_; ++i) {
    CompletionCore* core = cores_[i];
    {
      const UpcallGate::Running running(&core->gate);
      core->ring.Notify();
    }
    core->gate.Leave();
    core->Unref();
  }
  count_ = 0;
  if (SharedReceiveCore* core = std::exchange(limit_, nullptr); core != nullptr) {
    {
      const UpcallGate::Running running(&core->gate);
      core->sink->OnLimit();
    }
    core->gate.Leave();
    core->Unref();
  }
}

Code SoftnetSharedReceiveQueue::PostReceive(const transport::ReceiveRequest& request) {
  const Code check =
      CheckLocalSegments(*memory_, core_->queue.pd(), 0, Access::kLocalWrite, request.local);
  if (check != Code::kOk) return check;
  const Code code = core_->queue.Post(request);
  if (code == Code::kOk && !core_->starving.empty()) {
    core_->starving.TakeAll([this](Channel* channel) { driver_->RequestAttention(channel); });
  }
  return code;
}

Status SoftnetSharedReceiveQueue::SetLimit(uint32_t limit) {
  if (core_->queue.SetLimit(limit) && core_->sink != nullptr) {
    PendingUpcalls upcalls;
    upcalls.OweLimit(core_);
  }
  return Status::Ok();
}

}  // namespace softdat::softnet
