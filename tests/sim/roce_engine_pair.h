// SPDX-License-Identifier: BSD-3-Clause
// The pair of reliable connections as the simulation sees it: path MTU, window, PSNs, depths and a
// network that loses, doubles, delays and reorders, all by seed.
#ifndef SOFTDAT_TESTS_SIM_ROCE_ENGINE_PAIR_H_
#define SOFTDAT_TESTS_SIM_ROCE_ENGINE_PAIR_H_

#include <string>

#include "provider_softnet/roce/rc_pair.h"
#include "tests/sim/engine_pair.h"

namespace softdat::sim {

class RoceEnginePair : public softnet::testing::RcPair {
 public:
  using Side = softnet::testing::RcSide;

  explicit RoceEnginePair(uint64_t seed) : RoceEnginePair(Options(seed)) {}

  Side& side(int i) { return *sides[static_cast<size_t>(i)]; }
  const Side& side(int i) const { return *sides[static_cast<size_t>(i)]; }
  EngineRules rules() const;
  // Both directions are cut at some moment, which is now: what is under way arrives.
  void PlanLoss() { Cut(); }
  void Break(int i, const std::string& why) { side(i).connection->OnPathLost(why); }
  // Memory was gone when a packet of it had to be sent again, behind which others had arrived.
  bool EndedInMidPacket() const;
  static transport::WorkStatus StatusOf(BadKind kind) { return StatusOfBad(kind); }
  std::string Describe(int i) const;

 private:
  using PairOptions = softnet::testing::RcPairOptions;
  static PairOptions Options(uint64_t seed);
  explicit RoceEnginePair(const PairOptions& options) : RcPair(options), drawn_(options) {}

  const PairOptions drawn_;
};

static_assert(EnginePair<RoceEnginePair>);

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_ROCE_ENGINE_PAIR_H_
