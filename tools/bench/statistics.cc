// SPDX-License-Identifier: BSD-3-Clause
// Medians and their like.
#include "tools/bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace softdat::tools {
namespace {

double QuantileOfSorted(const Samples& sorted, double part) {
  if (sorted.empty()) return 0;
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

}  // namespace

double Quantile(Samples samples, double part) {
  std::sort(samples.begin(), samples.end());
  return QuantileOfSorted(samples, part);
}

Distribution Summarize(Samples samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const auto count = static_cast<double>(samples.size());
  Distribution result;
  result.least = samples.front();
  result.most = samples.back();
  result.typical = QuantileOfSorted(samples, 0.5);
  result.average = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples) squares += std::pow(sample - result.average, 2);
  result.deviation = std::sqrt(squares / count);
  result.percent_99 = QuantileOfSorted(samples, 0.99);
  result.percent_99_9 = QuantileOfSorted(samples, 0.999);
  return result;
}

}  // namespace softdat::tools
