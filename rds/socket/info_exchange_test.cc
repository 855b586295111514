// SPDX-License-Identifier: BSD-3-Clause
// What a process tells another one of its sockets.
#include "rds/socket/info_exchange.h"

#include <gtest/gtest.h>

#include "rds/socket/fake_link.h"

namespace softdat::rds {
namespace {

Info Some() {
  Info info;
  info.counters.Count(Counter::kSendQueued, 77);
  ConnectionInfo connection;
  connection.local = Ipv4(1);
  connection.remote = Ipv4(2);
  connection.next_send = uint64_t{1} << 40;
  connection.flags = 4;
  info.connections = {connection, {}};
  RdmaConnectionInfo rdma;
  rdma.local_gid[15] = 9;
  rdma.max_send_requests = 192;
  info.rdma_connections = {rdma, {}};
  SocketInfo socket;
  socket.bound = SocketName{Ipv4(1), 4000};
  socket.inode = 12345;
  info.sockets = {socket, {}};
  info.unsent = {{{Ipv4(1), 4000}, {Ipv4(2), 4001}, 3, 1000, 0}};
  info.arrived = {{{Ipv4(1), 4000}, {Ipv4(2), 4001}, 0, 8, 1}, {}};
  return info;
}

TEST(InfoExchangeTest, ArrivesAsItWas) {
  const Info sent = Some();
  const std::optional<Info> got = DecodeFromOther(EncodeForOthers(sent));
  ASSERT_TRUE(got);
  for (const InfoKind kind : {InfoKind::kCounters, InfoKind::kConnections, InfoKind::kSendMessages,
                              InfoKind::kRetransmitMessages, InfoKind::kReceiveMessages,
                              InfoKind::kSockets, InfoKind::kRdmaConnections}) {
    for (const InfoForm form : {InfoForm::kIpv4, InfoForm::kIpv6}) {
      const InfoItems a = EncodeInfo(sent, {kind, form}), b = EncodeInfo(*got, {kind, form});
      EXPECT_EQ(a.octets, b.octets) << static_cast<int>(kind);
      EXPECT_EQ(a.room, b.room);
    }
  }
}

TEST(InfoExchangeTest, WhatIsTooShortOrTooLongIsNothing) {
  std::vector<uint8_t> octets = EncodeForOthers(Some());
  for (size_t size = 0; size < octets.size(); ++size) {
    EXPECT_FALSE(DecodeFromOther(ByteSpan(octets).first(size))) << size;
  }
  octets.push_back(0);
  EXPECT_FALSE(DecodeFromOther(octets));
}

TEST(InfoExchangeTest, AnotherVersionIsNothing) {
  std::vector<uint8_t> octets = EncodeForOthers(Some());
  octets[0] ^= 1;
  EXPECT_FALSE(DecodeFromOther(octets));
}

TEST(InfoExchangeTest, OfMoreThanIsToldTheFirstAreTold) {
  Info info;
  info.sockets.resize(kMostInfoItems + 1);
  const std::vector<uint8_t> octets = EncodeForOthers(info);
  EXPECT_LT(octets.size(), kMostInfoOctets);
  const std::optional<Info> got = DecodeFromOther(octets);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->sockets.size(), kMostInfoItems);
}

TEST(InfoExchangeTest, OthersAreAdded) {
  Info all = Some();
  all += Some();
  EXPECT_EQ(all.counters[Counter::kSendQueued], 154u);
  EXPECT_EQ(all.sockets.size(), 4u);
  EXPECT_EQ(all.arrived.size(), 4u);
}

}  // namespace
}  // namespace softdat::rds
