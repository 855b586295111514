// SPDX-License-Identifier: BSD-3-Clause
// UpcallGate counts the upcalls under way, and knows which of them are the calling thread's own.
#include "dat/backend_kit/upcall_gate.h"

#include "dat/base/thread_local.h"

namespace softdat {
namespace {

// The innermost upcall this thread is in.
constinit thread_local UpcallGate::Pass* innermost SOFTDAT_EARLY_TLS = nullptr;

}  // namespace

UpcallGate::Pass::Pass(UpcallGate& gate) : gate_(gate), open_(false), outer_(innermost) {
  const std::lock_guard<std::mutex> lock(gate_.mutex_);
  if (gate_.closed_) return;
  open_ = true;
  ++gate_.running_;
  innermost = this;
}

UpcallGate::Pass::~Pass() {
  if (!open_) return;
  innermost = outer_;
  const std::lock_guard<std::mutex> lock(gate_.mutex_);
  --gate_.running_;
  gate_.left_.notify_all();
}

void UpcallGate::Close() {
  unsigned own = 0;
  for (const Pass* pass = innermost; pass != nullptr; pass = pass->outer_) {
    if (&pass->gate_ == this) ++own;
  }
  std::unique_lock<std::mutex> lock(mutex_);
  closed_ = true;
  left_.wait(lock, [&] { return running_ <= own; });
}

}  // namespace softdat
