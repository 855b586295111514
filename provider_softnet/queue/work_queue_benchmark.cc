// SPDX-License-Identifier: BSD-3-Clause
// What it costs to post and to retire one work request: a send, a receive, a shared receive.
#include <benchmark/benchmark.h>

#include <vector>

#include "provider_softnet/queue/work_queue.h"

namespace softdat::softnet {
namespace {

constexpr uint32_t kMaxSegments = 4;

// As many segments as the argument says, of 64 bytes each.
std::vector<Segment> Segments(const benchmark::State& state) {
  return std::vector<Segment>(static_cast<size_t>(state.range(0)), {0x1000, 64, 7});
}

void PostRetireSend(benchmark::State& state) {
  SendQueue queue(64, kMaxSegments);
  const std::vector<Segment> segments = Segments(state);
  uint64_t cookie = 0;
  for (auto _ : state) {
    SendWork& work = queue.Prepare();
    work.cookie = ++cookie;
    benchmark::DoNotOptimize(CopySegments(segments, kMaxSegments, queue.PrepareSegments(),
                                          &work.segment_count, &work.length));
    queue.Commit();
    benchmark::DoNotOptimize(queue.at(queue.front()));
    queue.PopFront();
  }
}
BENCHMARK(PostRetireSend)->ArgName("segments")->Arg(1)->Arg(4);

void PostRetireReceive(benchmark::State& state) {
  ReceiveQueue queue(64, kMaxSegments);
  const std::vector<Segment> segments = Segments(state);
  uint64_t cookie = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(queue.Post({++cookie, segments}));
    benchmark::DoNotOptimize(*queue.Front());
    queue.PopFront();
  }
}
BENCHMARK(PostRetireReceive)->ArgName("segments")->Arg(1)->Arg(4);

void PostRetireShared(benchmark::State& state) {
  SharedReceiveQueue queue(64, kMaxSegments, 1);
  const std::vector<Segment> segments = Segments(state);
  uint64_t cookie = 0;
  bool limit_reached = false;
  for (auto _ : state) {
    benchmark::DoNotOptimize(queue.Post({++cookie, segments}));
    ReceiveWork* const work = queue.Take(&limit_reached);
    benchmark::DoNotOptimize(*work);
    queue.Release(work);
  }
}
BENCHMARK(PostRetireShared)->ArgName("segments")->Arg(1)->Arg(4);

}  // namespace
}  // namespace softdat::softnet

BENCHMARK_MAIN();
