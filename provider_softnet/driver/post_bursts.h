// SPDX-License-Identifier: BSD-3-Clause
// When the posts of a queue pair reach the socket. One system call for each post would cost most of
// what a small message costs, so posts that come in bursts are written together:
//
//  * A post writes at once when no other is expected behind it, or when it is so large that its
//    call costs little beside it (driver/gathering.h).
//  * A post behind earlier ones gathers, if nobody has polled or waited since. The next thread that
//    polls or waits writes it, at the latest the helper thread, which is woken for that.
//  * Some programs post two requests and wait, again and again (a write and the message that
//    announces it). The last bursts show this. The first of the two then gathers without waking
//    anybody, and the second writes both. Bursts that begin with a message are remembered apart
//    from others, because a message layer asks and answers with single messages in between. If the
//    second does not come, the next poll or wait writes the first, at the latest the helper's tick.
//  * A stream gathers from its first post on, if earlier work is still under way, or if the two
//    bursts before were long as well: what its first post brought alone would cost both ends a
//    system call more. After a single long burst, one post may be all that comes (a flag behind
//    what has completed), and leaves at once. It is a stream until several bursts in a row were
//    short. If one short burst of it left alone, its answer would come alone, and so would the post
//    that takes its place, again and again.
//
// A burst ends when somebody makes progress, which starts a new epoch (Driver::EpochFor()).
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_POST_BURSTS_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_POST_BURSTS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace softdat::softnet {

class PostBursts {
 public:
  enum class Plan : uint8_t {
    kWrite,          // writes this post and what has gathered
    kGather,         // somebody must make sure that it leaves
    kGatherQuietly,  // the next post is expected to write it
  };

  enum class Kind : uint8_t { kMessage, kOther };

  // To be called for each post. `under_way`: earlier work of the queue pair has not completed.
  Plan OnPost(uint32_t epoch, bool under_way, Kind kind) {
    if (epoch != epoch_) Begin(epoch, kind);
    ++length_;
    if (peak_ >= kStream && (under_way || long_ones_ == kSteady)) return Plan::kGather;
    if (length_ < expected_) return Plan::kGatherQuietly;
    if (length_ == expected_) return Plan::kWrite;
    return length_ > 1 ? Plan::kGather : Plan::kWrite;
  }

  // Whether the post behind this one is expected to be the last of its burst.
  bool NextIsLast() const { return length_ + 1 == expected_; }

  // To be called for a new connection.
  void Reset() { *this = PostBursts(); }

 private:
  // A longer burst is a stream, whose length varies.
  static constexpr uint32_t kLongestExpected = 4;
  static constexpr uint32_t kStream = 8;
  // So many long bursts in a row, and the next will be long.
  static constexpr uint32_t kSteady = 2;

  // A habit is forgotten after so many bursts of the other kind.
  static constexpr uint32_t kForgotten = 16;

  // The posts of the last two bursts of a kind.
  struct Habit {
    uint32_t last = 0;
    uint32_t before = 0;
    uint32_t others = 0;  // bursts of the other kind since

    uint32_t Expected() const { return last == before && last <= kLongestExpected ? last : 0; }
  };

  // A post of this kind ends the burst under way and begins the next.
  void Begin(uint32_t epoch, Kind kind) {
    Habit& ended = habits_[Index(kind_)];
    ended = {.last = length_, .before = ended.last};
    Habit& other = habits_[1 - Index(kind_)];
    if (++other.others >= kForgotten) other = {};
    long_ones_ = length_ >= kStream ? std::min(long_ones_ + 1, kSteady) : 0;
    peak_ = std::max(length_, peak_ - (peak_ + 3) / 4);
    epoch_ = epoch;
    kind_ = kind;
    length_ = 0;
    expected_ = habits_[Index(kind)].Expected();
  }
  static size_t Index(Kind kind) { return static_cast<size_t>(kind); }

  uint32_t epoch_ = 0;          // of the burst under way; the first is 1
  Kind kind_ = Kind::kMessage;  // of its first post
  uint32_t length_ = 0;         // its posts so far
  uint32_t expected_ = 0;       // posts, if the last two bursts of its kind were alike
  uint32_t peak_ = 0;           // posts of the longest burst, less a quarter for each burst since
  uint32_t long_ones_ = 0;      // long bursts in a row before this one, up to kSteady
  std::array<Habit, 2> habits_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_POST_BURSTS_H_
