// SPDX-License-Identifier: BSD-3-Clause
// What one completion costs: push and poll in one thread, one and many at a time, and a poll that
// finds nothing.
#include <benchmark/benchmark.h>

#include "provider_softnet/queue/completion_ring.h"

namespace softdat::softnet {
namespace {

void PushPoll(benchmark::State& state) {
  CompletionRing ring(1024, nullptr);
  transport::Completion c, out[1];
  for (auto _ : state) {
    benchmark::DoNotOptimize(ring.Push(c));
    benchmark::DoNotOptimize(ring.Poll(out));
  }
}
BENCHMARK(PushPoll);

void PushPollMany(benchmark::State& state) {
  constexpr int kMany = 64;
  CompletionRing ring(1024, nullptr);
  transport::Completion c, out[kMany];
  for (auto _ : state) {
    for (int i = 0; i < kMany; ++i) benchmark::DoNotOptimize(ring.Push(c));
    benchmark::DoNotOptimize(ring.Poll(out));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kMany);
}
BENCHMARK(PushPollMany);

void EmptyPoll(benchmark::State& state) {
  CompletionRing ring(1024, nullptr);
  transport::Completion out[1];
  for (auto _ : state) benchmark::DoNotOptimize(ring.Poll(out));
}
BENCHMARK(EmptyPoll);

}  // namespace
}  // namespace softdat::softnet

BENCHMARK_MAIN();
