// SPDX-License-Identifier: BSD-3-Clause
// An EVD in its role as the sink of one DTO stream (an EP's receives, or its requests).
#ifndef SOFTDAT_DAT_ENGINE_EVD_STREAM_H_
#define SOFTDAT_DAT_ENGINE_EVD_STREAM_H_

#include <utility>

#include "dat/engine/evd.h"
#include "dat/engine/object.h"

namespace softdat::engine {

// Keeps the EVD in use for as long as it exists, and the stream's completion flags registered with
// it.
class EvdStream {
 public:
  enum class Result { kOk, kFreed, kConflict };

  EvdStream() = default;
  EvdStream(EvdStream&& other) noexcept
      : use_(std::move(other.use_)), registered_(std::exchange(other.registered_, false)) {}
  EvdStream& operator=(EvdStream&& other) noexcept {
    std::swap(use_, other.use_);
    std::swap(registered_, other.registered_);
    return *this;
  }
  ~EvdStream() { Unregister(); }

  // Only on an empty one. kFreed: the EVD is being freed; kConflict: the flags contradict those of
  // the other streams (semantics 8.1). `evd` may be null.
  Result Attach(Evd* evd, DAT_COMPLETION_FLAGS flags) {
    if (evd == nullptr) return Result::kOk;
    use_ = Use<Evd>(evd);
    if (!use_) return Result::kFreed;
    return Register(flags) ? Result::kOk : Result::kConflict;
  }

  // The flags without the use, while a successor on the same EVD is tried.
  bool Register(DAT_COMPLETION_FLAGS flags) {
    if (use_ && !registered_) registered_ = use_->AttachStream(flags);
    return registered_ || !use_;
  }
  void Unregister() {
    if (std::exchange(registered_, false)) use_->DetachStream();
  }

  Evd* get() const { return use_.get(); }

 private:
  Use<Evd> use_;
  bool registered_ = false;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EVD_STREAM_H_
