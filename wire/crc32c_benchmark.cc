// SPDX-License-Identifier: BSD-3-Clause
// What CRC32c costs by length. A short message is mostly the call, a long one memory bandwidth.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "wire/crc32c.h"

namespace softdat {
namespace {

void Crc(benchmark::State& state) {
  const std::vector<uint8_t> data(static_cast<size_t>(state.range(0)), 0x5a);
  for (auto _ : state) benchmark::DoNotOptimize(Crc32c(data.data(), data.size()));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(Crc)->Arg(64)->Arg(1024)->Arg(4096)->Arg(65536);

}  // namespace
}  // namespace softdat

BENCHMARK_MAIN();
