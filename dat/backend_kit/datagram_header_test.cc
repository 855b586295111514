// SPDX-License-Identifier: BSD-3-Clause
#include "dat/backend_kit/datagram_header.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

namespace softdat {
namespace {

sockaddr_storage V4(const char* text) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  inet_pton(AF_INET, text, &in.sin_addr);
  sockaddr_storage out{};
  std::memcpy(&out, &in, sizeof in);
  return out;
}

sockaddr_storage V6(const char* text) {
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  inet_pton(AF_INET6, text, &in.sin6_addr);
  sockaddr_storage out{};
  std::memcpy(&out, &in, sizeof in);
  return out;
}

// The words 4500 0044 0000 4000 4011 c000 0201 c000 0202 sum up to 495a with their carries. The
// checksum is the complement.
TEST(DatagramHeaderTest, Ipv4) {
  const DatagramHeader header = MakeDatagramHeader(V4("192.0.2.1"), V4("192.0.2.2"), 40);
  const DatagramHeader expected = {
      0,    0,    0,    0,    0,    0,    0,    0,    0,    0,     // no meaning
      0,    0,    0,    0,    0,    0,    0,    0,    0,    0,     //
      0x45, 0x00, 0x00, 0x44, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,  //
      0xb6, 0xa5, 192,  0,    2,    1,    192,  0,    2,    2};
  EXPECT_EQ(header, expected);
}

TEST(DatagramHeaderTest, Ipv6) {
  const DatagramHeader header = MakeDatagramHeader(V6("2001:db8::1"), V6("2001:db8::2"), 40);
  DatagramHeader expected{};
  expected[0] = 0x60;
  expected[5] = 48;
  expected[6] = 17;
  expected[7] = 64;
  expected[8] = expected[24] = 0x20;
  expected[9] = expected[25] = 0x01;
  expected[10] = expected[26] = 0x0d;
  expected[11] = expected[27] = 0xb8;
  expected[23] = 1;
  expected[39] = 2;
  EXPECT_EQ(header, expected);
}

}  // namespace
}  // namespace softdat
