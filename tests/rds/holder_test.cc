// SPDX-License-Identifier: BSD-3-Clause
// One process of an address tells those at other addresses where its ports are. When it dies,
// another one does.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/rds/af_rds.h"
#include "tests/rds/network.h"

namespace softdat::rds_test {
namespace {

constexpr const char* kElsewhere = "10.77.0.1";

// A process with a port here, which tells each number that it receives and sends it back.
std::unique_ptr<Process> Member(uint16_t* port) {
  auto process = std::make_unique<Process>([](int line) {
    const Rds socket = Rds::Bound();
    Tell(line, socket.port());
    while (true) {
      const Got got = Receive(socket);
      ASSERT_GE(got.result, 0);
      EXPECT_EQ(Send(socket, got.from, got.payload), got.result);
      if (got.payload == "end") break;
    }
    Hear(line);
  });
  *port = static_cast<uint16_t>(Hear(process->line()));
  return process;
}

// A process at the other address, which has never asked before, sends and receives a message.
void Ask(const in_addr& from, uint16_t port, const std::string& payload) {
  Process process([&](int) {
    const Rds socket;
    sockaddr_in own = AddressOf(0);
    own.sin_addr = from;
    ASSERT_EQ(bind(socket, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    EXPECT_EQ(Send(socket, AddressOf(port), payload), static_cast<ssize_t>(payload.size()));
    EXPECT_EQ(Receive(socket).payload, payload);
  });
}

// In a network of its own, in which nobody else has RDS. The second interface has another address.
void TakeOver(const std::string& prefix) {
  const in_addr elsewhere{inet_addr(kElsewhere)};
  setenv("SOFTDAT_RDS_IA", prefix.c_str(), 1);
  uint16_t first = 0, second = 0;
  const auto holder = Member(&first);
  const auto other = Member(&second);
  Ask(elsewhere, first, "1");
  Ask(elsewhere, second, "2");
  holder->Kill();
  Ask(elsewhere, second, "3");
  Ask(elsewhere, second, "end");
  Tell(other->line(), 0);
}

TEST(HolderTest, AnotherProcessTakesOver) {
  const char* const ia = std::getenv("SOFTDAT_RDS_IA");
  if (KernelDiffers("one process for the others") || ia == nullptr) GTEST_SKIP();
  // The adapters of all interfaces instead of the one of lo.
  const std::string name = ia;
  ASSERT_TRUE(name.ends_with("lo"));
  Process network([&](int line) {
    const bool made = EnterNetwork() && MakeInterface("elsewhere", kElsewhere);
    Tell(line, made ? 1 : 0);
    if (made) TakeOver(name.substr(0, name.size() - 2));
  });
  if (Hear(network.line()) == 0) GTEST_SKIP() << "no network of its own";
}

}  // namespace
}  // namespace softdat::rds_test
