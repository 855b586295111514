// SPDX-License-Identifier: BSD-3-Clause
// When the posts of a queue pair reach the socket. One system call for each post would cost most of
// what a small message costs, so posts that come in bursts are written together:
//
//  * A post writes at once when no other is expected behind it.
//  * A post behind earlier ones gathers, if nobody has polled or waited since. The next thread that
//    polls or waits writes it, at the latest the helper thread, which is woken for that.
//  * Some programs post two requests and wait, again and again (a write and the message that
//    announces it). The last bursts show this. The first of the two then gathers without waking
//    anybody, and the second writes both.
//  * A stream gathers from its first post on, if earlier work is still under way, or if the two
//    bursts before were long as well: what its first post brought alone would cost both ends a
//    system call more. After a single long burst, one post may be all that comes (a flag behind
//    what has completed), and leaves at once. It is a stream until several bursts in a row were
//    short. If one short burst of it left alone, its answer would come alone, and so would the post
//    that takes its place, again and again.
//
// A burst ends when somebody makes progress, which starts a new epoch (Driver::epoch()).
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_POST_BURSTS_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_POST_BURSTS_H_

#include <algorithm>
#include <cstdint>

namespace softdat::softnet {

class PostBursts {
 public:
  enum class Plan : uint8_t {
    kWrite,          // writes this post and what has gathered
    kGather,         // somebody must make sure that it leaves
    kGatherQuietly,  // the next post is expected to write it
  };

  // To be called for each post. `under_way`: earlier work of the queue pair has not completed.
  Plan OnPost(uint32_t epoch, bool under_way) {
    if (epoch != epoch_) {
      expected_ = length_ == before_ && length_ <= kLongestExpected ? length_ : 0;
      before_ = length_;
      long_ones_ = length_ >= kStream ? std::min(long_ones_ + 1, kSteady) : 0;
      peak_ = std::max(length_, peak_ - (peak_ + 3) / 4);
      length_ = 0;
      epoch_ = epoch;
    }
    ++length_;
    if (peak_ >= kStream && (under_way || long_ones_ == kSteady)) return Plan::kGather;
    if (length_ < expected_) return Plan::kGatherQuietly;
    if (length_ == expected_) return Plan::kWrite;
    return length_ > 1 ? Plan::kGather : Plan::kWrite;
  }

  // To be called for a new connection.
  void Reset() { *this = PostBursts(); }

 private:
  // A longer burst is a stream, whose length varies.
  static constexpr uint32_t kLongestExpected = 4;
  static constexpr uint32_t kStream = 8;
  // So many long bursts in a row, and the next will be long.
  static constexpr uint32_t kSteady = 2;

  uint32_t epoch_ = 0;      // of the burst under way; the driver begins with 1
  uint32_t length_ = 0;     // its posts so far
  uint32_t before_ = 0;     // posts of the one before
  uint32_t peak_ = 0;       // posts of the longest burst, less a quarter for each burst since
  uint32_t long_ones_ = 0;  // long bursts in a row before this one, up to kSteady
  uint32_t expected_ = 0;   // posts, if the last two bursts were alike
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_POST_BURSTS_H_
