// SPDX-License-Identifier: BSD-3-Clause
// What it costs to judge a peer's access by its key, with few and with many live keys. The table
// does the same work for any number. Only `Scattered` may cost more with more keys: it goes from
// key to key at random, so that with many of them the slots come from a more distant cache.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "provider_softnet/memory/memory_table.h"

namespace softdat::softnet {
namespace {

constexpr uint32_t kPrivileges = kPrivLocalWrite | kPrivRemoteRead | kPrivRemoteWrite;

// A table of `count` regions over the same memory, and with `windows` also one window over each.
class Keys {
 public:
  Keys(int64_t count, bool windows) {
    keys_.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t region = Register();
      keys_.push_back(windows ? Bound(region) : region);
    }
  }

  uint32_t Register() {
    return table.RegisterRegion(memory_.data(), memory_.size(), kPrivileges, false, pd_);
  }
  // A key that is neither the first nor the last.
  uint32_t middle() const { return keys_[keys_.size() / 2]; }
  std::vector<uint32_t> Shuffled() const {
    std::vector<uint32_t> keys = keys_;
    std::shuffle(keys.begin(), keys.end(), std::minstd_rand(1));
    return keys;
  }
  AccessRequest Write(uint32_t key) const {
    return {key, pd_, qp_, Access::kRemoteWrite, base_ + 1024, 64};
  }

  MemoryTable table;

 private:
  uint32_t Bound(uint32_t region) {
    MemoryTable::BindRequest r;
    r.key = table.NextWindowKey(table.CreateWindow(pd_, true));
    r.region = region;
    r.offset = base_;
    r.length = memory_.size();
    r.privileges = kPrivRemoteWrite;
    r.pd = pd_;
    r.qp = qp_;
    return table.Bind(r) == AccessError::kNone ? r.key : 0;
  }

  std::vector<uint8_t> memory_ = std::vector<uint8_t>(4096);
  const uint64_t base_ = reinterpret_cast<uintptr_t>(memory_.data());
  const uint32_t pd_ = table.NewProtectionDomainId();
  const uint32_t qp_ = table.NewQueuePairId();
  std::vector<uint32_t> keys_;
};

// As many keys as the argument says. They are made once for all runs.
Keys& KeysOf(const benchmark::State& state, bool windows) {
  static std::map<std::pair<int64_t, bool>, Keys> made;
  const int64_t count = state.range(0);
  return made.try_emplace({count, windows}, count, windows).first->second;
}

void Judge(benchmark::State& state, bool windows) {
  const Keys& keys = KeysOf(state, windows);
  AccessRequest request = keys.Write(keys.middle());
  for (auto _ : state) {
    benchmark::DoNotOptimize(request);
    if (keys.table.Check(request) != AccessError::kNone) {
      state.SkipWithError("the access was refused");
      break;
    }
  }
}
BENCHMARK_CAPTURE(Judge, region, false)->ArgName("keys")->Arg(1)->Arg(1000)->Arg(100000);
BENCHMARK_CAPTURE(Judge, window, true)->ArgName("keys")->Arg(1)->Arg(1000)->Arg(100000);

// An access is judged, pinned and released, as around a copy.
void JudgePin(benchmark::State& state, bool windows) {
  Keys& keys = KeysOf(state, windows);
  AccessRequest request = keys.Write(keys.middle());
  for (auto _ : state) {
    benchmark::DoNotOptimize(request);
    Pin pin;
    if (keys.table.Acquire(request, &pin) != AccessError::kNone) {
      state.SkipWithError("the access was refused");
      break;
    }
    benchmark::DoNotOptimize(pin);
  }
}
BENCHMARK_CAPTURE(JudgePin, region, false)->ArgName("keys")->Arg(1)->Arg(1000)->Arg(100000);
BENCHMARK_CAPTURE(JudgePin, window, true)->ArgName("keys")->Arg(1)->Arg(1000)->Arg(100000);

void JudgePinScattered(benchmark::State& state, bool windows) {
  Keys& keys = KeysOf(state, windows);
  const std::vector<uint32_t> order = keys.Shuffled();
  size_t next = 0;
  for (auto _ : state) {
    Pin pin;
    if (keys.table.Acquire(keys.Write(order[next]), &pin) != AccessError::kNone) {
      state.SkipWithError("the access was refused");
      break;
    }
    benchmark::DoNotOptimize(pin);
    if (++next == order.size()) next = 0;
  }
}
BENCHMARK_CAPTURE(JudgePinScattered, region, false)->ArgName("keys")->Arg(1000)->Arg(100000);
BENCHMARK_CAPTURE(JudgePinScattered, window, true)->ArgName("keys")->Arg(1000)->Arg(100000);

void JudgeUnknown(benchmark::State& state) {
  const Keys& keys = KeysOf(state, false);
  AccessRequest request = keys.Write(keys.middle() ^ 1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(request);
    benchmark::DoNotOptimize(keys.table.Check(request));
  }
}
BENCHMARK(JudgeUnknown)->ArgName("keys")->Arg(1)->Arg(100000);

void RegisterDeregister(benchmark::State& state) {
  Keys& keys = KeysOf(state, false);
  for (auto _ : state) benchmark::DoNotOptimize(keys.table.DeregisterRegion(keys.Register()));
}
BENCHMARK(RegisterDeregister)->ArgName("keys")->Arg(1)->Arg(1000)->Arg(100000);

}  // namespace
}  // namespace softdat::softnet

BENCHMARK_MAIN();
