// SPDX-License-Identifier: BSD-3-Clause
// Micro benchmark of what few messages need: start-up frames and Terminates.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <span>

#include "wire/iwarp/mpa.h"
#include "wire/iwarp/terminate.h"

namespace softdat::iwarp {
namespace {

constexpr std::array<uint8_t, 64> kPrivateData = {1, 2, 3};

MpaStart Start() {
  MpaStart frame;
  frame.crc = frame.enhanced = true;
  frame.words.ird = frame.words.ord = 16;
  frame.private_data = kPrivateData;
  return frame;
}

void EncodeStart(benchmark::State& state) {
  MpaStart frame = Start();
  std::array<uint8_t, kMpaMaxFrameSize> out;
  for (auto _ : state) {
    benchmark::DoNotOptimize(frame);
    benchmark::DoNotOptimize(EncodeMpaStart(frame, out));
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(EncodeStart);

void ParseStart(benchmark::State& state) {
  std::array<uint8_t, kMpaMaxFrameSize> frame = {};
  const size_t size = EncodeMpaStart(Start(), frame);
  for (auto _ : state) {
    benchmark::DoNotOptimize(frame);
    MpaStart out;
    if (ParseMpaStart(ByteSpan(frame).first(size), &out).status != MpaParseStatus::kOk) {
      state.SkipWithError("the frame was not taken");
      break;
    }
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(ParseStart);

// The peer refuses a Read Request because its key is invalid. All three headers are part of the
// Terminate.
Terminate RefusedRead(std::span<uint8_t, kReadRequestFpduHeadSize> fpdu) {
  EncodeReadRequestFpduHead(fpdu.data(), kFirstMsn, {0x100, 0x1000, 4096, 0x200, 0x2000});
  const ByteSpan ulpdu = fpdu.subspan(kFpduLengthSize);
  return TerminateForSegment(kTermRemoteInvalidStag, ulpdu, ulpdu.size());
}

void EncodeTerminate(benchmark::State& state) {
  std::array<uint8_t, kReadRequestFpduHeadSize> request;
  Terminate term = RefusedRead(request);
  std::array<uint8_t, kTerminateMaxFpdu> out;
  for (auto _ : state) {
    benchmark::DoNotOptimize(term);
    benchmark::DoNotOptimize(EncodeTerminateFpdu(term, true, out.data()));
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(EncodeTerminate);

// `swapped`: the bit fields come in the other order, as a little-endian Linux siw sends them.
void ReadTerminate(benchmark::State& state, bool swapped) {
  std::array<uint8_t, kReadRequestFpduHeadSize> request;
  std::array<uint8_t, kTerminateMaxPayload> payload = {};
  const size_t size = EncodeTerminatePayload(RefusedRead(request), payload.data());
  if (swapped) {
    payload[0] = static_cast<uint8_t>(payload[0] << 4 | payload[0] >> 4);
    payload[2] = 0x07;  // all three headers
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(payload);
    DecodedTerminate out;
    if (!DecodeTerminate(ByteSpan(payload).first(size), &out) || out.swapped != swapped ||
        out.term.code != kTermRemoteInvalidStag) {
      state.SkipWithError("the Terminate was not understood");
      break;
    }
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK_CAPTURE(ReadTerminate, standard, false);
BENCHMARK_CAPTURE(ReadTerminate, swapped, true);

}  // namespace
}  // namespace softdat::iwarp

BENCHMARK_MAIN();
