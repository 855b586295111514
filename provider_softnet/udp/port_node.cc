// SPDX-License-Identifier: BSD-3-Clause
// Members for tests.
#include "provider_softnet/udp/port_node.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "dat/base/socket_address.h"
#include "wire/roce/packet.h"

namespace softdat::softnet {

// Of 127.0.0.0/8 the upper half, 18 bits of the process, and 4 bits that are given.
sockaddr_storage LoopbackOfTest(uint8_t n) {
  sockaddr_storage out{};
  auto& v4 = reinterpret_cast<sockaddr_in&>(out);
  v4.sin_family = AF_INET;
  const auto process = static_cast<uint32_t>(getpid()) & 0x3ffff;
  v4.sin_addr.s_addr = htonl(0x7f800000 | process << 4 | (n & 0xf));
  return out;
}

sockaddr_storage Loopback6() {
  sockaddr_storage out{};
  auto& v6 = reinterpret_cast<sockaddr_in6&>(out);
  v6.sin6_family = AF_INET6;
  v6.sin6_addr = in6addr_loopback;
  return out;
}

Bytes PayloadOf(size_t size, uint32_t seed) {
  Bytes out(size);
  for (size_t i = 0; i < size; ++i) out[i] = static_cast<uint8_t>(i * 31 + i / 256 + seed);
  return out;
}

void TestPackets::Add(uint32_t qpn, const Bytes& payload, size_t pieces) {
  payloads_.push_back(std::make_unique<Bytes>(payload));
  Bytes& own = *payloads_.back();
  ASSERT_TRUE(batch_.HasRoom(pieces));
  OutgoingPacket& out = batch_.Begin();
  roce::Packet packet;
  packet.bth.opcode = roce::Opcode::kSendOnly;
  packet.bth.dest_qpn = qpn;
  packet.bth.psn = psn_++;
  const size_t header = roce::EncodeHeaders(packet, own.size(), out.header);
  out.header_size = static_cast<uint8_t>(header);
  if (!own.empty()) {
    const uint32_t key =
        memory_.RegisterRegion(own.data(), own.size(), kPrivLocalRead, /*zero_based=*/true, pd_);
    for (size_t i = 0, begin = 0; i < pieces; ++i) {
      const size_t end = own.size() * (i + 1) / pieces;
      const AccessRequest access = {.key = key, .pd = pd_, .offset = begin, .length = end - begin};
      ASSERT_EQ(batch_.Add(memory_, access), AccessError::kNone);
      begin = end;
    }
  }
  batch_.Commit();
}

PortNode::PortNode(const sockaddr_storage& address, const UdpPortOptions& options) {
  Result<std::unique_ptr<UdpPort>> opened = UdpPort::Open(address, options, &driver_, this);
  EXPECT_TRUE(opened.ok()) << opened.status().reason();
  port_ = opened.Take();
}

PortNode::~PortNode() {
  port_.reset();
  driver_.Stop();
}

bool PortNode::SendTo(PortNode& peer, const TestPackets& packets) {
  const Destination to = port_->DestinationOf(peer.port().local());
  return port_->Send(packets.batch(), to).packets == packets.batch().size();
}

bool PortNode::Until(const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    driver_.Progress(nullptr, {});
    sched_yield();
  }
  return true;
}

bool PortNode::UntilKept(size_t count) {
  return Until([&] { return kept().size() >= count; });
}

std::vector<Kept> PortNode::kept() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return kept_;
}

void PortNode::OnPacket(const Arrival& arrival) {
  const auto& payload = arrival.packet.payload;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    kept_.push_back({arrival.source, arrival.packet.bth.dest_qpn, arrival.packet.bth.psn,
                     Bytes(payload.begin(), payload.end()), arrival.handed_on});
  }
  if (on_packet) on_packet(arrival);
}

}  // namespace softdat::softnet
