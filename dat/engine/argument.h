// SPDX-License-Identifier: BSD-3-Clause
// Checks of arguments that several calls share (semantics 3.2, 17).
#ifndef SOFTDAT_DAT_ENGINE_ARGUMENT_H_
#define SOFTDAT_DAT_ENGINE_ARGUMENT_H_

#include <algorithm>
#include <span>
#include <string>

#include "dat/engine/ep.h"
#include "dat/engine/events/evd.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"
#include "dat/engine/object/object.h"
#include "dat2/softdat.h"

namespace softdat::engine {

// An object that may be left out. NULL is valid, a junk or stale handle is not.
template <typename T>
class Optional {
 public:
  explicit Optional(const void* handle) : given_(handle != nullptr), pinned_(handle) {}
  bool ok() const { return !given_ || pinned_; }
  T* get() const { return pinned_.get(); }

 private:
  const bool given_;
  const Pinned<T> pinned_;
};

// Whether the EVD is left out or takes events of this kind.
inline bool Takes(const Optional<Evd>& evd, DAT_EVD_FLAGS stream) {
  return evd.ok() && (evd.get() == nullptr || evd.get()->Accepts(stream));
}
// The same for DTO streams. The IA's own adapter must move the completions, so the EVD has to
// belong to this IA. (EVDs for connections and requests may belong to any IA of the provider,
// semantics 4.)
inline bool TakesDtos(const Optional<Evd>& evd, const IaCore& ia) {
  return Takes(evd, DAT_EVD_DTO_FLAG) && (evd.get() == nullptr || &evd.get()->ia() == &ia);
}

// Checks size and pointer of private data. The pointer is the argument after `size_argument`.
inline DAT_RETURN CheckPrivateData(const IaCore& ia, DAT_COUNT size, const void* data,
                                   int size_argument, std::span<const uint8_t>* out) {
  const auto limit = std::min<uint32_t>(kMaxPrivateData, ia.attributes().max_private_data);
  if (size < 0 || static_cast<uint32_t>(size) > limit) {
    return BadArgument(size_argument, std::to_string(size) +
                                          " bytes of private data; this IA carries at most " +
                                          std::to_string(limit));
  }
  if (size > 0 && data == nullptr) return BadArgument(size_argument + 1);
  *out = {static_cast<const uint8_t*>(data), static_cast<size_t>(size)};
  return DAT_SUCCESS;
}

// Checks segments and flags of a post (semantics 10.1, 10.2). The count is argument 2, the array 3.
inline DAT_RETURN CheckPost(const Ep::PostLimits& limits, DAT_COUNT num_segments,
                            const void* segments, DAT_COMPLETION_FLAGS flags, int flags_argument) {
  if (static_cast<uint32_t>(num_segments) > limits.iov.load(std::memory_order_relaxed))
      [[unlikely]] {
    return BadArgument(2);
  }
  if (segments == nullptr && num_segments != 0) [[unlikely]]
    return BadArgument(3);
  if ((flags & ~limits.flags.load(std::memory_order_relaxed)) != 0) [[unlikely]] {
    return BadArgument(flags_argument);
  }
  return DAT_SUCCESS;
}

// The flags of a checked post in the back end's form, which has the same bits.
inline uint8_t RequestFlags(DAT_COMPLETION_FLAGS flags) {
  static_assert(int{transport::kSuppress} == int{DAT_COMPLETION_SUPPRESS_FLAG});
  static_assert(int{transport::kSolicited} == int{DAT_COMPLETION_SOLICITED_WAIT_FLAG});
  static_assert(int{transport::kQuiet} == int{DAT_COMPLETION_UNSIGNALLED_FLAG});
  static_assert(int{transport::kFence} == int{DAT_COMPLETION_BARRIER_FENCE_FLAG});
  static_assert(int{transport::kExtended} == int{SOFTDAT_COMPLETION_EXTENSION_FLAG});
  static_assert(int{transport::kConfirm} == int{SOFTDAT_COMPLETION_CONFIRM_FLAG});
  return static_cast<uint8_t>(flags);
}

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_ARGUMENT_H_
