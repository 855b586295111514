// SPDX-License-Identifier: BSD-3-Clause
// Micro benchmark of what the data path does for each message: header out, header in, CRC.
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

// One Send with its payload of state.range(0) octets, contiguous, as a receiver gets it.
std::vector<uint8_t> SendFpdu(size_t payload) {
  std::vector<uint8_t> out(FpduSize(kUntaggedHeaderSize + payload));
  EncodeUntaggedFpduHeader(out.data(), Opcode::kSend, true, 0, kQnSend, kFirstMsn, 0, payload);
  const size_t body = kUntaggedFpduHeaderSize + payload;
  StoreFpduTrailer(&out[body], body - kFpduLengthSize, Crc32cExtend(kCrc32cInit, out.data(), body));
  return out;
}

// One write of 64 octets.
std::vector<uint8_t> WriteFpdu() {
  std::vector<uint8_t> out(FpduSize(kTaggedHeaderSize + 64));
  EncodeTaggedFpduHeader(out.data(), Opcode::kWrite, true, 0x1234500, 0x1000, 64);
  return out;
}

void ParseHeader(benchmark::State& state, std::vector<uint8_t> fpdu) {
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
BENCHMARK_CAPTURE(ParseHeader, tagged, WriteFpdu());
BENCHMARK_CAPTURE(ParseHeader, untagged, SendFpdu(64));

void EncodeReadRequestHead(benchmark::State& state) {
  std::array<uint8_t, kReadRequestFpduHeadSize> out;
  ReadRequest request = {0x100, 0x1000, 4096, 0x200, 0x2000};
  uint32_t msn = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(request);
    EncodeReadRequestFpduHead(out.data(), ++msn, request);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(EncodeReadRequestHead);

void ParseReadRequestPayload(benchmark::State& state) {
  std::array<uint8_t, kReadRequestSize> payload;
  EncodeReadRequest(payload.data(), {0x100, 0x1000, 4096, 0x200, 0x2000});
  for (auto _ : state) {
    benchmark::DoNotOptimize(payload);
    ReadRequest request;
    benchmark::DoNotOptimize(ParseReadRequest(payload, &request));
    benchmark::DoNotOptimize(request);
  }
}
BENCHMARK(ParseReadRequestPayload);

// The frame alone: its size, and where the next one begins. Pad and an unused CRC field follow it.
void PeekFrame(benchmark::State& state) {
  std::vector<uint8_t> fpdu = WriteFpdu();
  for (auto _ : state) {
    benchmark::DoNotOptimize(fpdu.data());
    benchmark::ClobberMemory();
    FpduView view;
    benchmark::DoNotOptimize(PeekFpdu(fpdu, &view));
    benchmark::DoNotOptimize(view);
  }
}
BENCHMARK(PeekFrame);

void StoreTrailerWithoutCrc(benchmark::State& state) {
  std::array<uint8_t, kFpduMaxTrailer> out;
  size_t ulpdu = kTaggedHeaderSize + 64;
  for (auto _ : state) {
    benchmark::DoNotOptimize(ulpdu);
    benchmark::DoNotOptimize(StoreFpduTrailerWithoutCrc(out.data(), ulpdu));
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(StoreTrailerWithoutCrc);

void Classify(benchmark::State& state, bool crc) {
  std::vector<uint8_t> fpdu = SendFpdu(static_cast<size_t>(state.range(0)));
  ReceiveContext ctx;
  ctx.crc = crc;
  for (auto _ : state) {
    benchmark::DoNotOptimize(fpdu.data());
    benchmark::ClobberMemory();
    Segment segment;
    if (!ClassifyFpdu(fpdu, ctx, &segment).ok()) {
      state.SkipWithError("the FPDU was not taken");
      break;
    }
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
    benchmark::DoNotOptimize(trailer.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(EncodeWithCrc)->Arg(64)->Arg(1424)->Arg(65400);

}  // namespace
}  // namespace softdat::iwarp

BENCHMARK_MAIN();
