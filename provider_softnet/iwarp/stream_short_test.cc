// SPDX-License-Identifier: BSD-3-Clause
// The short way of small messages does exactly what the general way does. A script of posts is
// carried out three times. Once, messages are posted and arrive as a whole. Once they arrive in
// memory of the peer and are taken there. The third time, each post names empty segments besides,
// and each byte arrives alone, so that nothing can go the short way. What the programs see must be
// the same: completions in their order, memory, the end.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "provider_softnet/iwarp/stream_pair.h"

namespace softdat::softnet::testing {
namespace {

using transport::Completion;

enum class Way { kShort, kInPlace, kGeneral };

constexpr size_t kBuffer = 32768;
constexpr uint32_t kMostPayload = 3000;
constexpr size_t kReadOnly = 1;  // the buffer that peers may not write

struct Seen {
  std::vector<Code> codes;                            // of the posts
  std::vector<std::vector<std::string>> completions;  // after each step, of each ring
  std::vector<uint8_t> memory[2];
  transport::EndReason reason[2];
  std::string why[2];
  uint64_t posted_short = 0, taken_short = 0, taken_in_place = 0;
};

std::string TextOf(const Completion& c) {
  // The length of what has failed, and the key of what has none, are undefined.
  const bool good = c.status == transport::WorkStatus::kSuccess;
  return std::to_string(c.cookie) + " op " + std::to_string(static_cast<int>(c.op)) + " status " +
         std::to_string(static_cast<int>(c.status)) + " length " +
         (good ? std::to_string(c.length) : "-") + " key " +
         (c.op == transport::Op::kReceiveImmediate ? std::to_string(c.key) : "-") + " flags " +
         std::to_string(c.flags) + (c.solicited ? " solicited" : "");
}

// What happens in a script. Messages that find no receive go with neither confirmations nor faults:
// it depends on the time what is confirmed, and what is known of a failure, while they wait.
struct Mix {
  bool confirm = false;
  bool share_receives = false;
  bool faults = false;
  bool bursts = false;
  bool narrow = false;  // the pipe takes less than most messages
  size_t mulpdu = 1460;
  bool stalls() const { return !confirm && !faults; }
};

class Script {
 public:
  Script(Way way, const Mix& mix, uint64_t seed)
      : way_(way), mix_(mix), random_(seed), pair_(OptionsOf(way, mix, seed)) {
    for (const auto& side : pair_.sides) {
      const size_t buffer = side->AddBuffer(kBuffer);
      for (size_t i = 0; i < kBuffer; ++i) side->data(buffer)[i] = Pattern(buffer, i);
      EXPECT_EQ(side->AddBuffer(kBuffer, kPrivLocalWrite | kPrivRemoteRead), kReadOnly);
    }
  }

  Seen Play() {
    Seen seen;
    EXPECT_TRUE(pair_.Run());
    constexpr int kSteps = 120;
    for (int step = 0; step < kSteps; ++step) {
      // In a burst, no data go both ways, because it depends on the time which of them are first.
      const uint64_t posts = mix_.bursts ? 1 + Draw(6) : 1;
      Side& side = *pair_.sides[Draw(2)];
      for (uint64_t i = 0; i < posts; ++i) Post(side);
      EXPECT_TRUE(pair_.Run());
      for (const auto& end : pair_.sides) {
        for (CompletionRing* ring : {&end->send_ring, &end->receive_ring}) {
          std::vector<std::string> texts;
          for (const Completion& c : end->Reap(*ring)) texts.push_back(TextOf(c));
          seen.completions.push_back(texts);
        }
      }
    }
    seen.codes = codes_;
    for (int i = 0; i < 2; ++i) {
      Side& side = *pair_.sides[i];
      EXPECT_TRUE(side.GuardsIntact());
      seen.memory[i].assign(side.data(0), side.data(0) + kBuffer);
      seen.reason[i] = side.end().reason;
      seen.why[i] = side.end().why;
      seen.posted_short += side.stream->counters().posted_short;
      seen.taken_short += side.stream->counters().taken_short;
      seen.taken_in_place += side.stream->counters().taken_in_place;
    }
    return seen;
  }

 private:
  static PairOptions OptionsOf(Way way, const Mix& mix, uint64_t seed) {
    PairOptions o;
    o.seed = seed;
    o.whole_steps = true;
    o.confirm = mix.confirm;
    o.share_receives = mix.share_receives;
    o.mulpdu = mix.mulpdu;
    if (mix.narrow) o.pipe_capacity = 100;
    o.in_place = way == Way::kInPlace;
    o.single_bytes = way == Way::kGeneral;
    return o;
  }

  // Most messages are small. Some are about as large as something allows.
  uint32_t DrawSize() {
    constexpr uint32_t kLimits[] = {256, 512, 1460, kInlineMessage};
    if (Draw(4) != 0) return static_cast<uint32_t>(Draw(97));
    const uint64_t around = kLimits[Draw(std::size(kLimits))];
    return static_cast<uint32_t>(Draw(2) == 0 ? Draw(kMostPayload - 2) : around - 20 + Draw(40));
  }
  uint64_t Draw(uint64_t bound) { return random_() % bound; }

  std::vector<Segment> List(std::vector<Segment> segments) const {
    if (way_ == Way::kGeneral) segments.insert(segments.end(), 2, {});
    return segments;
  }

  void Post(Side& side) {
    Side& peer = &side == &pair_.a() ? pair_.b() : pair_.a();
    const uint32_t size = DrawSize();
    // What is sent or read never changes, and what is read goes where nothing else does. So the
    // order of the two directions does not matter.
    constexpr uint64_t kArea = kBuffer / 4;
    const uint64_t to = Draw(kArea - kMostPayload);
    const uint64_t back = kArea + Draw(kArea - kMostPayload);
    const uint64_t from = 2 * kArea + Draw(2 * kArea - kMostPayload);
    constexpr uint8_t kFlags[] = {
        0, 0, 0, transport::kSuppress, transport::kQuiet, transport::kSolicited, transport::kFence};
    const uint8_t flags = kFlags[Draw(std::size(kFlags))];
    const uint64_t cookie = ++cookie_;
    const uint64_t kind = Draw(mix_.faults ? 60 : 50);
    Code code = Code::kOk;
    const bool waits = !mix_.stalls() && peer.receive_queue.empty() &&
                       (peer.shared == nullptr || peer.shared->Available() == 0);
    if (kind < 20) {  // mostly more receives than messages, and mostly large enough
      const uint32_t room = Draw(40) == 0 && mix_.faults ? size / 2 : kMostPayload;
      const bool two = Draw(4) == 0;
      // The second of two lies in front of the first.
      const uint32_t last = two ? room / 3 : 0;
      std::vector<Segment> list = {side.Local(0, to + last, room - last)};
      if (two) list.push_back(side.Local(0, to, last));
      code = side.Receive(cookie, List(list));
    } else if (kind < 35) {
      if (waits) return;
      code = side.Send(cookie, size == 0 ? List({}) : List({side.Local(0, from, size)}), flags);
    } else if (kind < 38) {  // the receive says how long the write in front of it was
      if (waits) return;
      const std::vector<Segment> local = List({side.Local(0, from, size)});
      transport::SendRequest request;
      request.op = transport::Op::kRdmaWriteImmediate;
      request.flags = flags;
      request.cookie = cookie;
      request.local = local;
      request.remote = peer.Remote(0, to, size);
      request.key = static_cast<uint32_t>(cookie * 7);
      code = side.PostSend(request);
    } else if (kind < 48) {
      code = side.Write(cookie, List({side.Local(0, from, size)}), peer.Remote(0, to, size), flags);
    } else if (kind < 50) {
      if (mix_.bursts) return;
      code = side.Read(cookie, {side.Local(0, back, size)}, peer.Remote(0, from, size), flags);
    } else if (kind < 56) {  // refused by the post
      Segment wrong = side.Local(0, kBuffer - 1, size + 2);
      if (kind < 53) wrong.lmr_context ^= 1;
      code = kind < 55 ? side.Send(cookie, List({wrong}), flags)
                       : side.Write(cookie, List({side.Local(0, from, size + 1)}),
                                    peer.Remote(0, to, size), flags);
    } else if (Draw(12) == 0) {  // refused by the peer, which ends the connection
      DAT_RMR_TRIPLET wrong = peer.Remote(0, kBuffer - 1, size + 2);
      if (kind == 57) wrong = peer.Remote(kReadOnly, 0, size + 2);
      if (kind == 58) wrong.rmr_context ^= 1;
      code = side.Write(cookie, List({side.Local(0, from, size + 2)}), wrong, flags);
    }
    codes_.push_back(code);
  }

  const Way way_;
  const Mix mix_;
  std::mt19937_64 random_;
  StreamPair pair_;
  uint64_t cookie_ = 0;
  std::vector<Code> codes_;
};

class StreamShortTest : public ::testing::TestWithParam<Mix> {
 protected:
  // Plays the script in one of the short ways, and compares. Counts what went that way.
  void Compare(Way way, uint64_t seed, const Seen& general);

  uint64_t posted_ = 0, taken_ = 0, in_place_ = 0;
};

void StreamShortTest::Compare(Way way, uint64_t seed, const Seen& general) {
  const Seen quick = Script(way, GetParam(), seed).Play();
  ASSERT_EQ(quick.codes, general.codes);
  for (size_t i = 0; i < quick.completions.size(); ++i) {
    ASSERT_EQ(quick.completions[i], general.completions[i]) << "step " << i / 4;
  }
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(quick.memory[i], general.memory[i]);
    ASSERT_EQ(quick.reason[i], general.reason[i]);
    ASSERT_EQ(quick.why[i], general.why[i]);
  }
  if (way == Way::kShort) {
    posted_ += quick.posted_short;
    taken_ += quick.taken_short;
    EXPECT_EQ(quick.taken_in_place, 0u);
  } else {
    in_place_ += quick.taken_in_place;
  }
}

TEST_P(StreamShortTest, DoesWhatTheGeneralWayDoes) {
  const Mix mix = GetParam();
  for (uint64_t seed = 1; seed <= 27; ++seed) {
    const Seen general = Script(Way::kGeneral, mix, seed).Play();
    for (const Way way : {Way::kShort, Way::kInPlace}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (way == Way::kInPlace ? ", in place" : ""));
      Compare(way, seed, general);
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(general.posted_short, 0u);
    // What came behind a message that waits is there as a whole when its turn comes.
    if (!mix.stalls() && !mix.bursts) {
      EXPECT_EQ(general.taken_short, 0u);
    }
  }
  EXPECT_GT(posted_, 350u);
  EXPECT_GT(taken_, 175u);
  // Behind a message that waits they are read, so that answers can be found.
  EXPECT_GT(in_place_, mix.stalls() ? taken_ / 4 : taken_ * 9 / 10);
}

std::string NameOf(const ::testing::TestParamInfo<Mix>& info) {
  const Mix& mix = info.param;
  return std::string(mix.confirm ? "Confirmed" : "Taken") + (mix.share_receives ? "Shared" : "") +
         (mix.faults ? "Faults" : "") + (mix.bursts ? "Bursts" : "") +
         (mix.narrow ? "Narrow" : "") + (mix.mulpdu > 1460 ? "Wide" : "");
}

INSTANTIATE_TEST_SUITE_P(
    All, StreamShortTest,
    ::testing::Values(Mix{}, Mix{.bursts = true}, Mix{.share_receives = true, .bursts = true},
                      Mix{.faults = true}, Mix{.share_receives = true, .faults = true},
                      Mix{.confirm = true}, Mix{.confirm = true, .bursts = true},
                      Mix{.confirm = true, .faults = true},
                      Mix{.confirm = true, .share_receives = true},
                      Mix{.confirm = true, .narrow = true},
                      Mix{.confirm = true, .faults = true, .mulpdu = 60000},
                      Mix{.bursts = true, .mulpdu = 60000}),
    NameOf);

}  // namespace
}  // namespace softdat::softnet::testing
