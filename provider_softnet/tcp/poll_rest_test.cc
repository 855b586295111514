// SPDX-License-Identifier: BSD-3-Clause
// A peer stops in the middle of a large message. Whoever polls for the rest leaves the socket alone
// between two looks, and misses nothing.
#include "provider_softnet/connection/poll_rest.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/adapter/bench_node.h"
#include "provider_softnet/driver/unique_fd.h"
#include "wire/crc32c.h"
#include "wire/iwarp/ddp.h"
#include "wire/iwarp/fpdu.h"
#include "wire/iwarp/mpa.h"

namespace softdat::softnet {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::steady_clock;
using Wait = BenchNode::Wait;

// The parameter: whether there is a CRC.
class PollRestTest : public testing::TestWithParam<bool> {
 protected:
  static constexpr size_t kMemory = 64 << 10;
  static constexpr uint32_t kReceives = 20;
  static constexpr uint8_t kWantsCrc = 0x40;

  void SetUp() override {
    for (uint32_t i = 0; i < kReceives; ++i) ASSERT_EQ(node_.PostReceive(0, kMemory), Code::kOk);
    const uint64_t qual = node_.Listen();
    ASSERT_NE(qual, 0u);
    sockaddr_storage a = Loopback();
    SetSocketPort(PortOfQualifier(qual), &a);
    ASSERT_EQ(connect(peer_.get(), reinterpret_cast<sockaddr*>(&a), sizeof(sockaddr_in)), 0);
    // A requester with MPA revision 1 needs no ready-to-receive message.
    std::vector<uint8_t> request(iwarp::kMpaHeaderSize);
    memcpy(request.data(), iwarp::kMpaRequestKey, iwarp::kMpaKeySize);
    request[16] = GetParam() ? kWantsCrc : 0;
    request[17] = 1;
    Say(request);
    ASSERT_TRUE(node_.Until(Wait::kPoll, [&] { return node_.established(); })) << node_.why();
  }

  void Say(const std::vector<uint8_t>& bytes, size_t from = 0, size_t to = SIZE_MAX) {
    const size_t size = std::min(to, bytes.size()) - from;
    ASSERT_EQ(send(peer_.get(), bytes.data() + from, size, MSG_NOSIGNAL),
              static_cast<ssize_t>(size));
  }

  // A whole message in one FPDU.
  static std::vector<uint8_t> Message(size_t payload, uint32_t number = iwarp::kFirstMsn) {
    const size_t ulpdu = iwarp::kUntaggedHeaderSize + payload;
    std::vector<uint8_t> fpdu(iwarp::FpduSize(ulpdu));
    iwarp::EncodeUntaggedFpduHeader(fpdu.data(), iwarp::Opcode::kSend, /*last=*/true, 0,
                                    iwarp::kQnSend, number, 0, payload);
    const auto begin = fpdu.begin() + iwarp::kUntaggedFpduHeaderSize;
    std::iota(begin, begin + static_cast<ptrdiff_t>(payload), uint8_t{1});
    const size_t covered = iwarp::FpduCrcOffset(ulpdu);
    if (GetParam()) StoreCrc32c(fpdu.data() + covered, Crc32c(fpdu.data(), covered));
    return fpdu;
  }

  // Polls until the node has looked in vain once, and then for some time. Returns how often it has
  // looked meanwhile, and how many rests would have fitted into that time.
  std::pair<uint64_t, uint64_t> LooksAndRests() {
    const Counter& vain = node_.channel().recv_empty;
    const uint64_t before = vain.value();
    while (vain.value() == before) node_.PollOnce();
    const uint64_t first = vain.value();
    const auto begin = steady_clock::now();
    for (int i = 0; i < 20'000; ++i) node_.PollOnce();
    const auto elapsed = duration_cast<microseconds>(steady_clock::now() - begin);
    return {vain.value() - first, static_cast<uint64_t>(elapsed / PollRest::kLength)};
  }

  BenchNode node_{TcpOptions(), kMemory, kReceives};
  UniqueFd peer_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

INSTANTIATE_TEST_SUITE_P(WithoutAndWithCrc, PollRestTest, testing::Bool());

TEST_P(PollRestTest, LooksAtALargePayloadAreARestApart) {
  constexpr size_t kPayload = 60'000;
  const std::vector<uint8_t> message = Message(kPayload);
  Say(message, 0, 30'000);
  const auto [looks, rests] = LooksAndRests();
  EXPECT_GT(looks, 0U);
  EXPECT_LE(looks, rests + 1);
  Say(message, 30'000);
  ASSERT_TRUE(node_.Until(Wait::kPoll, [&] { return node_.Reap(); }));
  EXPECT_EQ(node_.receives, 1U);
  EXPECT_EQ(memcmp(node_.memory(), message.data() + iwarp::kUntaggedFpduHeaderSize, kPayload), 0);
}

// Behind many small messages at once, the node reads 64 KiB at a time.
TEST_P(PollRestTest, SmallOnesAreLookedForAtEachPoll) {
  std::vector<uint8_t> burst;
  for (uint32_t i = 0; i + 1 < kReceives; ++i) {
    const std::vector<uint8_t> message = Message(2000, iwarp::kFirstMsn + i);
    burst.insert(burst.end(), message.begin(), message.end());
  }
  Say(burst);
  ASSERT_TRUE(node_.Until(Wait::kPoll, [&] {
    node_.ReapAll();
    return node_.receives + 1 == kReceives;
  }));
  const std::vector<uint8_t> last = Message(2000, iwarp::kFirstMsn + kReceives - 1);
  Say(last, 0, 1000);
  const auto [looks, rests] = LooksAndRests();
  EXPECT_GT(looks, 10'000U);
  Say(last, 1000);
  ASSERT_TRUE(node_.Until(Wait::kPoll, [&] { return node_.Reap(); }));
}

TEST_P(PollRestTest, TheEndIsSeen) {
  Say(Message(60'000), 0, 30'000);
  LooksAndRests();
  peer_.Close();
  EXPECT_TRUE(node_.Until(Wait::kPoll, [&] { return node_.over(); }));
}

TEST_P(PollRestTest, WhoSleepsIsWoken) {
  const std::vector<uint8_t> message = Message(60'000);
  Say(message, 0, 30'000);
  LooksAndRests();
  Say(message, 30'000);
  ASSERT_TRUE(node_.ReapOne(Wait::kSleep));
  EXPECT_EQ(node_.receives, 1U);
}

}  // namespace
}  // namespace softdat::softnet
