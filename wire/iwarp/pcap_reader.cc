// SPDX-License-Identifier: BSD-3-Clause
// Reads the TCP payload of a small capture, for tests.

#include "wire/iwarp/pcap_reader.h"

#include <gtest/gtest.h>

#include <map>

#include "wire/ip_capture.h"

namespace softdat::wire_test {
namespace {

constexpr uint8_t kIpTcp = 6;
constexpr uint8_t kTcpSyn = 0x02;
constexpr uint8_t kTcpAck = 0x10;

struct Direction {
  bool syn_seen = false;
  uint32_t first = 0;  // sequence number of the first octet
  Bytes octets;
};

struct Segment {
  uint16_t from = 0;
  uint32_t seq = 0;
  uint8_t flags = 0;
  ByteSpan payload;
};

bool ParsePacket(ByteSpan ip, Segment* out) {
  if (ip.size() < 20 || ip[0] >> 4 != 4) return false;
  const size_t ip_header = (ip[0] & 0x0fu) * 4u;
  const size_t total = LoadBe16(&ip[2]);
  if (ip[9] != kIpTcp || total > ip.size() || total < ip_header + 20) return false;
  const ByteSpan tcp = ip.first(total).subspan(ip_header);
  const size_t tcp_header = (tcp[12] >> 4) * 4u;
  if (tcp.size() < tcp_header) return false;
  *out = {LoadBe16(tcp.data()), LoadBe32(&tcp[4]), tcp[13], tcp.subspan(tcp_header)};
  return true;
}

// Appends what is new. A retransmission brings nothing new, and a gap is a failure.
void Take(const Segment& s, Direction* d) {
  if ((s.flags & kTcpSyn) != 0) {
    d->syn_seen = true;
    d->first = s.seq + 1;
    return;
  }
  if (s.payload.empty()) return;
  const uint32_t at = s.seq - d->first;
  ASSERT_TRUE(d->syn_seen);
  ASSERT_LE(at, d->octets.size()) << "octets are missing from the capture";
  if (at + s.payload.size() <= d->octets.size()) return;
  const ByteSpan fresh = s.payload.subspan(d->octets.size() - at);
  d->octets.insert(d->octets.end(), fresh.begin(), fresh.end());
}

}  // namespace

TcpConversation ReadConversation(const std::string& path) {
  std::map<uint16_t, Direction> by_port;
  uint16_t client = 0;
  for (const Bytes& packet : ReadIpPackets(path)) {
    Segment segment;
    if (!ParsePacket(packet, &segment)) {
      ADD_FAILURE() << path << ": a packet that is not TCP over IPv4";
      continue;
    }
    if ((segment.flags & (kTcpSyn | kTcpAck)) == kTcpSyn) client = segment.from;
    Take(segment, &by_port[segment.from]);
  }
  EXPECT_EQ(by_port.size(), 2u) << path << " holds more than one connection";
  TcpConversation out;
  for (auto& [port, direction] : by_port) {
    (port == client ? out.from_client : out.from_server) = std::move(direction.octets);
  }
  return out;
}

}  // namespace softdat::wire_test
