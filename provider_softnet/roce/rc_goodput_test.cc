// SPDX-License-Identifier: BSD-3-Clause
// What losses leave of the rate of a link. Everything is drawn from a seed, so that the figures are
// the same in each run.
#include <algorithm>
#include <string>

#include "provider_softnet/roce/rc_test.h"

namespace softdat::softnet::testing {
namespace {

enum class Kind { kSends, kWrites, kReads };

// A link that takes a packet each microsecond, and a round trip of some tens. Or two processes on
// one host: large packets, a window that the receive buffer of a socket bounds, and ends that take
// in and send as much as they can at each system call.
enum class Where { kLink, kHost };

struct Traffic {
  Where where;
  Kind kind;
  uint32_t length;
  uint64_t many, outstanding;
};

struct RcGoodputTest : RcTest, ::testing::WithParamInterface<Traffic> {
  static RcPairOptions Options(uint64_t seed, uint64_t lose_one_in) {
    RcPairOptions o;
    o.seed = seed;
    o.packet_us = 1;
    o.max_delay_us = 15;
    o.lose_one_in = lose_one_in;
    o.depth = 64;
    o.queue = 128;
    if (GetParam().where == Where::kHost) {
      o.mtu = 4096;
      o.most_window = 64;
      o.max_delay_us = 0;
      o.turn_us = 25;
    }
    return o;
  }
  void Post(uint64_t cookie) {
    const Traffic& t = GetParam();
    const uint64_t offset = cookie % 4 * std::min(t.length, (kBytes - t.length) / 4);
    if (t.kind == Kind::kWrites) return Write(cookie, t.length, offset);
    if (t.kind == Kind::kReads) return Read(cookie, t.length, offset);
    Receive(cookie, t.length);
    Send(cookie, t.length);
  }
  // Each side takes in what has come, and sends what it may. Whether anything moved.
  bool Turn() {
    if (GetParam().where == Where::kLink) return pair->StepAll();
    bool moved = false;
    for (int i = 0; i < 2; ++i) {
      while (pair->Receive(i)) moved = true;
      pair->sides[i]->connection->PayOwed();
      while (pair->Transmit(i)) moved = true;
    }
    return moved;
  }
  // How long the traffic takes.
  uint64_t TimeUs(const RcPairOptions& options) {
    const Traffic& t = GetParam();
    Make(options);
    pair->keep_log = false;
    uint64_t posted = 0, done = 0;
    while (done < t.many) {
      while (posted < t.many && posted - done < t.outstanding) Post(posted++);
      if (!Turn() && !pair->AdvanceClock()) break;
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
    const uint32_t mtu = t.where == Where::kHost ? 4096 : 1024;
    return static_cast<double>(t.many * ((t.length + mtu - 1) / mtu)) /
           static_cast<double>(time_us);
  }
};

TEST_P(RcGoodputTest, OnePercentLost) {
  const double whole = Rate(TimeUs(Options(1, 0)));
  EXPECT_GT(whole, 0.7) << "the link is not busy, and a loss of rate would not show";
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const double lossy = Rate(TimeUs(Options(seed, 100)));
    RecordProperty("share_" + std::to_string(seed), std::to_string(lossy / whole));
    EXPECT_GE(lossy, 0.7 * whole) << "seed " << seed << ", probes " << counters(0).probes << " and "
                                  << counters(1).probes << ", time-outs " << counters(0).timeouts
                                  << ", resent " << counters(0).requests_resent;
  }
}

std::string NameOf(const ::testing::TestParamInfo<Traffic>& traffic) {
  constexpr const char* kNames[] = {"Sends", "Writes", "Reads"};
  return std::string(traffic.param.where == Where::kHost ? "HostOf" : "LinkOf") +
         kNames[static_cast<int>(traffic.param.kind)] + std::to_string(traffic.param.length);
}

INSTANTIATE_TEST_SUITE_P(Traffic, RcGoodputTest,
                         ::testing::Values(Traffic{Where::kLink, Kind::kSends, 4096, 4000, 64},
                                           Traffic{Where::kLink, Kind::kSends, 65536, 250, 16},
                                           Traffic{Where::kLink, Kind::kWrites, 4096, 4000, 64},
                                           Traffic{Where::kLink, Kind::kWrites, 65536, 250, 16},
                                           Traffic{Where::kLink, Kind::kReads, 4096, 4000, 64},
                                           Traffic{Where::kLink, Kind::kReads, 65536, 250, 16},
                                           Traffic{Where::kHost, Kind::kSends, 64, 20000, 64},
                                           Traffic{Where::kHost, Kind::kSends, 262144, 400, 8},
                                           Traffic{Where::kHost, Kind::kWrites, 4096, 20000, 64},
                                           Traffic{Where::kHost, Kind::kWrites, 262144, 400, 8},
                                           Traffic{Where::kHost, Kind::kReads, 262144, 400, 8}),
                         NameOf);

}  // namespace
}  // namespace softdat::softnet::testing
