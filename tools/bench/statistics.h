// SPDX-License-Identifier: BSD-3-Clause
// Medians and their like. Pure.
#ifndef SOFTDAT_TOOLS_BENCH_STATISTICS_H_
#define SOFTDAT_TOOLS_BENCH_STATISTICS_H_

#include <vector>

namespace softdat::tools {

using Samples = std::vector<double>;

// The value below which `part` (0 to 1) of the samples lie, interpolated between neighbours. 0 for
// no samples.
double Quantile(Samples samples, double part);

inline double Median(const Samples& samples) { return Quantile(samples, 0.5); }

// The figures that the latency tests of perftest print.
struct Distribution {
  double least = 0;
  double most = 0;
  double typical = 0;  // the median
  double average = 0;
  double deviation = 0;  // the standard deviation
  double percent_99 = 0;
  double percent_99_9 = 0;
};

// All values are 0 for no samples.
Distribution Summarize(Samples samples);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_STATISTICS_H_
