// SPDX-License-Identifier: BSD-3-Clause
#include "provider_softnet/udp/port_holder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

#include "dat/base/socket_address.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {
namespace {

using testing::HasSubstr;
using testing::Not;

// Of a machine with little-endian words, as soft-RoCE and a member of this project look there.
constexpr std::string_view kTable =
    "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode ref pointer drops            \n"
    "  512: 00000000:12B7 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 "
    "21873 2 0000000000000000 0         \n"
    " 1234: 0100007F:12B7 0100007F:C0DE 01 00000000:00000000 00:00000000 00000000  1000        0 "
    "4711 2 0000000000000000 0         \n"
    "junk\n";
constexpr std::string_view kTable6 =
    " 9: 000080FE00000000FF00FE0001000000:12B7 00000000000000000000000000000000:0000 07 "
    "00000000:00000000 00:00000000 00000000     7        0 99 2 0000000000000000 0";

TEST(PortHolder, RowsOfTheKernelsTable) {
  const std::vector<UdpSocketRow> rows = ParseUdpSockets(kTable, AF_INET);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(AddressText(rows[0].local), "0.0.0.0:4791");
  EXPECT_EQ(rows[0].user, 0u);
  EXPECT_EQ(rows[0].inode, 21873u);
  EXPECT_EQ(AddressText(rows[1].local), "127.0.0.1:4791");
  EXPECT_EQ(rows[1].user, 1000u);
  EXPECT_EQ(rows[1].inode, 4711u);
}

TEST(PortHolder, RowsOfIpv6) {
  const std::vector<UdpSocketRow> rows = ParseUdpSockets(kTable6, AF_INET6);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(AddressText(rows[0].local), "[fe80::fe:ff:0:1]:4791");
  EXPECT_EQ(rows[0].user, 7u);
  EXPECT_TRUE(ParseUdpSockets(kTable6, AF_INET).empty());
  EXPECT_TRUE(ParseUdpSockets(kTable, AF_INET6).empty());
}

TEST(PortHolder, TheKernelIsTakenForWhatNoProcessHas) {
  const std::vector<UdpSocketRow> rows = ParseUdpSockets(kTable, AF_INET);
  EXPECT_THAT(HolderText(rows[0], std::nullopt, true), HasSubstr("rdma_rxe"));
  EXPECT_THAT(HolderText(rows[0], std::nullopt, false), Not(HasSubstr("rdma_rxe")));
  EXPECT_THAT(HolderText(rows[0], ProcessName{12, "dtest"}, true),
              HasSubstr("process 12 (dtest) of user 0"));
  EXPECT_THAT(HolderText(rows[1], std::nullopt, true), HasSubstr("a process of user 1000"));
}

TEST(PortHolder, ASocketOfThisProcess) {
  const UniqueFd fd(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  ASSERT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&loopback), sizeof(loopback)), 0);
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  ASSERT_EQ(getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::vector<UdpSocketRow> rows = UdpSocketsAt(address);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].user, geteuid());
  const std::optional<ProcessName> process = ProcessOfSocket(rows[0].inode);
  ASSERT_TRUE(process);
  EXPECT_EQ(process->pid, getpid());
  EXPECT_THAT(WhoHolds(address), HasSubstr("process " + std::to_string(getpid())));
  SetSocketPort(1, &address);
  EXPECT_TRUE(UdpSocketsAt(address).empty());
}

}  // namespace
}  // namespace softdat::softnet
