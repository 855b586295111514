// SPDX-License-Identifier: BSD-3-Clause
// A peer that does not answer at all. The consumer's time limit and the kernel's limit have
// different results (semantics 9.2).
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>

#include "dat/base/socket_address.h"
#include "provider_softnet/adapter/bench_node.h"
#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/tcp/socket_util.h"

namespace softdat::softnet {
namespace {

using transport::RejectReason;
using Wait = BenchNode::Wait;

class SilentPeerTest : public testing::Test {
 protected:
  // Makes a port whose queue is full. Linux drops any further connection, as if nobody were there.
  void SetUp() override {
    listener_ = Socket();
    sockaddr_storage a = Loopback();
    ASSERT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&a), sizeof(sockaddr_in)), 0);
    ASSERT_EQ(listen(listener_.get(), 0), 0);
    address_ = LocalAddressOf(listener_.get());
    waiting_ = Socket();
    ASSERT_EQ(connect(waiting_.get(), reinterpret_cast<sockaddr*>(&address_), sizeof(sockaddr_in)),
              0);
  }
  static UniqueFd Socket() { return UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
  bool Connect(std::chrono::microseconds timeout) {
    transport::ConnectParameters p;
    p.remote = Loopback();
    p.conn_qual = SocketPort(address_);
    p.timeout = timeout;
    return node_.qp().Connect(p).ok();
  }
  // The node's socket while it asks for the connection. -1 when there is none.
  static int AskingSocket() {
    for (int fd = 3; fd < 256; ++fd) {
      if (TcpStateOf(fd) == TCP_SYN_SENT) return fd;
    }
    return -1;
  }

  UniqueFd listener_, waiting_;
  sockaddr_storage address_{};
  BenchNode node_{TcpOptions{}, 8192, 16};
};

// covers: semantics 9.2
TEST_F(SilentPeerTest, TheConsumersLimitIsATimeOut) {
  ASSERT_TRUE(Connect(std::chrono::milliseconds(50)));
  ASSERT_TRUE(node_.Until(Wait::kSleep, [&] { return node_.over(); }));
  EXPECT_EQ(node_.reject_reason(), RejectReason::kTimedOut) << node_.why();
}

// covers: semantics 9.2
TEST_F(SilentPeerTest, TheKernelsLimitMeansUnreachable) {
  ASSERT_TRUE(Connect(std::chrono::microseconds::max()));
  int fd = -1;
  ASSERT_TRUE(node_.Until(Wait::kPoll, [&] { return (fd = AskingSocket()) >= 0; }));
  // The kernel gives up at its first repetition, instead of after the usual minutes.
  const int limit_ms = 1;
  ASSERT_EQ(setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof(limit_ms)), 0);
  ASSERT_TRUE(node_.Until(Wait::kSleep, [&] { return node_.over(); }));
  EXPECT_EQ(node_.reject_reason(), RejectReason::kUnreachable) << node_.why();
  EXPECT_NE(node_.why().find("timed out"), std::string::npos) << node_.why();
}

}  // namespace
}  // namespace softdat::softnet
