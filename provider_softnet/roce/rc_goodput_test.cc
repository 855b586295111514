// SPDX-License-Identifier: BSD-3-Clause
// What losses leave of the rate of a link. Everything is drawn from a seed, so that the figures are
// the same in each run.
#include <string>

#include "provider_softnet/roce/rc_test.h"

namespace softdat::softnet::testing {
namespace {

enum class Kind { kSends, kWrites, kReads };

struct Traffic {
  Kind kind;
  uint32_t length;
  uint64_t many, outstanding;
};

struct RcGoodputTest : RcTest, ::testing::WithParamInterface<Traffic> {
  // A link that takes a packet each microsecond, and a round trip of some tens.
  static RcPairOptions Link(uint64_t seed, uint64_t lose_one_in) {
    RcPairOptions o;
    o.seed = seed;
    o.packet_us = 1;
    o.max_delay_us = 15;
    o.lose_one_in = lose_one_in;
    o.depth = 64;
    o.queue = 128;
    return o;
  }
  void Post(uint64_t cookie) {
    const Traffic& t = GetParam();
    const uint64_t offset = cookie % 4 * t.length;
    if (t.kind == Kind::kWrites) return Write(cookie, t.length, offset);
    if (t.kind == Kind::kReads) return Read(cookie, t.length, offset);
    Receive(cookie, t.length);
    Send(cookie, t.length);
  }
  // How long the traffic takes.
  uint64_t TimeUs(const RcPairOptions& options) {
    const Traffic& t = GetParam();
    Make(options);
    pair->keep_log = false;
    uint64_t posted = 0, done = 0;
    while (done < t.many) {
      while (posted < t.many && posted - done < t.outstanding) Post(posted++);
      if (!pair->StepAll() && !pair->AdvanceClock()) break;
      done += a().Sends().size();
      b().Receives();
    }
    EXPECT_EQ(done, t.many);
    EXPECT_FALSE(a().ended() || b().ended());
    return pair->now_us();
  }
  // In packets for each microsecond.
  double Rate(uint64_t time_us) {
    const Traffic& t = GetParam();
    return static_cast<double>(t.many * (t.length / 1024)) / static_cast<double>(time_us);
  }
};

TEST_P(RcGoodputTest, OnePercentLost) {
  const double whole = Rate(TimeUs(Link(1, 0)));
  EXPECT_GT(whole, 0.9) << "the link is not busy, and a loss of rate would not show";
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const double lossy = Rate(TimeUs(Link(seed, 100)));
    RecordProperty("share_" + std::to_string(seed), std::to_string(lossy / whole));
    EXPECT_GE(lossy, 0.7 * whole) << "seed " << seed << ", probes " << counters(0).probes
                                  << ", time-outs " << counters(0).timeouts << ", resent "
                                  << counters(0).requests_resent;
  }
}

std::string NameOf(const ::testing::TestParamInfo<Traffic>& traffic) {
  constexpr const char* kNames[] = {"Sends", "Writes", "Reads"};
  return kNames[static_cast<int>(traffic.param.kind)] + std::to_string(traffic.param.length);
}

INSTANTIATE_TEST_SUITE_P(Traffic, RcGoodputTest,
                         ::testing::Values(Traffic{Kind::kSends, 4096, 4000, 64},
                                           Traffic{Kind::kSends, 65536, 250, 16},
                                           Traffic{Kind::kWrites, 4096, 4000, 64},
                                           Traffic{Kind::kWrites, 65536, 250, 16},
                                           Traffic{Kind::kReads, 4096, 4000, 64},
                                           Traffic{Kind::kReads, 65536, 250, 16}),
                         NameOf);

}  // namespace
}  // namespace softdat::softnet::testing
