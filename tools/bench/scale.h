// SPDX-License-Identifier: BSD-3-Clause
// The resources of many end points and many connections. The amounts have bounds of their own,
// without a floor.
#ifndef SOFTDAT_TOOLS_BENCH_SCALE_H_
#define SOFTDAT_TOOLS_BENCH_SCALE_H_

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/common/outcome.h"

namespace softdat::tools {

struct ScalePlan {
  std::string ia = "softnet-lo";
  uint32_t end_points = 1000;
  // Memory that the first connections leave is kept for the next ones. A handle of 64 bytes is
  // given out again only after 16384 others.
  uint64_t cycles_before = 17000;
  uint64_t cycles = 10000;
  std::function<void(const std::string& what)> progress;  // may be empty
};

struct Amount {
  std::string what;
  std::string unit;
  double value = 0;
  double most = 0;

  bool Met() const { return value <= most; }
};

// Measures the memory of an idle end point, of both ends together. Then measures what is left of
// `cycles` connections that are made and ended one after the other.
Outcome MeasureScale(const ScalePlan& plan, std::vector<Amount>* amounts);

std::string RenderAmounts(const std::vector<Amount>& amounts);
nlohmann::ordered_json AmountsJson(const std::vector<Amount>& amounts);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_SCALE_H_
