// SPDX-License-Identifier: BSD-3-Clause
// Lines of /proc/net/unix, in which other programs may have written what they like.
#include "rds/api/port_names.h"

#include <gtest/gtest.h>

#include <string>

namespace softdat::rds {
namespace {

constexpr Location kHere{4711, 40000};
constexpr Location kNowhere{};

SocketName Of4(uint16_t port) {
  SocketName name;
  name.address.octets = {10, 0, 0, 1};
  name.port = port;
  return name;
}

SocketName LinkLocal(uint32_t scope, uint16_t port) {
  SocketName name;
  name.address.ipv6 = true;
  name.address.octets[0] = 0xfe;
  name.address.octets[1] = 0x80;
  name.address.octets[15] = 1;
  name.address.scope = scope;
  name.port = port;
  return name;
}

std::string Line(const std::string& name) {
  return "0000000000000000: 00000002 00000000 00000000 0002 01 12345 @softdat-rds/" + name;
}

TEST(PortNames, APortIsWhereItsLineSays) {
  const std::string line = Line("10.0.0.1/4000/at/4711/40000");
  EXPECT_EQ(LocationIn(line, Of4(4000)), kHere);
  EXPECT_EQ(LocationIn(line, Of4(400)), kNowhere);
  EXPECT_EQ(LocationIn(line, Of4(40000)), kNowhere);
  EXPECT_EQ(LocationIn(line, LinkLocal(2, 4000)), kNowhere);
}

TEST(PortNames, AnAddressHasTheScopeOfItsLink) {
  const std::string line = Line("fe80::1%2/4000/at/4711/40000");
  EXPECT_EQ(LocationIn(line, LinkLocal(2, 4000)), kHere);
  EXPECT_EQ(LocationIn(line, LinkLocal(3, 4000)), kNowhere);
  EXPECT_EQ(LocationIn(line, LinkLocal(0, 4000)), kHere);
  EXPECT_EQ(LocationIn(line, LinkLocal(0, 4001)), kNowhere);
  EXPECT_EQ(LocationIn(Line("fe80::1%2x/4000/at/4711/40000"), LinkLocal(0, 4000)), kNowhere);
  EXPECT_EQ(LocationIn(Line("fe80::1%/4000/at/4711/40000"), LinkLocal(0, 4000)), kNowhere);
  EXPECT_EQ(LocationIn(Line("fe80::11%2/4000/at/4711/40000"), LinkLocal(0, 4000)), kNowhere);
}

TEST(PortNames, APingIsForAnyProcessOfTheAddress) {
  EXPECT_EQ(LocationIn(Line("10.0.0.1/4000/at/4711/40000"), Of4(kPingPort)), kHere);
  EXPECT_EQ(LocationIn(Line("10.0.0.1/1/at/4711/40000"), Of4(kPingPort)), kHere);
  EXPECT_EQ(LocationIn(Line("10.0.0.2/1/at/4711/40000"), Of4(kPingPort)), kNowhere);
  EXPECT_EQ(LocationIn(Line("10.0.0.1/4000"), Of4(kPingPort)), kNowhere);
  EXPECT_EQ(LocationIn(Line("10.0.0.1/kernel/10.0.0.2"), Of4(kPingPort)), kNowhere);
}

TEST(PortNames, WhatIsNoNumberIsNoLocation) {
  for (const char* name :
       {"10.0.0.1/4000/at/4711/", "10.0.0.1/4000/at/4711", "10.0.0.1/4000/at//40000",
        "10.0.0.1/4000/at/4711/40000x", "10.0.0.1/4000/at/4711/40000/1",
        "10.0.0.1/4000/at/-1/40000", "10.0.0.1/4000/at/4711/65536",
        "10.0.0.1/4000/at/4294967296/40000", "10.0.0.1/4000/at/0/40000", "10.0.0.1//at/4711/40000",
        "10.0.0.1/4000 /at/4711/40000", "10.0.0.1/69536/at/4711/40000", "10.0.0.1/", ""}) {
    EXPECT_EQ(LocationIn(Line(name), Of4(4000)), kNowhere) << name;
    EXPECT_EQ(LocationIn(Line(name), Of4(kPingPort)), kNowhere) << name;
  }
}

}  // namespace
}  // namespace softdat::rds
