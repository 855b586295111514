// SPDX-License-Identifier: BSD-3-Clause
// Identifications found from ICRCs: those of a real rxe, all of them, and none for damaged packets.

#include "wire/roce/icrc_solve.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "wire/ip_capture.h"
#include "wire/roce/icrc.h"
#include "wire/roce/ip_headers.h"
#include "wire/test_support.h"

namespace softdat::roce {
namespace {

using wire_test::Bytes;

constexpr Ipv4Flow kFlow = {{192, 0, 2, 1}, {192, 0, 2, 2}, 0xc0de};

uint32_t IcrcAtEnd(ByteSpan udp_payload) {
  return LoadIcrc(udp_payload.data() + udp_payload.size() - kIcrcSize);
}

// As a receiver does it that sees no IP header.
std::optional<uint16_t> Solve(Ipv4Flow flow, ByteSpan udp_payload) {
  flow.identification = 0;
  const uint32_t start = IcrcStart(flow, udp_payload.size());
  const uint32_t computed = IcrcOf(start, udp_payload.first(udp_payload.size() - kIcrcSize));
  return SolveIdentification(computed, IcrcAtEnd(udp_payload), udp_payload.size());
}

// A packet of `size` octets with the right ICRC.
Bytes PacketOf(const Ipv4Flow& flow, size_t size) {
  Bytes out(size);
  for (size_t i = 0; i < size; ++i) out[i] = static_cast<uint8_t>(i * 7 + 1);
  const size_t covered = size - kIcrcSize;
  StoreIcrc(&out[covered], IcrcOf(IcrcStart(flow, size), ByteSpan(out).first(covered)));
  return out;
}

TEST(IcrcSolve, FindsTheIdentificationsOfRxe) {
  int solved = 0;
  for (const char* name :
       {"rxe_rping", "rxe_pingpong_v4_v6", "rxe_userspace_peer", "rds_ib_rxe_head"}) {
    for (const Bytes& ip :
         wire_test::ReadIpPackets(std::string("wire/roce/testdata/") + name + ".pcap")) {
      const Datagram datagram = ParseIp(ip);
      const auto* flow = std::get_if<Ipv4Flow>(&datagram.flow);
      if (flow == nullptr) continue;
      EXPECT_EQ(Solve(*flow, datagram.payload), flow->identification);
      solved += flow->identification != 0 ? 1 : 0;
    }
  }
  EXPECT_GT(solved, 150);
}

TEST(IcrcSolve, FindsEveryIdentification) {
  Ipv4Flow flow = kFlow;
  for (uint32_t id = 0; id <= 0xffff; ++id) {
    flow.identification = static_cast<uint16_t>(id);
    ASSERT_EQ(Solve(flow, PacketOf(flow, 16)), id);
  }
}

TEST(IcrcSolve, FindsItBehindEveryLength) {
  Ipv4Flow flow = kFlow;
  flow.identification = 0xbeef;
  for (size_t size = 16; size < 4200; size += 4) {
    ASSERT_EQ(Solve(flow, PacketOf(flow, size)), 0xbeef) << size;
  }
  EXPECT_EQ(Solve(flow, PacketOf(flow, 65504)), 0xbeef);
}

TEST(IcrcSolve, RefusesLengthsThatNoDatagramHas) {
  EXPECT_EQ(SolveIdentification(1, 1, 3), std::nullopt);
  EXPECT_EQ(SolveIdentification(1, 1, 65536), std::nullopt);
}

// One in 65536 may pass.
TEST(IcrcSolve, FindsFlippedBits) {
  Bytes packet = PacketOf(kFlow, 1024);
  int passed = 0;
  for (size_t bit = (kBthMaskedOctet + 1) * 8; bit < packet.size() * 8; ++bit) {
    packet[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    passed += Solve(kFlow, packet).has_value() ? 1 : 0;
    packet[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
  }
  EXPECT_LE(passed, 1);
}

// About 16 in a million.
TEST(IcrcSolve, LetsOneDamageIn65536Pass) {
  constexpr int kTries = 1 << 20;
  std::mt19937 random(1);
  int passed = 0;
  for (int i = 0; i < kTries; ++i) {
    passed += SolveIdentification(0, static_cast<uint32_t>(random()), 64).has_value() ? 1 : 0;
  }
  EXPECT_GT(passed, 4);
  EXPECT_LT(passed, 40);
}

}  // namespace
}  // namespace softdat::roce
