// SPDX-License-Identifier: BSD-3-Clause
// What the calls of every data path cost by themselves: finding the object of a handle, putting an
// event into an EVD's ring and taking it out again, taking the completion of a receive, and looking
// at an EVD without events.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "dat/engine/object/handle.h"
#include "dat/engine/slots.h"
#include "dat/engine/testing/fake_backend.h"
#include "dat/transport/transport.h"
#include "dat2/udat.h"

namespace softdat::engine {
namespace {

// An open IA with `count` EVDs of one kind.
class Evds {
 public:
  explicit Evds(int64_t count, DAT_EVD_FLAGS flags = DAT_EVD_SOFTWARE_FLAG) {
    char name[] = "fake-0";
    DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
    if (slots::IaOpen(name, 16, &async_evd, &ia_) != DAT_SUCCESS) return;
    evds.resize(static_cast<size_t>(count));
    for (DAT_EVD_HANDLE& evd : evds) {
      slots::EvdCreate(ia_, kEntries, DAT_HANDLE_NULL, flags, &evd);
    }
  }
  ~Evds() { slots::IaClose(ia_, DAT_CLOSE_ABRUPT_FLAG); }
  Evds(const Evds&) = delete;
  Evds& operator=(const Evds&) = delete;

  DAT_IA_HANDLE ia() const { return ia_; }

  static constexpr DAT_COUNT kEntries = 64;
  std::vector<DAT_EVD_HANDLE> evds;

 private:
  DAT_IA_HANDLE ia_ = DAT_HANDLE_NULL;
};

void FindHandle(benchmark::State& state) {
  const Evds evds(state.range(0));
  DAT_EVD_HANDLE handle = evds.evds[evds.evds.size() / 2];
  for (auto _ : state) {
    benchmark::DoNotOptimize(handle);
    Cell* const cell = PinHandle(handle, DAT_HANDLE_TYPE_EVD);
    if (cell == nullptr) {
      state.SkipWithError("the handle was not found");
      break;
    }
    benchmark::DoNotOptimize(UnpinCell(cell));
  }
}
BENCHMARK(FindHandle)->ArgName("handles")->Arg(1)->Arg(1000);

// A handle of another type, and an address that is no handle at all.
void RefuseHandle(benchmark::State& state, bool of_cell) {
  const Evds evds(1);
  const void* handle = of_cell ? evds.evds[0] : &evds;
  for (auto _ : state) {
    benchmark::DoNotOptimize(handle);
    benchmark::DoNotOptimize(PinHandle(handle, DAT_HANDLE_TYPE_EP));
  }
}
BENCHMARK_CAPTURE(RefuseHandle, other_type, true);
BENCHMARK_CAPTURE(RefuseHandle, no_handle, false);

// As many events at a time as the argument says.
void PostDequeue(benchmark::State& state) {
  const Evds evds(1);
  const DAT_EVD_HANDLE evd = evds.evds[0];
  const int64_t count = state.range(0);
  DAT_EVENT event{}, out;
  event.event_number = DAT_SOFTWARE_EVENT;
  for (auto _ : state) {
    bool ok = true;
    for (int64_t i = 0; i < count; ++i) ok &= slots::EvdPostSe(evd, &event) == DAT_SUCCESS;
    for (int64_t i = 0; i < count; ++i) ok &= slots::EvdDequeue(evd, &out) == DAT_SUCCESS;
    benchmark::DoNotOptimize(out);
    if (!ok) {
      state.SkipWithError("an event was lost");
      break;
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * count);
}
BENCHMARK(PostDequeue)->ArgName("events")->Arg(1)->Arg(64);

// The receives of as many EPs as the argument says, in turn, through one EVD.
void DequeueReceive(benchmark::State& state) {
  const Evds evds(1, DAT_EVD_DTO_FLAG);
  const DAT_EVD_HANDLE evd = evds.evds[0];
  std::vector<DAT_EP_HANDLE> eps(static_cast<size_t>(state.range(0)));
  for (DAT_EP_HANDLE& ep : eps) {
    slots::EpCreate(evds.ia(), DAT_HANDLE_NULL, evd, evd, DAT_HANDLE_NULL, nullptr, &ep);
  }
  auto* const queue = static_cast<testing::FakeCompletionQueue*>(
      testing::TheFakeBackend().last_adapter->last_qp().attributes.recv_cq);
  transport::Completion completion;
  completion.op = transport::Op::kReceive;
  completion.length = 64;
  size_t next = 0;
  DAT_EVENT out;
  for (auto _ : state) {
    completion.context = eps[next];
    next = next + 1 < eps.size() ? next + 1 : 0;
    queue->Add(completion);
    if (slots::EvdDequeue(evd, &out) != DAT_SUCCESS) {
      state.SkipWithError("a completion was lost");
      break;
    }
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(DequeueReceive)->ArgName("eps")->Arg(1)->Arg(1000);

void DequeueNothing(benchmark::State& state) {
  const Evds evds(1);
  DAT_EVENT out;
  for (auto _ : state) benchmark::DoNotOptimize(slots::EvdDequeue(evds.evds[0], &out));
}
BENCHMARK(DequeueNothing);

}  // namespace
}  // namespace softdat::engine

BENCHMARK_MAIN();
