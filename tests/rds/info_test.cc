// SPDX-License-Identifier: BSD-3-Clause
// What getsockopt tells of sockets, connections, messages and counters: RDS_INFO_*.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>

#include "tests/rds/af_rds.h"
#include "tests/rds/info_lists.h"

namespace softdat::rds_test {
namespace {

std::map<std::string, uint64_t> Counters(int socket) {
  std::map<std::string, uint64_t> out;
  for (const rds_info_counter& counter : ItemsOf<rds_info_counter>(socket, RDS_INFO_COUNTERS)) {
    const auto* const name = reinterpret_cast<const char*>(counter.name);
    out[{name, strnlen(name, sizeof counter.name)}] = counter.value;
  }
  return out;
}

// Those of a list that go to, or came to, this port.
std::vector<rds_info_message> MessagesTo(int option, uint16_t port, int socket) {
  std::vector<rds_info_message> out = ItemsOf<rds_info_message>(socket, option);
  std::erase_if(out, [&](const rds_info_message& message) {
    return ntohs(option == RDS_INFO_RECV_MESSAGES ? message.lport : message.fport) != port;
  });
  return out;
}

TEST_F(InfoTest, HowMuchRoomThereHasToBe) {
  const Rds socket = Rds::Bound();
  socklen_t length = 0;
  EXPECT_EQ(getsockopt(socket, SOL_RDS, RDS_INFO_COUNTERS, nullptr, &length), -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_GE(length, 36 * sizeof(rds_info_counter));
  std::vector<uint8_t> few(length - 1, 7);
  const socklen_t needed = length;
  length = static_cast<socklen_t>(few.size());
  EXPECT_EQ(getsockopt(socket, SOL_RDS, RDS_INFO_COUNTERS, few.data(), &length), -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(length, needed);
}

TEST_F(InfoTest, WhatThereIsNotAndWhatIsWrong) {
  const Rds socket;  // it need not be bound
  uint8_t room[64];
  socklen_t length = sizeof room;
  EXPECT_EQ(getsockopt(socket, SOL_RDS, RDS_INFO_COUNTERS + 2, room, &length), -1);
  EXPECT_EQ(errno, ENOPROTOOPT);
  length = static_cast<socklen_t>(-1);
  EXPECT_EQ(getsockopt(socket, SOL_RDS, RDS_INFO_COUNTERS, room, &length), -1);
  EXPECT_EQ(errno, EINVAL);
  length = 1 << 20;
  EXPECT_EQ(getsockopt(socket, SOL_RDS, RDS_INFO_COUNTERS, reinterpret_cast<void*>(8), &length),
            -1);
  EXPECT_TRUE(errno == EAGAIN || errno == EFAULT) << errno;
  EXPECT_FALSE(Counters(socket).empty());
}

TEST_F(InfoTest, Sockets) {
  const Rds socket = Rds::Bound(), other = Rds::Bound();
  const sockaddr_in peer = AddressOf(77);
  ASSERT_EQ(connect(other, reinterpret_cast<const sockaddr*>(&peer), sizeof peer), 0);
  const auto items = ItemsOf<rds_info_socket>(socket, RDS_INFO_SOCKETS);
  for (const Rds* const one : {&socket, &other}) {
    const auto found = std::ranges::find_if(
        items, [&](const rds_info_socket& item) { return ntohs(item.bound_port) == one->port(); });
    ASSERT_NE(found, items.end());
    EXPECT_TRUE(found->bound_addr == AddressOf(0).sin_addr.s_addr);
    EXPECT_EQ(ntohs(found->connected_port), one == &other ? 77 : 0);
    struct stat status {};
    ASSERT_EQ(fstat(*one, &status), 0);
    const uint64_t inode = found->inum;  // it is not aligned
    EXPECT_EQ(inode, status.st_ino);
    int limit = 0;
    socklen_t length = sizeof limit;
    ASSERT_EQ(getsockopt(*one, SOL_SOCKET, SO_SNDBUF, &limit, &length), 0);
    EXPECT_EQ(2 * found->sndbuf, static_cast<uint32_t>(limit));
  }
}

TEST_F(InfoTest, MessagesThatWaitForTheirReceiver) {
  const Rds socket = Rds::Bound(), target = Rds::Bound();
  EXPECT_EQ(Send(socket, AddressOf(target.port()), std::string(1234, 'x')), 1234);
  ASSERT_NE(Poll(target, POLLIN, 10000), 0);
  const auto waiting = MessagesTo(RDS_INFO_RECV_MESSAGES, target.port(), socket);
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_TRUE(waiting[0].len == 1234);
  EXPECT_EQ(ntohs(waiting[0].fport), socket.port());
  EXPECT_EQ(Receive(target).result, 1234);
  EXPECT_TRUE(MessagesTo(RDS_INFO_RECV_MESSAGES, target.port(), socket).empty());
}

TEST_F(InfoTest, MessagesThatWaitForTheirPeer) {
  const Rds socket = Rds::Bound();
  sockaddr_in nobody = AddressOf(4000);
  nobody.sin_addr.s_addr = htonl(0x7f630001);  // 127.99.0.1
  EXPECT_EQ(Send(socket, nobody, "waits"), 5);
  auto waiting = MessagesTo(RDS_INFO_SEND_MESSAGES, 4000, socket);
  std::erase_if(waiting, [&](const rds_info_message& message) {
    return message.faddr != nobody.sin_addr.s_addr || ntohs(message.lport) != socket.port();
  });
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_TRUE(waiting[0].len == 5);
  EXPECT_EQ(ntohs(waiting[0].lport), socket.port());
}

TEST_F(InfoTest, AConnectionAndWhatWasCounted) {
  Process peer([](int line) {
    const Rds own = Rds::Bound();
    Tell(line, own.port());
    const Got got = Receive(own);
    EXPECT_EQ(Send(own, got.from, "back"), 4);
    EXPECT_EQ(Hear(line), 1u);
  });
  const auto port = static_cast<uint16_t>(Hear(peer.line()));
  const Rds socket = Rds::Bound();
  std::map<std::string, uint64_t> before = Counters(socket);
  EXPECT_EQ(Send(socket, AddressOf(port), "forth"), 5);
  EXPECT_EQ(Receive(socket).payload, "back");
  std::map<std::string, uint64_t> after = Counters(socket);
  EXPECT_GE(after["send_queued"], before["send_queued"] + 1);
  EXPECT_GE(after["copy_from_user"], before["copy_from_user"] + 5);
  EXPECT_GE(after["recv_delivered"], before["recv_delivered"] + 1);
  EXPECT_GE(after["recv_bytes_added_to_sock"], before["recv_bytes_added_to_sock"] + 4);
  const auto connections = ItemsOf<rds_info_connection>(socket, RDS_INFO_CONNECTIONS);
  EXPECT_TRUE(std::ranges::any_of(connections, [](const rds_info_connection& item) {
    return (item.flags & RDS_INFO_CONNECTION_FLAG_CONNECTED) != 0 &&
           item.laddr == AddressOf(0).sin_addr.s_addr && item.next_tx_seq > 1 &&
           item.next_rx_seq > 1;
  }));
  const auto rdma = ItemsOf<rds_info_rdma_connection>(socket, RDS_INFO_IB_CONNECTIONS);
  EXPECT_TRUE(std::ranges::any_of(
      rdma, [](const rds_info_rdma_connection& item) { return item.max_send_wr > 0; }));
  Tell(peer.line(), 1);
  peer.Join();
}

// ---- other processes ----

TEST_F(InfoTest, SocketsMessagesAndCountersOfAnotherProcess) {
  Process other([](int line) {
    const Rds own = Rds::Bound();
    Tell(line, own.port());
    EXPECT_EQ(Hear(line), 1u);
    EXPECT_EQ(Receive(own).payload, "lies there");
    Tell(line, 2);
    EXPECT_EQ(Hear(line), 3u);
  });
  const auto port = static_cast<uint16_t>(Hear(other.line()));
  const Rds socket = Rds::Bound();
  EXPECT_TRUE(Lists(socket, port));
  EXPECT_TRUE(Lists(socket, socket.port()));
  const uint64_t before = Counters(socket)["recv_delivered"];
  EXPECT_EQ(Send(socket, AddressOf(port), "lies there"), 10);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (MessagesTo(RDS_INFO_RECV_MESSAGES, port, socket).empty()) {
    ASSERT_LT(std::chrono::steady_clock::now(), until);
  }
  const auto waiting = MessagesTo(RDS_INFO_RECV_MESSAGES, port, socket);
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_TRUE(waiting[0].len == 10);
  Tell(other.line(), 1);
  EXPECT_EQ(Hear(other.line()), 2u);
  EXPECT_TRUE(MessagesTo(RDS_INFO_RECV_MESSAGES, port, socket).empty());
  EXPECT_GE(Counters(socket)["recv_delivered"], before + 1);
  Tell(other.line(), 3);
  other.Join();
  EXPECT_FALSE(Lists(socket, port));
}

// A socket that is not bound needs no adapter, and its process may ask all the same.
TEST_F(InfoTest, AskedByAProcessThatHasBoundNothing) {
  Process other([](int line) {
    const Rds own = Rds::Bound();
    Tell(line, own.port());
    EXPECT_EQ(Hear(line), 1u);
  });
  const auto port = static_cast<uint16_t>(Hear(other.line()));
  const Rds socket;
  EXPECT_TRUE(Lists(socket, port));
  Tell(other.line(), 1);
}

TEST_F(InfoTest, AStoppedProcessHoldsNobodyUp) {
  Process other([](int line) {
    const Rds own = Rds::Bound();
    Tell(line, own.port());
    EXPECT_EQ(Hear(line), 1u);
  });
  const auto port = static_cast<uint16_t>(Hear(other.line()));
  const Rds socket = Rds::Bound();
  other.Stop();
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(Lists(socket, socket.port()));
  // It asks twice.
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
  other.Continue();
  EXPECT_TRUE(Lists(socket, port));
  Tell(other.line(), 1);
}

}  // namespace
}  // namespace softdat::rds_test
