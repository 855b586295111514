// SPDX-License-Identifier: BSD-3-Clause
// A variable that is not understood keeps this wire from being used, and names itself.
#include "provider_softnet/udp_wire/udp_wire.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>

namespace softdat::softnet {
namespace {

// Set before the first look at the settings, which a process reads once.
const int g_set = setenv("DAPL_ACK_TIMER", "32", 1);

TEST(UdpWire, AVariableThatIsNotUnderstoodIsNamed) {
  ASSERT_EQ(g_set, 0);
  sockaddr_storage loopback{};
  loopback.ss_family = AF_INET;
  reinterpret_cast<sockaddr_in*>(&loopback)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const Status status = MakeUdpWireFromSettings()->Check(loopback);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.reason().find("DAPL_ACK_TIMER=32 is not valid (int, 0..31)"), std::string::npos)
      << status.reason();
}

TEST(UdpWire, ThePathMtuIsWhatWasAskedForIfItFits) {
  const auto described = [](uint32_t asked, uint32_t interface) {
    RoceOptions options;
    options.mtu = asked;
    transport::AdapterAttributes a;
    a.mtu = interface;
    MakeUdpWire(options)->Describe(&a);
    return a.mtu;
  };
  EXPECT_EQ(described(0, 1500), 1024u);
  EXPECT_EQ(described(512, 1500), 512u);
  EXPECT_EQ(described(4096, 1500), 1024u);
}

}  // namespace
}  // namespace softdat::softnet
