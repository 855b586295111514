// SPDX-License-Identifier: BSD-3-Clause
// Decides which sends of a queue pair are written at once, and which gather and leave together
// (driver/post_bursts.h says why). Guarded by the queue pair's lock.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_GATHERING_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_GATHERING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "dat/transport/transport.h"
#include "provider_softnet/driver/epoch.h"
#include "provider_softnet/driver/post_bursts.h"

namespace softdat::softnet {

class Gathering {
 public:
  struct Limits {
    uint32_t messages = 0;  // gathered sends leave when they reach this many,
    size_t bytes = 0;       // or this much;
    bool halves = false;  // or when half of what the program keeps under way has gathered, if that
                          // is most of the queue: then the peer works on one half while the other
                          // is posted
    // Nor are more bytes than these held because another post is expected behind them. The system
    // call that this would save costs less than what the peer could do with them meanwhile.
    size_t hold_bytes = SIZE_MAX;
  };
  struct Post {
    Epoch epoch;                // Driver::EpochFor()
    bool helper_ticks = false;  // Driver::HelperTicks()
    transport::Op op = transport::Op::kSend;
    uint32_t queued = 0;    // unfinished requests of the send queue, including this one
    uint32_t capacity = 0;  // of the send queue
    size_t bytes = 0;
  };
  enum class Plan : uint8_t {
    kWrite,         // write this post, and what is held for it
    kWriteAll,      // write this post and all that has gathered
    kKeep,          // keep it; the next thread that polls or waits knows of it and writes it
    kKeepAndTell,   // keep it, and tell the driver, so that such a thread writes it
    kKeepAndWatch,  // keep it, tell the driver, and have the helper watch it
  };

  explicit Gathering(const Limits& limits) : limits_(limits) {}

  [[gnu::hot]] Plan OnPost(const Post& post) {
    if (post.epoch.IsBehind(epoch_)) ++epochs_;
    epoch_ = post.epoch;
    const PostBursts::Plan plan = bursts_.OnPost(epochs_, post.queued > 1, KindOf(post.op));
    const bool quietly = plan == PostBursts::Plan::kGatherQuietly;
    const bool at_once = quietly && (!post.helper_ticks || IsTooLargeToHold(post.bytes));
    if (plan == PostBursts::Plan::kWrite || at_once) return Plan::kWrite;
    ++messages_;
    bytes_ += post.bytes;
    // Sends leave before the queue is full.
    most_queued_ = std::max(most_queued_, post.queued);
    const bool much = limits_.halves ? 2 * window() > post.capacity && 2 * messages_ >= window()
                                     : post.queued >= post.capacity - post.capacity / 4;
    if (much || messages_ >= limits_.messages || bytes_ >= limits_.bytes) return Plan::kWriteAll;
    // A program that has always written its gathered sends itself, by polling or waiting, will do
    // so again.
    const bool watch = !quietly && own_flushes_ < kTrusted;
    // The driver was told already, and a flush also finds what was added since.
    if (messages_ > 1 && (watched_ || !watch)) return Plan::kKeep;
    watched_ = watch;
    return watch ? Plan::kKeepAndWatch : Plan::kKeepAndTell;
  }
  // Whether a poll should leave what has gathered to a later one: it is little, and much is under
  // way, whose answers let the program post more. `queued` as in Post. If little left alone, its
  // answer would come alone, and so would the post that takes its place, again and again.
  bool Lingers(uint32_t queued) {
    if (!limits_.halves || messages_ == 0 || messages_ > window() / kLittle) return false;
    return queued - messages_ >= window() / 4 && ++lingered_ <= kPollsToLinger;
  }
  // Everything has been offered to the link.
  void OnWritten() {
    messages_ = 0;
    bytes_ = 0;
    lingered_ = 0;
    if (++writes_ % kWritesOfAWindow != 0) return;
    most_queued_before_ = std::exchange(most_queued_, 0);
  }
  // A thread comes to write what has gathered. `by_program`: it is not the helper.
  void OnFlush() { watched_ = false; }
  void NoteFlusher(bool by_program) {
    own_flushes_ = by_program ? std::min(own_flushes_ + 1, kTrusted) : 0;
  }
  bool any() const { return messages_ > 0; }
  // To be called for a new connection.
  void Reset() {
    OnWritten();
    most_queued_ = most_queued_before_ = 0;
    bursts_.Reset();
  }

 private:
  // Whether a post of `bytes` should not be held for those behind it. A large one is held only for
  // the last of its burst, which is its notice.
  bool IsTooLargeToHold(size_t bytes) const {
    if (bytes_ + bytes > limits_.hold_bytes) return true;
    return bytes >= limits_.hold_bytes / 2 && !bursts_.NextIsLast();
  }
  static PostBursts::Kind KindOf(transport::Op op) {
    const bool message = op == transport::Op::kSend || op == transport::Op::kSendInvalidate;
    return message ? PostBursts::Kind::kMessage : PostBursts::Kind::kOther;
  }
  // What the program had under way at most.
  uint32_t window() const { return std::max(most_queued_, most_queued_before_); }

  // After this many flushes of its own, the helper watches a program only with its tick.
  static constexpr uint32_t kTrusted = 4;
  // The window of a program is what it had under way at most in the last writes: one to two times
  // as many as this.
  static constexpr uint32_t kWritesOfAWindow = 16;
  // Little is less than an eighth of the window. An answer takes some 10 us, a poll half of one.
  static constexpr uint32_t kLittle = 8;
  static constexpr uint32_t kPollsToLinger = 24;

  const Limits limits_;
  PostBursts bursts_;
  Epoch epoch_;           // of the last post
  uint32_t epochs_ = 1;   // that posts have seen
  bool watched_ = false;  // the helper watches what has gathered
  uint32_t own_flushes_ =
      0;  // gathered writes in a row that the program made itself, up to kTrusted
  uint32_t messages_ = 0;
  size_t bytes_ = 0;
  uint32_t lingered_ = 0;  // polls that left it
  uint32_t writes_ = 0;
  uint32_t most_queued_ = 0;  // of posts that gathered since `writes_` was a multiple
  uint32_t most_queued_before_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_GATHERING_H_
