// SPDX-License-Identifier: BSD-3-Clause
// Whose end is noticed, and when.
#include "provider_softnet/udp_wire/peer_watch.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <set>
#include <vector>

#include "dat/base/cancel.h"

namespace softdat::softnet {
namespace {

sockaddr_storage Host(uint32_t address) {
  sockaddr_storage host{};
  host.ss_family = AF_INET;
  reinterpret_cast<sockaddr_in&>(host).sin_addr.s_addr = htonl(address);
  return host;
}

const sockaddr_storage kOwn = Host(INADDR_LOOPBACK);
const sockaddr_storage kOther = Host(0xc6336401);  // 198.51.100.1, which nobody has (RFC 5737)

class PeerWatchTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(loop_.Open().ok()); }

  // Until as many have gone.
  void Await(size_t many) {
    const CancelOff no_cancellation;
    while (gone_.size() < many) {
      loop_.Block(LoopClock::time_point::max(), no_cancellation);
      loop_.Dispatch();
    }
  }

  DriverCounters counters_;
  EventLoop loop_{&counters_};
  std::set<uint32_t> members_;
  std::vector<CmId> gone_;
  PeerWatch watch_{[this](const std::string&, uint32_t qpn) { return members_.contains(qpn); },
                   &loop_, [this](CmId id) { gone_.push_back(id); }};
};

TEST_F(PeerWatchTest, AMemberThatGoesIsNoticed) {
  members_ = {0x1001, 0x2001};
  watch_.Add(1, kOwn, 0x1001);
  watch_.Add(2, kOwn, 0x2001);
  members_ = {0x1001};
  Await(1);
  EXPECT_EQ(gone_, std::vector<CmId>{2});
}

// Its process may end while this end is still busy with making the connection.
TEST_F(PeerWatchTest, AMemberThatHasGoneBeforeItWasWatchedIsNoticed) {
  watch_.Add(1, kOwn, 0x1001);
  EXPECT_TRUE(gone_.empty()) << "not within the call";
  Await(1);
  EXPECT_EQ(gone_, std::vector<CmId>{1});
}

TEST_F(PeerWatchTest, PeersElsewhereAreNotWatched) {
  watch_.Add(1, kOther, 0x1001);
  watch_.Add(2, kOwn, 0x2001);
  watch_.Add(3, kOwn, 0x3001);
  watch_.Remove(3);
  Await(1);
  EXPECT_EQ(gone_, std::vector<CmId>{2});
}

}  // namespace
}  // namespace softdat::softnet
