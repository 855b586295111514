// SPDX-License-Identifier: BSD-3-Clause
// Micro benchmark of what the data path does per message: header out, header in, CRC.
//   bazel run --config=opt //wire/iwarp:codec_benchmark

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <vector>

#include "wire/iwarp/frame_check.h"
#include "wire/iwarp/rdmap.h"

namespace softdat::iwarp {
namespace {

void EncodeTaggedHeader(benchmark::State& state) {
  std::array<uint8_t, kTaggedFpduHeaderSize> out;
  uint64_t to = 0;
  for (auto _ : state) {
    EncodeTaggedFpduHeader(out.data(), Opcode::kWrite, true, 0x1234500, to += 64, 64);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(EncodeTaggedHeader);

void EncodeUntaggedHeader(benchmark::State& state) {
  std::array<uint8_t, kUntaggedFpduHeaderSize> out;
  uint32_t msn = 0;
  for (auto _ : state) {
    EncodeUntaggedFpduHeader(out.data(), Opcode::kSend, true, 0, kQnSend, ++msn, 0, 64);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(EncodeUntaggedHeader);

// One Send with its payload of state.range(0) octets, contiguous, as a receiver meets it.
std::vector<uint8_t> SendFpdu(size_t payload) {
  std::vector<uint8_t> out(FpduSize(kUntaggedHeaderSize + payload));
  EncodeUntaggedFpduHeader(out.data(), Opcode::kSend, true, 0, kQnSend, kFirstMsn, 0, payload);
  const size_t body = kUntaggedFpduHeaderSize + payload;
  StoreFpduTrailer(&out[body], body - kFpduLengthSize, Crc32cExtend(kCrc32cInit, out.data(), body));
  return out;
}

void ParseHeader(benchmark::State& state) {
  std::vector<uint8_t> fpdu = SendFpdu(64);
  for (auto _ : state) {
    benchmark::DoNotOptimize(fpdu.data());
    benchmark::ClobberMemory();
    FpduView view;
    DdpHeader header;
    benchmark::DoNotOptimize(PeekFpdu(fpdu, &view));
    benchmark::DoNotOptimize(ParseDdpHeader(view.ulpdu, &header));
    benchmark::DoNotOptimize(header);
  }
}
BENCHMARK(ParseHeader);

void Classify(benchmark::State& state, bool crc) {
  std::vector<uint8_t> fpdu = SendFpdu(static_cast<size_t>(state.range(0)));
  ReceiveContext ctx;
  ctx.crc = crc;
  for (auto _ : state) {
    benchmark::DoNotOptimize(fpdu.data());
    benchmark::ClobberMemory();
    Segment segment;
    benchmark::DoNotOptimize(ClassifyFpdu(fpdu, ctx, &segment));
    benchmark::DoNotOptimize(segment);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK_CAPTURE(Classify, no_crc, false)->Arg(64)->Arg(1424);
BENCHMARK_CAPTURE(Classify, crc, true)->Arg(64)->Arg(1424)->Arg(65400);

void EncodeWithCrc(benchmark::State& state) {
  const auto size = static_cast<size_t>(state.range(0));
  const std::vector<uint8_t> payload(size, 0x5a);
  std::array<uint8_t, kTaggedFpduHeaderSize> header;
  std::array<uint8_t, kFpduMaxTrailer> trailer;
  uint64_t to = 0;
  for (auto _ : state) {
    EncodeTaggedFpduHeader(header.data(), Opcode::kWrite, true, 0x1234500, to += size, size);
    const std::array<ByteSpan, 2> pieces = {ByteSpan(header), ByteSpan(payload)};
    StoreFpduTrailer(trailer.data(), kTaggedHeaderSize + size, Crc32cExtend(kCrc32cInit, pieces));
    benchmark::DoNotOptimize(trailer);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(EncodeWithCrc)->Arg(64)->Arg(1424)->Arg(65400);

}  // namespace
}  // namespace softdat::iwarp

BENCHMARK_MAIN();
