// SPDX-License-Identifier: BSD-3-Clause
// Micro benchmark of the data path's work per packet: ICRC of the headers, packet out, packet in.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <vector>

#include "wire/roce/packet.h"

namespace softdat::roce {
namespace {

constexpr Ipv4Flow kFlow = {{192, 0, 2, 1}, {192, 0, 2, 2}, 0xc0de};
constexpr Ipv6Flow kFlow6 = {{0x20, 1, 0xd, 0xb8}, {0x20, 1, 0xd, 0xb8, 1}, 0xc0de};

template <typename Flow>
void StartIcrc(benchmark::State& state, Flow flow) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(flow);
    benchmark::DoNotOptimize(IcrcStart(flow, 80));
  }
}
BENCHMARK_CAPTURE(StartIcrc, ipv4, kFlow);
BENCHMARK_CAPTURE(StartIcrc, ipv6, kFlow6);

// A whole SEND Only packet with state.range(0) octets.
std::vector<uint8_t> SendPacket(size_t payload) {
  const std::vector<uint8_t> data(payload);
  std::vector<uint8_t> out(PacketSize(Opcode::kSendOnly, payload));
  EncodePacket({.payload = data}, IcrcStart(kFlow, out.size()), out);
  return out;
}

void EncodeSend(benchmark::State& state) {
  const std::vector<uint8_t> data(static_cast<size_t>(state.range(0)));
  std::array<uint8_t, kMaxHeaderSize + kMaxMtu + kMaxTrailerSize> out;
  Packet packet = {.payload = data};
  const size_t size = PacketSize(Opcode::kSendOnly, data.size());
  for (auto _ : state) {
    packet.bth.psn = (packet.bth.psn + 1) & kMask24;
    benchmark::DoNotOptimize(EncodePacket(packet, IcrcStart(kFlow, size), out));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(EncodeSend)->Arg(64)->Arg(1024)->Arg(4096);

void EncodeAcknowledge(benchmark::State& state) {
  std::array<uint8_t, kMaxHeaderSize + kMaxTrailerSize> out;
  Packet packet = {.bth = {.opcode = Opcode::kAcknowledge}};
  const size_t size = PacketSize(Opcode::kAcknowledge, 0);
  for (auto _ : state) {
    packet.bth.psn = (packet.bth.psn + 1) & kMask24;
    benchmark::DoNotOptimize(EncodePacket(packet, IcrcStart(kFlow, size), out));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(EncodeAcknowledge);

void CheckAndParseSend(benchmark::State& state) {
  const std::vector<uint8_t> wire = SendPacket(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(wire.data());
    benchmark::ClobberMemory();
    Packet packet;
    benchmark::DoNotOptimize(IcrcOk(IcrcStart(kFlow, wire.size()), wire));
    benchmark::DoNotOptimize(ParsePacket(wire, &packet));
    benchmark::DoNotOptimize(packet);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(CheckAndParseSend)->Arg(64)->Arg(1024)->Arg(4096);

}  // namespace
}  // namespace softdat::roce

BENCHMARK_MAIN();
