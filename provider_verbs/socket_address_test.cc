// SPDX-License-Identifier: BSD-3-Clause
// What an address is, from its bits.
#include "provider_verbs/socket_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

namespace softdat::verbs {
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
  SetPort(4711, &port);
  EXPECT_EQ(PortOfAddress(port), 4711);
  EXPECT_TRUE(SameHost(port, Address("10.7.0.1")));
  EXPECT_FALSE(SameHost(port, Address("10.7.0.2")));
  EXPECT_FALSE(SameHost(port, Address("::ffff:10.7.0.1")));
  EXPECT_EQ(Text(port), "10.7.0.1:4711");
}

}  // namespace
}  // namespace softdat::verbs
