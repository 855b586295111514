// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/info_report.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/rds.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

namespace softdat::tools {
namespace {

// What the next getsockopt finds.
struct {
  int option = 0;
  int each = 0;
  std::vector<uint8_t> octets;
  int calls = 0;
  size_t grows_by = 0;  // from one call to the next
  bool doubles = false;
} told;

int FakeGetsockopt(int, int level, int name, void* value, socklen_t* length) {
  EXPECT_EQ(level, SOL_RDS);
  ++told.calls;
  if (name != told.option) {
    errno = ENOPROTOOPT;
    return -1;
  }
  const size_t room = *length;
  *length = static_cast<socklen_t>(told.octets.size());
  const bool fits = room >= told.octets.size();
  if (fits && !told.octets.empty()) std::memcpy(value, told.octets.data(), told.octets.size());
  if (!fits) errno = ENOSPC;
  told.octets.resize((told.doubles ? 2 : 1) * told.octets.size() + told.grows_by);
  return fits ? told.each : -1;
}

const InfoListKind& Kind(char letter) {
  for (const InfoListKind& kind : InfoListKinds()) {
    if (kind.letter == letter) return kind;
  }
  throw std::logic_error("no such list");
}

template <typename Item>
InfoList Told(char letter, bool ipv6, const std::vector<Item>& items) {
  const InfoListKind& kind = Kind(letter);
  told = {};
  told.option = ipv6 ? kind.option6 : kind.option;
  told.each = sizeof(Item);
  told.octets.resize(items.size() * sizeof(Item));
  if (!items.empty()) std::memcpy(told.octets.data(), items.data(), told.octets.size());
  RdsCalls calls{};
  calls.getsockopt = FakeGetsockopt;
  InfoList list;
  bool missing = true;
  EXPECT_TRUE(AskInfoList(calls, 3, kind, ipv6, &list, &missing).ok());
  EXPECT_FALSE(missing);
  return list;
}

rds_info_counter CounterOf(const char* name, uint64_t value) {
  rds_info_counter out{};
  std::memcpy(out.name, name, strlen(name));
  out.value = value;
  return out;
}

TEST(InfoReportTest, CountersInTheColumnsOfRdsInfo) {
  const InfoList list =
      Told<rds_info_counter>('c', false, {CounterOf("conn_reset", 0), CounterOf("recv_ping", 12)});
  EXPECT_EQ(InfoText(list, {}),
            "\nCounters:\n"
            "              CounterName            Value\n"
            "               conn_reset                0\n"
            "                recv_ping               12\n");
  const InfoList before = Told<rds_info_counter>('c', false, {CounterOf("recv_ping", 15)});
  EXPECT_EQ(InfoText(list, {}, &before),
            "\nCounters:\n"
            "              CounterName            Value       Change\n"
            "               conn_reset                0           +0\n"
            "                recv_ping               12           -3\n");
}

TEST(InfoReportTest, Connections) {
  rds_info_connection item{};
  item.laddr = inet_addr("10.9.0.1");
  item.faddr = inet_addr("10.9.0.2");
  item.next_tx_seq = item.next_rx_seq = 3;
  item.flags = RDS_INFO_CONNECTION_FLAG_CONNECTED;
  std::memcpy(item.transport, "infiniband", 10);
  const InfoList list = Told<rds_info_connection>('n', false, {item});
  EXPECT_EQ(InfoText(list, {}),
            "\nRDS Connections:\n"
            "      LocalAddr      RemoteAddr  Tos           NextTX           NextRX Flgs\n"
            "       10.9.0.1        10.9.0.2    0                3                3 --C-\n");
  EXPECT_NE(InfoText(list, {.verbose = true}).find("--C- infiniband\n"), std::string::npos);
}

TEST(InfoReportTest, AllAsJson) {
  rds6_info_socket socket{};
  inet_pton(AF_INET6, "fd00::1", &socket.bound_addr);
  socket.bound_port = htons(4000);
  socket.sndbuf = 7;
  socket.inum = 99;
  const std::vector<InfoList> lists = {
      Told<rds_info_counter>('c', false, {CounterOf("a\xff", 1)}),
      Told<rds6_info_socket>('k', true, {socket}),
      Told<rds6_info_message>('r', true, {}),
  };
  const auto json = nlohmann::json::parse(InfoJson(lists));
  EXPECT_EQ(json["counters"].size(), 1u);
  EXPECT_EQ(json["sockets"][0]["bound_address"], "fd00::1");
  EXPECT_EQ(json["sockets"][0]["bound_port"], 4000);
  EXPECT_EQ(json["sockets"][0]["connected_port"], 0);
  EXPECT_EQ(json["sockets"][0]["inode"], 99);
  EXPECT_TRUE(json["received"].is_array());
  EXPECT_TRUE(json["received"].empty());
}

TEST(InfoReportTest, EveryListHasAsManyColumnsAsItSays) {
  const std::vector<uint8_t> zeros(4096);
  for (const InfoListKind& kind : InfoListKinds()) {
    EXPECT_EQ(kind.parse(zeros.data()).size(), kind.columns.size()) << kind.letter;
    if (kind.parse6 == nullptr) continue;
    EXPECT_EQ(kind.parse6(zeros.data()).size(), kind.columns.size()) << kind.letter;
  }
}

TEST(AskInfoListTest, AListThatIsNotThere) {
  told = {};
  RdsCalls calls{};
  calls.getsockopt = FakeGetsockopt;
  InfoList list;
  bool missing = false;
  EXPECT_TRUE(AskInfoList(calls, 3, Kind('T'), false, &list, &missing).ok());
  EXPECT_TRUE(missing);
}

TEST(AskInfoListTest, AListThatGrowsMeanwhile) {
  told = {RDS_INFO_COUNTERS,
          sizeof(rds_info_counter),
          std::vector<uint8_t>(10 * sizeof(rds_info_counter)),
          0,
          sizeof(rds_info_counter),
          false};
  RdsCalls calls{};
  calls.getsockopt = FakeGetsockopt;
  InfoList list;
  bool missing = false;
  EXPECT_TRUE(AskInfoList(calls, 3, Kind('c'), false, &list, &missing).ok());
  EXPECT_EQ(list.rows.size(), 11u);
  EXPECT_EQ(told.calls, 2);
  // And one that grows beyond all bounds.
  told.doubles = true;
  EXPECT_FALSE(AskInfoList(calls, 3, Kind('c'), false, &list, &missing).ok());
}

TEST(AskInfoListTest, ItemsOfAnotherSize) {
  told = {RDS_INFO_COUNTERS, 48, std::vector<uint8_t>(96), 0, 0, false};
  RdsCalls calls{};
  calls.getsockopt = FakeGetsockopt;
  InfoList list;
  bool missing = false;
  const Outcome outcome = AskInfoList(calls, 3, Kind('c'), false, &list, &missing);
  EXPECT_NE(outcome.message().find("another version"), std::string::npos);
}

}  // namespace
}  // namespace softdat::tools
