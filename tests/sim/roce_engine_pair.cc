// SPDX-License-Identifier: BSD-3-Clause
// What is particular to RoCEv2 over datagrams in the simulation.
#include "tests/sim/roce_engine_pair.h"

#include <algorithm>
#include <random>
#include <string>

namespace softdat::sim {

using softnet::testing::RcPairOptions;

RcPairOptions RoceEnginePair::Options(uint64_t seed) {
  std::mt19937_64 r(seed * 0x9e3779b97f4a7c15);
  const uint32_t mtus[] = {256, 512, 1024, 2048, 4096};
  const uint64_t losses[] = {0, 0, 100, 20, 5};  // none, 1 %, 5 %, 20 %
  const uint64_t rare[] = {0, 0, 50, 10};
  const uint64_t delays_us[] = {0, 30, 500, 20000};
  RcPairOptions o;
  o.seed = seed;
  o.mtu = mtus[r() % 5];
  o.depth = static_cast<uint32_t>(1 + r() % 6);
  o.queue = 16;
  o.max_segments = 4;
  o.share_receives = r() % 4 == 0;
  o.first_psn = static_cast<uint32_t>(r() % 3 == 0 ? roce::kMask24 - r() % 40 : r());
  o.rnr_timer = static_cast<uint8_t>(1 + r() % 18);
  o.first_window = static_cast<uint32_t>(1 + r() % 32);
  o.most_window = static_cast<uint32_t>(2 + r() % 127);
  o.max_delay_us = delays_us[r() % 4];
  o.lose_one_in = losses[r() % 5];
  o.burst_one_in = r() % 4 == 0 ? 40 : 0;
  o.reorder_one_in = rare[r() % 4];
  o.duplicate_one_in = rare[r() % 4];
  o.untaken_one_in = r() % 4 == 0 ? 5 : 0;
  // A peer that is only unlucky is never given up: every loss of a connection is one that was
  // planned.
  o.ack_timeout = 21;
  if (r() % 8 == 0) o.depth = 0;  // consumers without reads and atomics
  // Some peers do no more than they have to.
  const uint64_t plain = r() % 8;
  o.go_back_n[0] = plain < 2;
  o.go_back_n[1] = plain == 1 || plain == 2;
  if (r() % 8 == 0) o.early_bytes = 0;  // used up by others
  o.corrupt_one_in = rare[r() % 4];
  o.partition_one_in = r() % 8 == 0 ? 300 : 0;
  return o;
}

EngineRules RoceEnginePair::rules() const {
  EngineRules rules;
  rules.queue = drawn_.queue;
  rules.reads = drawn_.depth > 0;
  rules.can_confirm = true;
  rules.confirms_all = true;
  // Responses leave when there is room for them, and what stands behind is carried out meanwhile.
  rules.failed_read_stops_the_rest = false;
  return rules;
}

bool RoceEnginePair::EndedInMidPacket() const {
  return std::ranges::any_of(sides, [](const auto& s) {
    return s->end().why.find("to be sent again") != std::string::npos;
  });
}

std::string RoceEnginePair::Describe(int i) const {
  const softnet::RcCounters& c = side(i).connection->counters();
  return ", packets " + std::to_string(c.packets_sent) + " out and " +
         std::to_string(c.packets_received) + " in, resent " + std::to_string(c.requests_resent) +
         ", time-outs " + std::to_string(c.timeouts) + (UnderWay(i) ? ", under way" : "");
}

}  // namespace softdat::sim
