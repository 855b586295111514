// SPDX-License-Identifier: BSD-3-Clause
// Items of RDS_INFO_*, octet by octet as tools read them, and what a program is told when it has
// too little room.
#include "rds/socket/info_items.h"

#include <gtest/gtest.h>
#include <linux/rds.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "rds/socket/test_pages.h"

namespace softdat::rds {
namespace {

using Octets = std::vector<uint8_t>;

Address V4(uint8_t last) { return {{10, 9, 0, last}, false, 0}; }
Address V6(uint8_t last) {
  return {{0xFD, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, last}, true, 0};
}
// How these stand in an item of IPv6 form.
Octets V6Octets(uint8_t last) {
  return {0xFD, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, last};
}
Octets Mapped(uint8_t last) { return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 9, 0, last}; }

// What an item should be: each member is put at its place, and all else is 0.
class Item {
 public:
  explicit Item(size_t size) : octets_(size) {}
  Item& Put(size_t at, const Octets& some) {
    std::copy(some.begin(), some.end(), octets_.begin() + static_cast<ptrdiff_t>(at));
    return *this;
  }
  // In the order of this host.
  template <typename T>
  Item& Number(size_t at, T value) {
    std::memcpy(octets_.data() + at, &value, sizeof value);
    return *this;
  }
  Item& Text(size_t at, const std::string& text) {
    return Put(at, Octets(text.begin(), text.end()));
  }
  const Octets& octets() const { return octets_; }

 private:
  Octets octets_;
};

Octets Joined(const std::vector<Item>& items) {
  Octets out;
  for (const Item& item : items) {
    out.insert(out.end(), item.octets().begin(), item.octets().end());
  }
  return out;
}

void Expect(const InfoItems& got, size_t each, const std::vector<Item>& items) {
  EXPECT_EQ(got.each, each);
  EXPECT_EQ(got.octets, Joined(items));
  EXPECT_EQ(got.room, items.size() * each);
}

// ---- options ----

TEST(InfoItemsTest, Options) {
  struct Row {
    int name;
    std::optional<InfoOption> option;
  };
  constexpr auto kV4 = InfoForm::kIpv4, kV6 = InfoForm::kIpv6;
  const Row rows[] = {
      {-1, {}},
      {0, {}},
      {9999, {}},
      {10000, InfoOption{InfoKind::kCounters, kV4}},
      {10001, InfoOption{InfoKind::kConnections, kV4}},
      {10002, {}},
      {10003, InfoOption{InfoKind::kSendMessages, kV4}},
      {10004, InfoOption{InfoKind::kRetransmitMessages, kV4}},
      {10005, InfoOption{InfoKind::kReceiveMessages, kV4}},
      {10006, InfoOption{InfoKind::kSockets, kV4}},
      {10007, {}},
      {10008, InfoOption{InfoKind::kRdmaConnections, kV4}},
      {10009, {}},
      {10010, {}},
      {10011, InfoOption{InfoKind::kConnections, kV6}},
      {10012, InfoOption{InfoKind::kSendMessages, kV6}},
      {10013, InfoOption{InfoKind::kRetransmitMessages, kV6}},
      {10014, InfoOption{InfoKind::kReceiveMessages, kV6}},
      {10015, InfoOption{InfoKind::kSockets, kV6}},
      {10016, {}},
      {10017, InfoOption{InfoKind::kRdmaConnections, kV6}},
      {10018, {}},
  };
  for (const Row& row : rows) EXPECT_EQ(InfoOptionOf(row.name), row.option) << row.name;
}

// ---- counters ----

TEST(InfoItemsTest, CountersInOrder) {
  Counters counters;
  for (size_t i = 0; i < kCounterNames.size(); ++i) counters.values[i] = 1000 + i;
  const InfoItems got = EncodeInfo(counters);
  std::vector<Item> expected;
  for (size_t i = 0; i < kCounterNames.size(); ++i) {
    expected.push_back(
        Item(40).Text(0, std::string(kCounterNames[i])).Number<uint64_t>(32, 1000 + i));
  }
  Expect(got, 40, expected);
}

TEST(CountersTest, Names) {
  ASSERT_EQ(kCounterNames.size(), 36u + 39u);
  EXPECT_EQ(kCounterNames[0], "conn_reset");
  EXPECT_EQ(kCounterNames[35], "send_stuck_rm");
  EXPECT_EQ(kCounterNames[36], "ib_connect_raced");
  EXPECT_EQ(kCounterNames[74], "ib_atomic_fadd");
  EXPECT_EQ(kCounterNames[static_cast<size_t>(Counter::kSendRdmaBytes)], "send_rdma_bytes");
  EXPECT_EQ(std::set(kCounterNames.begin(), kCounterNames.end()).size(), kCounterNames.size());
  for (size_t i = 0; i < kCounterNames.size(); ++i) {
    // The item ends with a 0, as it does on Linux.
    EXPECT_LT(kCounterNames[i].size(), 32u) << kCounterNames[i];
    EXPECT_EQ(kCounterNames[i].starts_with("ib_"), i >= 36) << kCounterNames[i];
  }
}

TEST(CountersTest, Counting) {
  Counters a, b;
  a.Count(Counter::kSendQueued);
  a.Count(Counter::kCopyFromUser, 4096);
  b.Count(Counter::kSendQueued, 2);
  a += b;
  EXPECT_EQ(a[Counter::kSendQueued], 3u);
  EXPECT_EQ(a[Counter::kCopyFromUser], 4096u);
  EXPECT_EQ(a[Counter::kConnReset], 0u);
}

// ---- connections ----

const std::vector<ConnectionInfo>& Connections() {
  static const std::vector<ConnectionInfo> all = {
      {V4(1), V4(2), 0x1122334455667788, 9222, "infiniband", RDS_INFO_CONNECTION_FLAG_CONNECTED, 3},
      {V6(1), V6(2), 7, 8, "loopback",
       RDS_INFO_CONNECTION_FLAG_SENDING | RDS_INFO_CONNECTION_FLAG_CONNECTING, 255},
  };
  return all;
}

TEST(InfoItemsTest, Connections) {
  Expect(EncodeInfo(Connections(), InfoForm::kIpv4), 42,
         {Item(42)
              .Number<uint64_t>(0, 0x1122334455667788)
              .Number<uint64_t>(8, 9222)
              .Put(16, {10, 9, 0, 1})
              .Put(20, {10, 9, 0, 2})
              .Text(24, "infiniband")
              .Put(40, {4, 3})});
  Expect(EncodeInfo(Connections(), InfoForm::kIpv6), 65,
         {Item(65)
              .Number<uint64_t>(0, 0x1122334455667788)
              .Number<uint64_t>(8, 9222)
              .Put(16, Mapped(1))
              .Put(32, Mapped(2))
              .Text(48, "infiniband")
              .Put(64, {4}),
          Item(65)
              .Number<uint64_t>(0, 7)
              .Number<uint64_t>(8, 8)
              .Put(16, V6Octets(1))
              .Put(32, V6Octets(2))
              .Text(48, "loopback")
              .Put(64, {3})});
}

// Tools take the name's last octet for flags.
TEST(InfoItemsTest, NamesOfTransports) {
  for (const std::string& name :
       {std::string(), std::string(15, 'x'), std::string(16, 'x'), std::string(100, 'x')}) {
    SCOPED_TRACE(name.size());
    const std::vector<ConnectionInfo> one = {{V4(1), V4(2), 0, 0, name, 0, 0}};
    const Octets v4 = EncodeInfo(one, InfoForm::kIpv4).octets;
    const Octets v6 = EncodeInfo(one, InfoForm::kIpv6).octets;
    const std::string told = name.substr(0, 15);
    EXPECT_STREQ(reinterpret_cast<const char*>(v4.data() + 24), told.c_str());
    EXPECT_STREQ(reinterpret_cast<const char*>(v6.data() + 48), told.c_str());
    EXPECT_EQ(v4[39], 0);
    EXPECT_EQ(v6[63], 0);
  }
}

// ---- messages ----

TEST(InfoItemsTest, Messages) {
  const std::vector<MessageInfo> all = {
      {{V4(1), 4001}, {V4(2), 0x1234}, 0x8877665544332211, 1 << 20, 7},
      {{V6(1), 1}, {V6(2), 65535}, 5, 0, 0},
  };
  Expect(EncodeInfo(all, InfoForm::kIpv4), 26,
         {Item(26)
              .Number<uint64_t>(0, 0x8877665544332211)
              .Number<uint32_t>(8, 1 << 20)
              .Put(12, {10, 9, 0, 1})
              .Put(16, {10, 9, 0, 2})
              .Put(20, {0x0F, 0xA1, 0x12, 0x34})
              .Put(25, {7})});
  Expect(EncodeInfo(all, InfoForm::kIpv6), 50,
         {Item(50)
              .Number<uint64_t>(0, 0x8877665544332211)
              .Number<uint32_t>(8, 1 << 20)
              .Put(12, Mapped(1))
              .Put(28, Mapped(2))
              .Put(44, {0x0F, 0xA1, 0x12, 0x34})
              .Put(49, {7}),
          Item(50)
              .Number<uint64_t>(0, 5)
              .Put(12, V6Octets(1))
              .Put(28, V6Octets(2))
              .Put(44, {0, 1, 0xFF, 0xFF})});
}

// ---- sockets ----

TEST(InfoItemsTest, Sockets) {
  const std::vector<SocketInfo> all = {
      {SocketName{V4(1), 4001}, SocketName{V4(2), 0x1234}, 106496, 212992, 0x1122334455667788},
      {std::nullopt, SocketName{V4(2), 3}, 1, 2, 3},
      {SocketName{V4(1), 2}, std::nullopt, 4, 5, 6},
      {std::nullopt, std::nullopt, 7, 8, 9},
      {SocketName{V6(1), 2}, SocketName{V6(2), 3}, 10, 11, 12},
  };
  const InfoItems v4 = EncodeInfo(all, InfoForm::kIpv4);
  EXPECT_EQ(v4.each, 28u);
  EXPECT_EQ(v4.room, 5 * 28u) << "of all sockets";
  EXPECT_EQ(v4.octets, Joined({
                           Item(28)
                               .Number<uint32_t>(0, 106496)
                               .Put(4, {10, 9, 0, 1})
                               .Put(8, {10, 9, 0, 2})
                               .Put(12, {0x0F, 0xA1, 0x12, 0x34})
                               .Number<uint32_t>(16, 212992)
                               .Number<uint64_t>(20, 0x1122334455667788),
                           Item(28)
                               .Number<uint32_t>(0, 4)
                               .Put(4, {10, 9, 0, 1})
                               .Put(12, {0, 2})
                               .Number<uint32_t>(16, 5)
                               .Number<uint64_t>(20, 6),
                       }));
  const auto v6 = [](uint32_t send, uint32_t receive, uint64_t inode) {
    return Item(52).Number(0, send).Number(40, receive).Number(44, inode);
  };
  Expect(EncodeInfo(all, InfoForm::kIpv6), 52,
         {v6(106496, 212992, 0x1122334455667788)
              .Put(4, Mapped(1))
              .Put(20, Mapped(2))
              .Put(36, {0x0F, 0xA1, 0x12, 0x34}),
          v6(1, 2, 3).Put(20, Mapped(2)).Put(38, {0, 3}),
          v6(4, 5, 6).Put(4, Mapped(1)).Put(36, {0, 2}), v6(7, 8, 9),
          v6(10, 11, 12).Put(4, V6Octets(1)).Put(20, V6Octets(2)).Put(36, {0, 2, 0, 3})});
}

// ---- RDMA connections ----

TEST(InfoItemsTest, RdmaConnections) {
  RdmaConnectionInfo up{V4(1), V4(2)};
  up.local_gid = {1, 2, 3};
  up.remote_gid = {4, 5, 6};
  up.max_send_requests = 0x01020304;
  up.max_receive_requests = 2;
  up.max_send_segments = 3;
  up.max_regions = 4;
  up.max_region_pages = 5;
  up.type_of_service = 6;
  up.service_level = 7;
  up.cache_allocations = 8;
  const RdmaConnectionInfo down{V6(1), V6(2)};
  const std::vector<RdmaConnectionInfo> all = {up, down};
  const auto behind_addresses = [](Item item, size_t at) {
    return item.Put(at, {1, 2, 3})
        .Put(at + 16, {4, 5, 6})
        .Number<uint32_t>(at + 32, 0x01020304)
        .Number<uint32_t>(at + 36, 2)
        .Number<uint32_t>(at + 40, 3)
        .Number<uint32_t>(at + 44, 4)
        .Number<uint32_t>(at + 48, 5)
        .Put(at + 52, {6, 7})
        .Number<uint32_t>(at + 56, 8);
  };
  Expect(EncodeInfo(all, InfoForm::kIpv4), 68,
         {behind_addresses(Item(68).Put(0, {10, 9, 0, 1}).Put(4, {10, 9, 0, 2}), 8)});
  Expect(EncodeInfo(all, InfoForm::kIpv6), 92,
         {behind_addresses(Item(92).Put(0, Mapped(1)).Put(16, Mapped(2)), 32),
          Item(92).Put(0, V6Octets(1)).Put(16, V6Octets(2))});
}

TEST(InfoItemsTest, NothingThere) {
  for (const InfoForm form : {InfoForm::kIpv4, InfoForm::kIpv6}) {
    const bool v6 = form == InfoForm::kIpv6;
    Expect(EncodeInfo(std::vector<ConnectionInfo>{}, form), v6 ? 65 : 42, {});
    Expect(EncodeInfo(std::vector<MessageInfo>{}, form), v6 ? 50 : 26, {});
    Expect(EncodeInfo(std::vector<SocketInfo>{}, form), v6 ? 52 : 28, {});
    Expect(EncodeInfo(std::vector<RdmaConnectionInfo>{}, form), v6 ? 92 : 68, {});
  }
}

// ---- the program's buffer ----

// What getsockopt gives for these items and this much room.
struct Given {
  int result = 0;
  socklen_t length = 0;
  Octets buffer;
};

Given Give(const InfoItems& items, socklen_t room) {
  Given out{0, room, Octets(room + 8, 0xEE)};
  out.result = GiveInfo(items, out.buffer.data(), &out.length);
  return out;
}

TEST(InfoItemsTest, RoomForTwoConnections) {
  const InfoItems items = EncodeInfo(Connections(), InfoForm::kIpv6);
  for (const socklen_t room : {0u, 1u, 64u, 65u, 66u, 129u, 130u, 131u, 1000u}) {
    SCOPED_TRACE(room);
    const Given given = Give(items, room);
    const bool fits = room >= 130;
    EXPECT_EQ(given.result, fits ? 65 : -ENOSPC);
    EXPECT_EQ(given.length, 130u);
    Octets expected(room + 8, 0xEE);
    if (fits) std::copy(items.octets.begin(), items.octets.end(), expected.begin());
    EXPECT_EQ(given.buffer, expected);
  }
}

TEST(InfoItemsTest, RoomForNothing) {
  const InfoItems items = EncodeInfo(std::vector<MessageInfo>{}, InfoForm::kIpv4);
  socklen_t length = 0;
  EXPECT_EQ(GiveInfo(items, nullptr, &length), 26);
  EXPECT_EQ(length, 0u);
  const Given given = Give(items, 100);
  EXPECT_EQ(given.result, 26);
  EXPECT_EQ(given.length, 0u);
}

// As a tool does it: without a buffer first, and then with as much as was said.
TEST(InfoItemsTest, AskedTwice) {
  const InfoItems items = EncodeInfo(Counters{});
  socklen_t length = 0;
  EXPECT_EQ(GiveInfo(items, nullptr, &length), -ENOSPC);
  ASSERT_EQ(length, 75 * 40u);
  const Given given = Give(items, length);
  EXPECT_EQ(given.result, 40);
  EXPECT_EQ(given.length, length);
}

// There has to be room for those, too, that are not told.
TEST(InfoItemsTest, RoomForSocketsThatAreNotTold) {
  const std::vector<SocketInfo> all = {{SocketName{V4(1), 1}, {}, 0, 0, 0}, {}};
  const InfoItems items = EncodeInfo(all, InfoForm::kIpv4);
  EXPECT_EQ(Give(items, 28).result, -ENOSPC);
  EXPECT_EQ(Give(items, 28).length, 56u);
  EXPECT_EQ(Give(items, 55).result, -ENOSPC);
  EXPECT_EQ(Give(items, 56).result, 28);
  EXPECT_EQ(Give(items, 56).length, 28u);
}

TEST(InfoItemsTest, BadBuffers) {
  const Pages pages("wr ");
  const auto most = static_cast<socklen_t>(INT_MAX - static_cast<int>(kPage) + 1);
  struct Row {
    const char* what;
    const void* at;
    socklen_t length;
    int expected;
  };
  const Row rows[] = {
      {"a page", pages.pointer(0), static_cast<socklen_t>(kPage), 0},
      {"a page and an octet that is only to be read", pages.pointer(0),
       static_cast<socklen_t>(kPage + 1), EAGAIN},
      {"only to be read", pages.pointer(1), 1, EAGAIN},
      {"not there", pages.pointer(2), 1, EAGAIN},
      {"no address", nullptr, 1, EAGAIN},
      {"no address, and no room", nullptr, 0, 0},
      {"not there, and no room", pages.pointer(2), 0, 0},
      {"-1", pages.pointer(0), static_cast<socklen_t>(-1), EINVAL},
      {"-1, and no address", nullptr, static_cast<socklen_t>(-1), EINVAL},
      {"the least", pages.pointer(0), static_cast<socklen_t>(INT_MIN), EINVAL},
      {"the greatest", pages.pointer(0), INT_MAX, EINVAL},
      {"one more than a call may have", pages.pointer(0), most + 1, EINVAL},
      {"as much as a call may have", nullptr, most, EAGAIN},
  };
  const InfoItems items = EncodeInfo(std::vector<MessageInfo>{}, InfoForm::kIpv4);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(CheckInfoBuffer(row.at, row.length), row.expected);
    socklen_t length = row.length;
    const int result = GiveInfo(items, const_cast<void*>(row.at), &length);
    EXPECT_EQ(result, row.expected == 0 ? 26 : -row.expected);
    EXPECT_EQ(length, row.expected == 0 ? 0 : row.length);
  }
}

}  // namespace
}  // namespace softdat::rds
