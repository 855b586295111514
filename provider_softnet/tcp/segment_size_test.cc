// SPDX-License-Identifier: BSD-3-Clause
// SegmentSize of connections over the loopback interface. A new connection says what will be true
// when its window has grown.
#include <errno.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/tcp/socket_util.h"

namespace softdat::softnet {
namespace {

class SegmentSizeTest : public testing::Test {
 protected:
  // `most`: the largest segment that the listener announces. 0: what its interface can take.
  void Connect(int most = 0) {
    const UniqueFd listener(socket(AF_INET, SOCK_STREAM, 0));
    if (most != 0) {
      ASSERT_EQ(setsockopt(listener.get(), IPPROTO_TCP, TCP_MAXSEG, &most, sizeof most), 0);
    }
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
    ASSERT_EQ(listen(listener.get(), 1), 0);
    ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    near_ = UniqueFd(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(near_.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
    far_ = UniqueFd(accept(listener.get(), nullptr, nullptr));
    ASSERT_TRUE(far_.valid());
  }

  // Moves so much that the window has grown to what it can be.
  void MoveMuch() {
    std::vector<uint8_t> bytes(1 << 20);
    const iovec iov{bytes.data(), bytes.size()};
    for (size_t left = 32 << 20; left > 0;) {
      const ssize_t sent = SendNow(near_.get(), &iov, 1);
      ASSERT_TRUE(sent > 0 || errno == EAGAIN);
      pollfd arrived{far_.get(), POLLIN, 0};
      ASSERT_EQ(poll(&arrived, 1, 10'000), 1);
      const ssize_t got = ReceiveNow(far_.get(), &iov, 1);
      ASSERT_GT(got, 0);
      left -= std::min(left, static_cast<size_t>(got));
    }
  }

  size_t Sends() const {
    int bytes = 0;
    socklen_t size = sizeof bytes;
    return getsockopt(near_.get(), IPPROTO_TCP, TCP_MAXSEG, &bytes, &size) == 0
               ? static_cast<size_t>(bytes)
               : 0;
  }

  static size_t MtuOfLoopback() {
    const UniqueFd fd(socket(AF_INET, SOCK_DGRAM, 0));
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    return ioctl(fd.get(), SIOCGIFMTU, &request) == 0 ? static_cast<size_t>(request.ifr_mtu) : 0;
  }

  UniqueFd near_, far_;
};

TEST_F(SegmentSizeTest, IsWhatIsSentWhenTheWindowHasGrown) {
  Connect();
  const size_t announced = SegmentSize(near_.get());
  MoveMuch();
  EXPECT_LE(announced, Sends());
  constexpr size_t kMostHeaders = 72;
  EXPECT_GE(announced, std::min<size_t>(MtuOfLoopback(), UINT16_MAX) - kMostHeaders);
}

TEST_F(SegmentSizeTest, IsNoMoreThanThePeerTakes) {
  Connect(1400);
  EXPECT_EQ(SegmentSize(near_.get()), Sends());
  EXPECT_LE(SegmentSize(near_.get()), 1400U);
}

TEST_F(SegmentSizeTest, IsSafeForWhatIsNoConnection) { EXPECT_EQ(SegmentSize(-1), 1448U); }

}  // namespace
}  // namespace softdat::softnet
