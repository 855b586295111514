// SPDX-License-Identifier: BSD-3-Clause
// Which sends of a queue pair are written at once, and which gather to leave together
// (driver/post_bursts.h says why). Guarded by the queue pair's lock.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_GATHERING_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_GATHERING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "provider_softnet/driver/post_bursts.h"

namespace softdat::softnet {

class Gathering {
 public:
  struct Limits {
    uint32_t messages = 0;  // leave at the latest with so many,
    size_t bytes = 0;       // or so much
    bool halves = false;  // or when half of the queue has gathered, so that the peer is at work on
                          // one half while the other is posted
  };
  struct Post {
    uint32_t epoch = 0;         // Driver::epoch()
    bool helper_ticks = false;  // Driver::HelperTicks()
    uint32_t queued = 0;        // requests of the send queue that are not over, this one included
    uint32_t capacity = 0;      // of the send queue
    size_t bytes = 0;
  };
  enum class Plan : uint8_t {
    kWrite,         // nothing has gathered
    kWriteAll,      // what has gathered with it
    kKeep,          // whoever polls or waits next writes it, and knows of it already
    kKeepAndTell,   // the same, but it has to be told
    kKeepAndWatch,  // and the helper is to see to it as well
  };

  explicit Gathering(const Limits& limits) : limits_(limits) {}

  Plan OnPost(const Post& post) {
    const PostBursts::Plan plan = bursts_.OnPost(post.epoch, post.queued > 1);
    const bool quietly = plan == PostBursts::Plan::kGatherQuietly;
    if (plan == PostBursts::Plan::kWrite || (quietly && !post.helper_ticks)) return Plan::kWrite;
    ++messages_;
    bytes_ += post.bytes;
    // Before the queue is full.
    const bool much = limits_.halves ? 2 * messages_ > post.capacity
                                     : post.queued >= post.capacity - post.capacity / 4;
    if (much || messages_ >= limits_.messages || bytes_ >= limits_.bytes) return Plan::kWriteAll;
    // A program that has always written what it gathered, by polling or waiting, will do it again.
    const bool watch = !quietly && own_flushes_ < kTrusted;
    // Whoever was told finds what was added since.
    if (messages_ > 1 && (watched_ || !watch)) return Plan::kKeep;
    watched_ = watch;
    return watch ? Plan::kKeepAndWatch : Plan::kKeepAndTell;
  }
  // Everything is offered to the link.
  void OnWritten() {
    messages_ = 0;
    bytes_ = 0;
  }
  // Somebody comes to write what has gathered; `by_program`: not the helper.
  void OnFlush() { watched_ = false; }
  void NoteFlusher(bool by_program) {
    own_flushes_ = by_program ? std::min(own_flushes_ + 1, kTrusted) : 0;
  }
  bool any() const { return messages_ > 0; }
  // A new connection.
  void Reset() {
    OnWritten();
    bursts_.Reset();
  }

 private:
  // After so many gathered writes of its own, a program is not watched by the helper more closely
  // than by its tick.
  static constexpr uint32_t kTrusted = 4;

  const Limits limits_;
  PostBursts bursts_;
  bool watched_ = false;  // the helper sees to what has gathered
  uint32_t own_flushes_ =
      0;  // gathered writes in a row that the program made itself, up to kTrusted
  uint32_t messages_ = 0;
  size_t bytes_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_GATHERING_H_
