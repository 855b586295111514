// SPDX-License-Identifier: BSD-3-Clause
// Tests of connections that are made and ended: both ends in this process, over TCP and softnet.
#include "tools/bench/connections.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <tuple>

namespace softdat::tools {
namespace {

constexpr uint64_t kTurns = 5;

struct Kind {
  const char* name;
  std::function<std::unique_ptr<Connections>(uint32_t at_once)> make;
};

class ConnectionsTest : public testing::TestWithParam<std::tuple<Kind, uint32_t>> {};

TEST_P(ConnectionsTest, ServerAndClientHaveTheSameTurns) {
  const auto& [kind, at_once] = GetParam();
  const auto server = kind.make(at_once);
  const auto client = kind.make(at_once);
  uint64_t port = 0;
  const Outcome listening = server->Listen(&port);
  ASSERT_TRUE(listening.ok()) << listening.message();
  std::jthread serving([&] {
    for (uint64_t turn = 0; turn < kTurns; ++turn) {
      const Outcome accepted = server->AcceptTurn();
      ASSERT_TRUE(accepted.ok()) << accepted.message();
    }
  });
  const Outcome prepared = client->PrepareToConnect(port);
  ASSERT_TRUE(prepared.ok()) << prepared.message();
  JobResult result;
  // The last turn is a whole one, too.
  const Outcome timed =
      TimeConnections(client.get(), kTurns * at_once - at_once / 2, at_once, &result);
  ASSERT_TRUE(timed.ok()) << timed.message();
  EXPECT_GT(result.seconds, 0);
  EXPECT_GT(result.client_cpu, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ConnectionsTest,
    testing::Combine(testing::Values(Kind{"tcp", MakeRawConnections},
                                     Kind{"handshake", MakeHandshakeConnections},
                                     Kind{"softnet",
                                          [](uint32_t at_once) {
                                            return MakeDatConnections("softnet-lo", at_once);
                                          }},
                                     Kind{"softnet_udp",
                                          [](uint32_t at_once) {
                                            return MakeDatConnections("softnet-udp-lo", at_once);
                                          }}),
                     testing::Values(1u, 64u)),
    [](const auto& test) {
      return std::string(std::get<0>(test.param).name) + std::to_string(std::get<1>(test.param));
    });

TEST(Connections, WhereNobodyListens) {
  for (const uint32_t at_once : {1u, 3u}) {
    const auto client = MakeDatConnections("softnet-lo", at_once);
    ASSERT_TRUE(client->PrepareToConnect(9).ok());
    EXPECT_NE(client->ConnectTurn().message().find("nobody listens"), std::string::npos);
  }
}

}  // namespace
}  // namespace softdat::tools
