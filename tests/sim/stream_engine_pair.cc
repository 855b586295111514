// SPDX-License-Identifier: BSD-3-Clause
// The parts of the simulation that are particular to iWARP over a byte stream.
#include "tests/sim/stream_engine_pair.h"

#include <algorithm>
#include <random>

namespace softdat::sim {

using softnet::Rtr;
using softnet::testing::PairOptions;

PairOptions StreamEnginePair::Options(uint64_t seed) {
  std::mt19937_64 r(seed * 0x9e3779b97f4a7c15);
  const size_t mulpdus[] = {128, 200, 1442, 8192, 65535};
  const size_t direct[] = {64, 600, 4096, 16384};
  const size_t capacities[] = {1, 100, 3000, 70000, 1 << 20};
  PairOptions o;
  o.seed = seed;
  o.crc = r() % 2 == 0;
  o.mulpdu = mulpdus[r() % 5];
  o.depth = static_cast<uint16_t>(1 + r() % 6);
  o.rtr = r() % 3 == 0 ? Rtr::kRead : Rtr::kWrite;
  o.queue = 16;
  o.max_segments = 4;
  o.pipe_capacity = capacities[r() % 5];
  o.share_receives = r() % 4 == 0;
  // A pipe of one byte sends each byte by itself, so delays are short there.
  const uint64_t delays_us[] = {0, 0, 50, o.pipe_capacity < 3000 ? 200u : 20000u};
  o.max_delay_us = delays_us[r() % 4];
  if (r() % 2 == 0) o.loss_one_in = 40;
  // Receives are posted within a few arrivals, so a timer that expires all the same is a defect.
  if (r() % 3 == 0) o.rnr_timeout_us = 3600'000'000;
  o.direct_payload = direct[r() % 4];
  o.confirm = r() % 3 != 0;
  o.empty_reads = r() % 8 != 0;
  o.confirmation_slots = static_cast<uint16_t>(r() % 3);
  if (r() % 8 == 0 && o.rtr != Rtr::kRead) o.depth = 0;  // consumers without reads and atomics
  return o;
}

StreamEnginePair::StreamEnginePair(uint64_t seed) : StreamEnginePair(Options(seed)) {}

EngineRules StreamEnginePair::rules() const {
  EngineRules rules;
  rules.queue = drawn_.queue;
  rules.reads = drawn_.depth > 0;
  rules.can_confirm = side(0).stream->can_confirm();
  rules.confirms_all = drawn_.confirm && rules.can_confirm;
  // Answers to reads are sent when there is room for them. The requests after them are carried out
  // meanwhile.
  rules.failed_read_stops_the_rest = false;
  rules.narrow = drawn_.pipe_capacity < 3000;
  return rules;
}

// The connection is lost at some byte in the future. A reader that comes to that byte sees a FIN,
// an error of the path, or a reset by the peer's system.
void StreamEnginePair::PlanLoss() {
  softnet::testing::Pipe& pipe = pipes[Draw(2)];
  const uint64_t spans[] = {100, 3000, 60000};
  pipe.cut = pipe.carried + Draw(spans[Draw(3)]);
  const uint64_t how = Draw(3);
  pipe.cut_resets = how == 1;
  pipe.cut_is_gone = how == 2;
}

bool StreamEnginePair::EndedInMidPacket() const {
  return std::ranges::any_of(sides, [](const auto& s) {
    return s->end().why.find("in the middle of a transfer") != std::string::npos;
  });
}

std::string StreamEnginePair::Describe(int i) const {
  const softnet::testing::Pipe& pipe = pipes[static_cast<size_t>(i)];
  return ", in pipe " + std::to_string(pipe.size()) + ", carried " + std::to_string(pipe.carried) +
         (pipe.fin ? ", fin" : "");
}

}  // namespace softdat::sim
