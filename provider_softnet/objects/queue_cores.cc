// SPDX-License-Identifier: BSD-3-Clause
// Upcalls of completion and shared receive queues.
#include "provider_softnet/objects/queue_cores.h"

#include <utility>

#include "provider_softnet/driver/driver.h"
#include "provider_softnet/memory/local_segments.h"

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

namespace {

// Takes over the references that Owe() took, and releases them at the end. A destructor does that,
// because an agent's thread may be cancelled in a wait below its upcall.
template <typename Core>
class Owed {
 public:
  explicit Owed(Core* core) : core_(core) {}
  ~Owed() {
    core_->gate.Leave();
    core_->Unref();
  }
  Owed(const Owed&) = delete;
  Owed& operator=(const Owed&) = delete;

 private:
  Core* const core_;
};

}  // namespace

// A scope in which the calling thread makes upcalls. The scopes of a thread nest, because an upcall
// may make progress itself. No upcall runs between Owe() and Make(), so while one runs, everything
// that the thread owes is in one of its scopes. Only the thread itself sees them.
class PendingUpcalls::Making final : private UpcallGate::Owing {
 public:
  explicit Making(PendingUpcalls* upcalls) : upcalls_(upcalls) {}

  template <typename Function>
  static void ForEach(Function&& function) {
    for (Owing* o = innermost(); o != nullptr; o = static_cast<Making*>(o)->outer())
      function(static_cast<Making*>(o)->upcalls_);
  }

 private:
  void StepAside() override {
    upcalls_->ForEachOwed([](auto** core) { (*core)->gate.StepAside(); });
  }
  void StepBack() override {
    upcalls_->ForEachOwed([](auto** core) {
      if (!(*core)->gate.StepBack()) const Owed owed(std::exchange(*core, nullptr));
    });
  }

  PendingUpcalls* const upcalls_;
};

void PendingUpcalls::MakeOwed() {
  const Making making(this);
  for (int i = 0; i < count_; ++i) {
    CompletionCore* core = std::exchange(cores_[i], nullptr);
    if (core == nullptr) continue;
    const Owed owed(core);
    const UpcallGate::Running running(&core->gate);
    core->ring.Notify();
  }
  count_ = 0;
  if (SharedReceiveCore* core = std::exchange(limit_, nullptr); core != nullptr) {
    const Owed owed(core);
    const UpcallGate::Running running(&core->gate);
    core->sink->OnLimit();
  }
}

void PendingUpcalls::Forgive(const CompletionCore* core) {
  Making::ForEach([core](PendingUpcalls* upcalls) {
    for (int i = 0; i < upcalls->count_; ++i) {
      if (upcalls->cores_[i] == core) const Owed owed(std::exchange(upcalls->cores_[i], nullptr));
    }
  });
}

void PendingUpcalls::Forgive(const SharedReceiveCore* core) {
  Making::ForEach([core](PendingUpcalls* upcalls) {
    if (upcalls->limit_ == core) const Owed owed(std::exchange(upcalls->limit_, nullptr));
  });
}

SoftnetCompletionQueue::~SoftnetCompletionQueue() {
  PendingUpcalls::Forgive(core_.get());
  core_->gate.Close();
  core_->hot->Close();
}

SoftnetSharedReceiveQueue::~SoftnetSharedReceiveQueue() {
  PendingUpcalls::Forgive(core_.get());
  core_->gate.Close();
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
