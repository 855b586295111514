// SPDX-License-Identifier: BSD-3-Clause
// Questions about an address are answered from its bits.
#include "dat/base/socket_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

namespace softdat {
namespace {

sockaddr_storage Address(const char* text) {
  sockaddr_storage storage{};
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    std::memcpy(&storage, &v4, sizeof v4);
  } else if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    std::memcpy(&storage, &v6, sizeof v6);
  }
  return storage;
}

TEST(SocketAddress, OfNoHost) {
  for (const char* text :
       {"224.0.0.1", "239.255.255.255", "255.255.255.255", "ff01::99", "ff02::1"})
    EXPECT_TRUE(IsOfNoHost(Address(text))) << text;
  for (const char* text :
       {"10.7.0.1", "10.7.0.255", "127.0.0.1", "0.0.0.0", "240.0.0.1", "::1", "fe80::1", "::"})
    EXPECT_FALSE(IsOfNoHost(Address(text))) << text;
}

TEST(SocketAddress, Loopback) {
  for (const char* text : {"127.0.0.1", "127.255.0.9", "::1"})
    EXPECT_TRUE(IsLoopback(Address(text))) << text;
  for (const char* text : {"10.7.0.1", "128.0.0.1", "::", "fe80::1"})
    EXPECT_FALSE(IsLoopback(Address(text))) << text;
}

TEST(SocketAddress, WildcardAndSameHost) {
  EXPECT_TRUE(IsWildcard(Address("0.0.0.0")));
  EXPECT_TRUE(IsWildcard(Address("::")));
  EXPECT_FALSE(IsWildcard(Address("::1")));
  sockaddr_storage port = Address("10.7.0.1");
  SetSocketPort(4711, &port);
  EXPECT_EQ(SocketPort(port), 4711);
  EXPECT_TRUE(SameHost(port, Address("10.7.0.1")));
  EXPECT_FALSE(SameHost(port, Address("10.7.0.2")));
  EXPECT_FALSE(SameHost(port, Address("::ffff:10.7.0.1")));
}

TEST(SocketAddress, SizeAndPortOfBothFamilies) {
  EXPECT_EQ(AddressSize(Address("10.7.0.1")), sizeof(sockaddr_in));
  EXPECT_EQ(AddressSize(Address("::1")), sizeof(sockaddr_in6));
  EXPECT_EQ(AddressSize({}), 0u);
  sockaddr_storage six = Address("::1");
  SetSocketPort(4711, &six);
  EXPECT_EQ(SocketPort(six), 4711);
  EXPECT_TRUE(SameHost(six, Address("::1")));
}

TEST(SocketAddress, Text) {
  sockaddr_storage four = Address("10.7.0.1"), six = Address("fe80::1");
  SetSocketPort(4711, &four);
  SetSocketPort(4711, &six);
  EXPECT_EQ(HostText(four), "10.7.0.1");
  EXPECT_EQ(AddressText(four), "10.7.0.1:4711");
  EXPECT_EQ(HostText(six), "fe80::1");
  EXPECT_EQ(AddressText(six), "[fe80::1]:4711");
  EXPECT_EQ(HostText({}), "address family 0");
}

TEST(SocketAddress, UnmappedIsIPv4Again) {
  sockaddr_storage mapped = Address("::ffff:127.0.0.1");
  SetSocketPort(4711, &mapped);
  EXPECT_FALSE(IsLoopback(mapped));
  EXPECT_EQ(AddressText(Unmapped(mapped)), "127.0.0.1:4711");
  EXPECT_TRUE(IsLoopback(Unmapped(mapped)));
  EXPECT_EQ(HostText(Unmapped(Address("::1"))), "::1");
  EXPECT_EQ(HostText(Unmapped(Address("10.7.0.1"))), "10.7.0.1");
}

// Two addresses without a family are not the same host.
TEST(SocketAddress, OfNoFamily) {
  const sockaddr_storage none{};
  EXPECT_FALSE(SameHost(none, none));
  EXPECT_FALSE(IsLoopback(none));
  EXPECT_FALSE(IsWildcard(none));
  EXPECT_FALSE(IsOfNoHost(none));
}

}  // namespace
}  // namespace softdat
