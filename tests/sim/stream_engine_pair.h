// SPDX-License-Identifier: BSD-3-Clause
// The pair of iWARP streams as the simulation sees it: options by seed, a connection that is lost
// at some byte, an end in the middle of an FPDU.
#ifndef SOFTDAT_TESTS_SIM_STREAM_ENGINE_PAIR_H_
#define SOFTDAT_TESTS_SIM_STREAM_ENGINE_PAIR_H_

#include <string>

#include "provider_softnet/iwarp/stream_pair.h"
#include "tests/sim/engine_pair.h"

namespace softdat::sim {

class StreamEnginePair : public softnet::testing::StreamPair {
 public:
  using Side = softnet::testing::Side;

  explicit StreamEnginePair(uint64_t seed);

  Side& side(int i) { return *sides[static_cast<size_t>(i)]; }
  const Side& side(int i) const { return *sides[static_cast<size_t>(i)]; }
  EngineRules rules() const;
  bool UnderWay(int i) const { return !pipes[static_cast<size_t>(i)].flights.empty(); }
  void PlanLoss();
  void Break(int i, const std::string& why) { side(i).stream->OnPeerReset(why); }
  // Whether the rest of an FPDU that had begun is gone.
  bool EndedInMidPacket() const;
  static transport::WorkStatus StatusOf(BadKind kind) { return StatusOfBad(kind); }
  std::string Describe(int i) const;

 private:
  using PairOptions = softnet::testing::PairOptions;
  static PairOptions Options(uint64_t seed);
  explicit StreamEnginePair(const PairOptions& options) : StreamPair(options), drawn_(options) {}

  const PairOptions drawn_;
};

static_assert(EnginePair<StreamEnginePair>);

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_STREAM_ENGINE_PAIR_H_
