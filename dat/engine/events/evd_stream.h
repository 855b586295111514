// SPDX-License-Identifier: BSD-3-Clause
// An EVD in its role as the sink of one DTO stream (an EP's receives, or its requests).
#ifndef SOFTDAT_DAT_ENGINE_EVENTS_EVD_STREAM_H_
#define SOFTDAT_DAT_ENGINE_EVENTS_EVD_STREAM_H_

#include <memory>
#include <utility>

#include "dat/engine/events/evd.h"
#include "dat/engine/events/receive_tally.h"
#include "dat/engine/object/object.h"

namespace softdat::engine {

// Keeps the EVD in use while it exists, and tells the EVD about the stream.
class EvdStream {
 public:
  EvdStream() = default;
  EvdStream(EvdStream&& other) noexcept
      : use_(std::move(other.use_)),
        flags_(other.flags_),
        receiver_(std::exchange(other.receiver_, DAT_HANDLE_NULL)) {}
  EvdStream& operator=(EvdStream&& other) noexcept {
    std::swap(use_, other.use_);
    std::swap(flags_, other.flags_);
    std::swap(receiver_, other.receiver_);
    return *this;
  }
  ~EvdStream() {
    if (receiver_ != DAT_HANDLE_NULL) use_->DetachReceives(receiver_);
    if (use_) use_->DetachStream(flags_);
  }

  // Only to be called on an empty object. `flags`: the EP's completion flags of this direction.
  // `evd` may be null. Returns false when the EVD is being freed.
  bool Attach(Evd* evd, DAT_COMPLETION_FLAGS flags) {
    if (evd == nullptr) return true;
    use_ = Use<Evd>(evd);
    if (!use_) return false;
    flags_ = flags;
    use_->AttachStream(flags);
    return true;
  }
  // The same for the receives of `ep`, which `tally` counts.
  bool AttachReceives(Evd* evd, DAT_COMPLETION_FLAGS flags, DAT_EP_HANDLE ep,
                      const std::shared_ptr<ReceiveTally>& tally) {
    if (!Attach(evd, flags)) return false;
    if (evd == nullptr) return true;
    use_->AttachReceives(ep, tally);
    receiver_ = ep;
    return true;
  }

  Evd* get() const { return use_.get(); }

 private:
  Use<Evd> use_;
  DAT_COMPLETION_FLAGS flags_ = DAT_COMPLETION_DEFAULT_FLAG;  // with use_
  DAT_EP_HANDLE receiver_ = DAT_HANDLE_NULL;                  // with use_, of a stream of receives
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EVENTS_EVD_STREAM_H_
