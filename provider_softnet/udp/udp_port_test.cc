// SPDX-License-Identifier: BSD-3-Clause
// One port and another: what is sent arrives, and what is no packet does not.
#include "provider_softnet/udp/udp_port.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "dat/base/socket_address.h"
#include "provider_softnet/udp/datagram_sockets.h"
#include "provider_softnet/udp/port_node.h"

namespace softdat::softnet {
namespace {

const size_t kSizes[] = {0, 1, 2, 3, 4, 64, 255, 256, 257, 1023, 1024, 4093, 4096};

TEST(UdpPort, WhatIsSentArrives) {
  PortNode a(LoopbackOfTest(0)), b(LoopbackOfTest(1));
  TestPackets packets;
  uint32_t seed = 0;
  for (const size_t size : kSizes) packets.Add(b.qpn(), PayloadOf(size, ++seed));
  for (const size_t size : {size_t{7}, size_t{300}, size_t{4096}}) {
    packets.Add(b.qpn(), PayloadOf(size, ++seed), /*pieces=*/3);
  }
  ASSERT_TRUE(a.SendTo(b, packets));
  ASSERT_TRUE(b.UntilKept(packets.batch().size()));
  const std::vector<Kept> kept = b.kept();
  for (size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].psn, i);
    EXPECT_EQ(kept[i].qpn, b.qpn());
    EXPECT_EQ(kept[i].payload, PayloadOf(kept[i].payload.size(), static_cast<uint32_t>(i + 1)));
    EXPECT_TRUE(SameHost(kept[i].source, a.port().local()));
    EXPECT_EQ(SocketPort(kept[i].source), a.port().source_port());
    EXPECT_FALSE(kept[i].handed_on);
  }
  EXPECT_GE(a.port().source_port(), 0xc000);
  EXPECT_EQ(b.port().counters().solved_ids.value(), 0u) << "the identification is 0";
  EXPECT_EQ(b.port().counters().bad_icrc.value(), 0u);
}

// Where the test has no network of its own, others share ::1. Packets may then come by way of
// another member, which may end before it hands them on, and what is for another one may come here.
TEST(UdpPort, WhatIsSentArrivesOverIpv6) {
  PortNode a(Loopback6()), b(Loopback6());
  TestPackets packets;
  for (const size_t size : kSizes) packets.Add(b.qpn(), PayloadOf(size, 1));
  const auto kept_own = [&b] {
    std::vector<Kept> own = b.kept();
    std::erase_if(own, [&b](const Kept& kept) { return kept.qpn != b.qpn(); });
    return own;
  };
  ASSERT_TRUE(b.Until([&] {
    EXPECT_TRUE(a.SendTo(b, packets));
    return kept_own().size() >= packets.batch().size();
  }));
  for (const Kept& kept : kept_own()) {
    EXPECT_EQ(kept.payload, PayloadOf(kept.payload.size(), 1));
    EXPECT_EQ(SocketPort(kept.source), a.port().source_port());
  }
}

TEST(UdpPort, ManyPacketsNeedFewSystemCalls) {
  PortNode a(LoopbackOfTest(0)), b(LoopbackOfTest(1));
  TestPackets packets;
  for (size_t i = 0; i < PacketBatch::kMostPackets; ++i) packets.Add(b.qpn(), {});
  ASSERT_TRUE(a.SendTo(b, packets));
  ASSERT_TRUE(b.UntilKept(packets.batch().size()));
  EXPECT_EQ(a.port().counters().send_calls.value(), 1u);
  const UdpCounters& counters = b.port().counters();
  EXPECT_LE(counters.receive_calls.value() - counters.receive_empty.value(), 8u);
  // Each of those ends a batch, the last one a moment after its packets were kept.
  EXPECT_TRUE(b.Until([&] {
    return static_cast<uint64_t>(b.batches) ==
           counters.receive_calls.value() - counters.receive_empty.value();
  }));
}

// What one system call sends as one piece is told apart again, wherever a size changes.
TEST(UdpPort, PacketsThatTheKernelCutsArrive) {
  PortNode a(LoopbackOfTest(0)), b(LoopbackOfTest(1));
  TestPackets packets;
  std::vector<Bytes> sent;
  for (const size_t size : {4096, 4096, 4096, 4092, 4096, 300,  300,  64,  64,  64,
                            8,    0,    0,    4096, 1024, 1024, 1023, 256, 256, 255}) {
    sent.push_back(PayloadOf(size, static_cast<uint32_t>(sent.size())));
    packets.Add(b.qpn(), sent.back());
  }
  ASSERT_TRUE(a.SendTo(b, packets));
  ASSERT_TRUE(b.UntilKept(sent.size()));
  const std::vector<Kept> kept = b.kept();
  for (size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(kept[i].payload, sent[i]) << i;
  EXPECT_EQ(b.port().counters().bad_icrc.value(), 0u);
  EXPECT_EQ(b.port().counters().solved_ids.value(), 0u) << "the kernel counts from 0";
  EXPECT_EQ(a.port().counters().send_calls.value(), 1u);
}

TEST(UdpPort, ARunLongerThanTheKernelCutsArrives) {
  PortNode a(LoopbackOfTest(0)), b(LoopbackOfTest(1));
  TestPackets packets;
  for (uint32_t i = 0; i < 40; ++i) packets.Add(b.qpn(), PayloadOf(4096, i));
  ASSERT_TRUE(a.SendTo(b, packets));
  ASSERT_TRUE(b.UntilKept(40));
  const std::vector<Kept> kept = b.kept();
  for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(kept[i].payload, PayloadOf(4096, i)) << i;
  EXPECT_EQ(a.port().counters().send_calls.value(), 1u);
  EXPECT_EQ(b.port().counters().solved_ids.value(), 0u) << "the kernel counts from 0";
}

// A socket that computes no checksum cannot be cut from.
TEST(UdpPort, WhereTheKernelDoesNotCutPacketsLeaveOneByOne) {
  PortNode b(LoopbackOfTest(1));
  Result<UniqueFd> opened =
      OpenSender(LoopbackOfTest(0), [n = uint64_t{0}]() mutable { return n++; });
  ASSERT_TRUE(opened.ok());
  const int on = 1;
  ASSERT_EQ(setsockopt(opened.value().get(), SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
  const Destination to(LocalEnd(opened.value().get()), b.port().local());
  UdpCounters counters;
  PacketSender sender(&counters);
  sender.Use(opened.Take());
  TestPackets packets;
  for (uint32_t i = 0; i < 8; ++i) packets.Add(b.qpn(), PayloadOf(64, i));
  EXPECT_EQ(sender.Send(packets.batch(), 0, to).packets, 8u);
  EXPECT_EQ(counters.send_calls.value(), 2u) << "one in vain";
  ASSERT_TRUE(b.UntilKept(8));
  EXPECT_EQ(counters.send_refused.value(), 0u);
  EXPECT_EQ(b.port().counters().solved_ids.value(), 0u) << "each identification is 0 again";
}

// ---- what strangers send ------------------------------------------------------------------------

// A UDP socket that can send anything to port 4791.
class Stranger {
 public:
  explicit Stranger(const sockaddr_storage& address)
      : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), AddressSize(address)),
              0);
    local_ = LocalEnd(fd_.get());
  }
  // A packet as if its IPv4 header had this identification.
  Bytes Packet(const UdpPort& to, uint32_t qpn, uint16_t identification) const {
    const auto ipv4 = [](const sockaddr_storage& a) {
      std::array<uint8_t, 4> out;
      memcpy(out.data(), &reinterpret_cast<const sockaddr_in&>(a).sin_addr, out.size());
      return out;
    };
    const roce::Ipv4Flow flow = {ipv4(local_), ipv4(to.local()), SocketPort(local_), roce::kUdpPort,
                                 identification};
    roce::Packet packet;
    packet.bth.dest_qpn = qpn;
    const Bytes payload = PayloadOf(100, 1);
    packet.payload = payload;
    Bytes out(roce::PacketSize(packet.bth.opcode, payload.size()));
    EXPECT_EQ(roce::EncodePacket(packet, roce::IcrcStart(flow, out.size()), out), out.size());
    return out;
  }
  void Send(const UdpPort& to, const Bytes& bytes) const {
    const sockaddr_storage& a = to.local();
    EXPECT_EQ(sendto(fd_.get(), bytes.data(), bytes.size(), 0,
                     reinterpret_cast<const sockaddr*>(&a), AddressSize(a)),
              static_cast<ssize_t>(bytes.size()));
  }

 private:
  UniqueFd fd_;
  sockaddr_storage local_{};
};

TEST(UdpPort, ASenderThatCountsIdentificationsIsUnderstood) {
  PortNode b(LoopbackOfTest(1));
  const Stranger stranger(LoopbackOfTest(0));
  stranger.Send(b.port(), stranger.Packet(b.port(), b.qpn(), 0xbeef));
  ASSERT_TRUE(b.UntilKept(1));
  EXPECT_EQ(b.port().counters().solved_ids.value(), 1u);
}

TEST(UdpPort, WhatASenderCountsNextIsExpected) {
  PortNode b(LoopbackOfTest(1));
  const Stranger stranger(LoopbackOfTest(0));
  for (const uint16_t id : {0xfffe, 0xffff, 0, 1, 0, 0, 5, 9}) {
    stranger.Send(b.port(), stranger.Packet(b.port(), b.qpn(), id));
  }
  ASSERT_TRUE(b.UntilKept(8));
  EXPECT_EQ(b.port().counters().solved_ids.value(), 5u);
  EXPECT_EQ(b.port().counters().bad_icrc.value(), 0u);
}

TEST(UdpPort, ADamagedPacketIsDropped) {
  PortNode b(LoopbackOfTest(1));
  const Stranger stranger(LoopbackOfTest(0));
  Bytes packet = stranger.Packet(b.port(), b.qpn(), 0);
  packet[40] ^= 1;
  stranger.Send(b.port(), packet);
  const UdpCounters& counters = b.port().counters();
  ASSERT_TRUE(b.Until([&] { return counters.bad_icrc.value() == 1; }));
  EXPECT_TRUE(b.kept().empty());
}

TEST(UdpPort, WhatIsNoPacketIsDropped) {
  PortNode b(LoopbackOfTest(1));
  const Stranger stranger(LoopbackOfTest(0));
  stranger.Send(b.port(), {});
  stranger.Send(b.port(), Bytes(15));
  stranger.Send(b.port(), Bytes(60000));
  const UdpCounters& counters = b.port().counters();
  ASSERT_TRUE(b.Until([&] { return counters.malformed.value() == 3; }));
  EXPECT_TRUE(b.kept().empty());
}

TEST(UdpPort, APacketForNobodyIsDropped) {
  PortNode b(LoopbackOfTest(1));
  const Stranger stranger(LoopbackOfTest(0));
  const uint32_t other_block = b.qpn() ^ 0x800000;
  for (const uint32_t qpn : {other_block, 0u, 2u}) {
    stranger.Send(b.port(), stranger.Packet(b.port(), qpn, 0));
  }
  const UdpCounters& counters = b.port().counters();
  ASSERT_TRUE(b.Until([&] { return counters.nobodys.value() == 3; }));
  EXPECT_TRUE(b.kept().empty());
}

// ---- loss on demand -----------------------------------------------------------------------------

TEST(UdpPort, LossOnDemandLosesItsShare) {
  PortNode a(LoopbackOfTest(0)), b(LoopbackOfTest(1), {.loss = "50%;delay=1ms"});
  TestPackets packets;
  for (int i = 0; i < 40; ++i) packets.Add(b.qpn(), PayloadOf(8, 1));
  ASSERT_TRUE(a.SendTo(b, packets));
  const UdpCounters& counters = b.port().counters();
  ASSERT_TRUE(b.Until([&] {
    return counters.impaired.value() + counters.received.value() == packets.batch().size();
  }));
  EXPECT_GT(b.kept().size(), 8u);
  EXPECT_LT(b.kept().size(), 32u);
}

TEST(UdpPort, DamageOnDemandIsFound) {
  PortNode a(LoopbackOfTest(0)), b(LoopbackOfTest(1), {.loss = "corrupt=100%"});
  TestPackets packets;
  for (int i = 0; i < 32; ++i) packets.Add(b.qpn(), PayloadOf(1000, 1));
  ASSERT_TRUE(a.SendTo(b, packets));
  const UdpCounters& counters = b.port().counters();
  ASSERT_TRUE(b.Until([&] {
    return counters.bad_icrc.value() + counters.received.value() == packets.batch().size();
  }));
  // Congestion marks are not covered, and a flipped bit may look like another identification.
  EXPECT_GT(counters.bad_icrc.value(), 28u);
}

// What nothing happens to goes its usual way: no packet waits, none is taken out of its run, and no
// identification has to be solved for.
TEST(UdpPort, LossOnDemandLeavesTheOthersAlone) {
  PortNode a(LoopbackOfTest(0)), b(LoopbackOfTest(1), {.loss = "20%"});
  TestPackets packets;
  for (uint32_t i = 0; i < 40; ++i) packets.Add(b.qpn(), PayloadOf(4096, i));
  ASSERT_TRUE(a.SendTo(b, packets));
  const UdpCounters& counters = b.port().counters();
  ASSERT_TRUE(b.Until([&] { return counters.impaired.value() + counters.received.value() == 40; }));
  const std::vector<Kept> kept = b.kept();
  EXPECT_GT(kept.size(), 20u);
  EXPECT_LT(kept.size(), 40u);
  for (const Kept& k : kept) EXPECT_EQ(k.payload, PayloadOf(4096, k.psn));
  EXPECT_EQ(a.port().counters().send_calls.value(), 1u);
  EXPECT_EQ(counters.solved_ids.value(), 0u);
  EXPECT_LE(counters.receive_calls.value() - counters.receive_empty.value(), 8u);
}

// Nobody polls: the timer must deliver.
TEST(UdpPort, WhatIsDelayedComesWithoutACall) {
  PortNode a(LoopbackOfTest(0)), b(LoopbackOfTest(1), {.loss = "delay=5ms"});
  TestPackets packets;
  packets.Add(b.qpn(), PayloadOf(8, 1));
  std::atomic<int> ended_before{-1};
  b.on_packet = [&](const Arrival&) { ended_before = b.batches.load(); };
  ASSERT_TRUE(a.SendTo(b, packets));
  ASSERT_TRUE(a.Until([&] { return ended_before >= 0; }));
  EXPECT_EQ(b.kept().size(), 1u);
  // The delivery ends a batch. When the packet was held back, one has ended, too, unless its time
  // had come by then.
  ASSERT_TRUE(a.Until([&] { return b.batches == ended_before + 1; }));
}

TEST(UdpPort, LossThatIsNotUnderstoodIsRefused) {
  Driver driver{DriverOptions{}};
  const auto opened = UdpPort::Open(LoopbackOfTest(0), {.loss = "often"}, &driver, nullptr);
  EXPECT_EQ(opened.status().code(), Code::kInvalidArgument);
}

// ---- opening and closing ------------------------------------------------------------------------

TEST(UdpPort, ABusyPortIsNamed) {
  const UniqueFd other(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage address = LoopbackOfTest(2);
  SetSocketPort(roce::kUdpPort, &address);
  ASSERT_EQ(bind(other.get(), reinterpret_cast<sockaddr*>(&address), AddressSize(address)), 0);
  Driver driver{DriverOptions{}};
  const auto opened = UdpPort::Open(LoopbackOfTest(2), {}, &driver, nullptr);
  EXPECT_EQ(opened.status().code(), Code::kInUse);
  const std::string reason(opened.status().reason());
  EXPECT_NE(reason.find("UDP port 4791 of " + HostText(address)), std::string::npos) << reason;
  EXPECT_NE(reason.find("process " + std::to_string(getpid())), std::string::npos) << reason;
}

// Another user's socket is found before anything is opened. A member's is no hindrance.
TEST(UdpPort, APortOfAnotherUserIsFoundAndNamed) {
  const UniqueFd other(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage address = LoopbackOfTest(2);
  EXPECT_TRUE(CheckReceiverPort(address, geteuid() + 1).ok());
  SetSocketPort(roce::kUdpPort, &address);
  ASSERT_EQ(bind(other.get(), reinterpret_cast<sockaddr*>(&address), AddressSize(address)), 0);
  const Status taken = CheckReceiverPort(LoopbackOfTest(2), geteuid() + 1);
  EXPECT_EQ(taken.code(), Code::kInUse);
  EXPECT_NE(taken.reason().find("process " + std::to_string(getpid())), std::string::npos)
      << taken.reason();
  EXPECT_TRUE(CheckReceiverPort(LoopbackOfTest(2), geteuid()).ok());
  EXPECT_TRUE(CheckReceiverPort(LoopbackOfTest(0), geteuid() + 1).ok());
}

TEST(UdpPort, AnAddressOfNoHostIsRefused) {
  Driver driver{DriverOptions{}};
  sockaddr_storage any{};
  EXPECT_EQ(UdpPort::Open(any, {}, &driver, nullptr).status().code(), Code::kAddressUnsupported);
  any.ss_family = AF_INET;
  EXPECT_EQ(UdpPort::Open(any, {}, &driver, nullptr).status().code(), Code::kAddressUnsupported);
}

TEST(UdpPort, TheSinkMayCloseThePort) {
  PortNode a(LoopbackOfTest(0)), b(LoopbackOfTest(1));
  std::atomic<bool> closed{false};
  b.on_packet = [&](const Arrival&) {
    b.ClosePort();
    closed = true;
  };
  TestPackets packets;
  for (int i = 0; i < 3; ++i) packets.Add(b.qpn(), PayloadOf(8, 1));
  ASSERT_TRUE(a.SendTo(b, packets));
  ASSERT_TRUE(b.Until([&] { return closed.load(); }));
  EXPECT_EQ(b.kept().size(), 1u);
  EXPECT_EQ(b.batches, 0);
}

TEST(UdpPort, TellsWhenTheSenderIsWritable) {
  PortNode a(LoopbackOfTest(0));
  a.port().WantWritable();
  ASSERT_TRUE(a.Until([&] { return a.writables == 1; }));
  a.port().WantWritable();
  ASSERT_TRUE(a.Until([&] { return a.writables == 2; }));
}

}  // namespace
}  // namespace softdat::softnet
