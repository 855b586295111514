// SPDX-License-Identifier: BSD-3-Clause
// Anything may come to a listening port, and peers may end badly. Only their own connections may
// suffer.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/adapter/bench_node.h"
#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/tcp/socket_util.h"
#include "wire/iwarp/mpa.h"

namespace softdat::softnet {
namespace {

using Wait = BenchNode::Wait;

class IntruderTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.handshake_timeout = std::chrono::milliseconds(300);
    options_.close_timeout = std::chrono::milliseconds(300);
    options_.connect_grace = std::chrono::milliseconds(20);
    node_ = std::make_unique<BenchNode>(options_, 8192, 16);
    ASSERT_EQ(node_->PostReceive(4096, 64), Code::kOk);
    qual_ = node_->Listen();
    ASSERT_NE(qual_, 0u);
  }

  UniqueFd ConnectRaw(uint64_t qual) {
    UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_storage a = Loopback();
    SetSocketPort(PortOfQualifier(qual), &a);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&a), sizeof(sockaddr_in)), 0);
    return fd;
  }
  // Whether the other end has answered only with its end or a reset.
  bool IsDropped(int fd) {
    return node_->Until(Wait::kPoll, [&] {
      char buffer[64];
      const ssize_t n = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
      return n == 0 || (n < 0 && errno != EAGAIN);
    });
  }
  // A correct peer must still get its connection.
  void ExpectStillServing() {
    BenchNode other(options_, 8192, 16);
    ASSERT_TRUE(other.Connect(qual_, Loopback()));
    ASSERT_TRUE(other.Until(Wait::kPoll, [&] {
      node_->adapter().Progress(nullptr, transport::Clock::now());
      return other.established() && node_->established();
    })) << other.why();
    ASSERT_EQ(other.PostSend(0, 64, 0), Code::kOk);
    while (node_->receives == 0) ASSERT_TRUE(node_->ReapOne(Wait::kSleep));
  }

  TcpOptions options_;
  std::unique_ptr<BenchNode> node_;
  uint64_t qual_ = 0;
};

TEST_F(IntruderTest, GarbageIsDropped) {
  const UniqueFd fd = ConnectRaw(qual_);
  const std::string text = "GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n";
  ASSERT_EQ(send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
  EXPECT_TRUE(IsDropped(fd.get()));
  EXPECT_FALSE(node_->established());
  ExpectStillServing();
}

TEST_F(IntruderTest, HalfARequestIsDroppedAfterTheTimeLimit) {
  const UniqueFd fd = ConnectRaw(qual_);
  ASSERT_EQ(send(fd.get(), iwarp::kMpaRequestKey, 10, MSG_NOSIGNAL), 10);
  EXPECT_TRUE(IsDropped(fd.get()));
  ExpectStillServing();
}

TEST_F(IntruderTest, SilenceIsDroppedAfterTheTimeLimit) {
  const UniqueFd fd = ConnectRaw(qual_);
  EXPECT_TRUE(IsDropped(fd.get()));
  ExpectStillServing();
}

TEST_F(IntruderTest, TooMuchPrivateDataIsDropped) {
  const UniqueFd fd = ConnectRaw(qual_);
  uint8_t frame[iwarp::kMpaHeaderSize] = {};
  memcpy(frame, iwarp::kMpaRequestKey, iwarp::kMpaKeySize);
  frame[17] = 1;
  frame[18] = 0xff;  // 65280 bytes to come
  ASSERT_EQ(send(fd.get(), frame, sizeof(frame), MSG_NOSIGNAL),
            static_cast<ssize_t>(sizeof(frame)));
  EXPECT_TRUE(IsDropped(fd.get()));
  ExpectStillServing();
}

TEST_F(IntruderTest, APeerThatGoesAwayDuringTheRequestIsForgotten) {
  for (int i = 0; i < 20; ++i) {
    const UniqueFd fd = ConnectRaw(qual_);
    ASSERT_EQ(send(fd.get(), iwarp::kMpaRequestKey, static_cast<size_t>(i) % 16 + 1, MSG_NOSIGNAL),
              i % 16 + 1);
    if (i % 2 == 0) ResetOnClose(fd.get());
  }
  ExpectStillServing();
}

TEST_F(IntruderTest, AFloodOfSilentConnectionsPushesOutItsOldest) {
  options_.max_half_open = 8;
  node_ = std::make_unique<BenchNode>(options_, 8192, 16);
  ASSERT_EQ(node_->PostReceive(4096, 64), Code::kOk);
  qual_ = node_->Listen();
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(ConnectRaw(qual_));
  EXPECT_TRUE(IsDropped(silent.front().get()));
  ExpectStillServing();
}

TEST_F(IntruderTest, AnAcceptedPeerThatSaysNothingIsGivenUp) {
  const UniqueFd fd = ConnectRaw(qual_);
  uint8_t frame[iwarp::kMpaHeaderSize + 4] = {};
  memcpy(frame, iwarp::kMpaRequestKey, iwarp::kMpaKeySize);
  frame[16] = 0x10;  // enhanced
  frame[17] = 2;
  frame[19] = 4;
  frame[20] = 0x80;  // peer-to-peer
  frame[22] = 0x80;  // with a zero-length write as first message
  ASSERT_EQ(send(fd.get(), frame, sizeof(frame), MSG_NOSIGNAL),
            static_cast<ssize_t>(sizeof(frame)));
  EXPECT_TRUE(node_->Until(Wait::kSleep, [&] { return node_->over(); }));
  EXPECT_EQ(node_->reject_reason(), transport::RejectReason::kAborted) << node_->why();
  EXPECT_FALSE(node_->established());
}

// These peers send no ready-to-receive message. The first thing that they do does not show that
// they are there.
class LateAcceptTest : public IntruderTest {
 protected:
  // A requester with MPA revision 1, whose request waits for an answer.
  UniqueFd RequestRaw() {
    node_->HoldRequests();
    UniqueFd fd = ConnectRaw(qual_);
    uint8_t frame[iwarp::kMpaHeaderSize] = {};
    memcpy(frame, iwarp::kMpaRequestKey, iwarp::kMpaKeySize);
    frame[17] = 1;
    EXPECT_EQ(send(fd.get(), frame, sizeof(frame), MSG_NOSIGNAL),
              static_cast<ssize_t>(sizeof(frame)));
    EXPECT_TRUE(node_->Until(Wait::kSleep, [&] { return node_->holds_request(); }));
    return fd;
  }
  // Returns when the node's kernel has this end's FIN.
  void HalfClose(const UniqueFd& fd) {
    ASSERT_EQ(shutdown(fd.get(), SHUT_WR), 0);
    ASSERT_TRUE(node_->Until(Wait::kPoll, [&] { return TcpStateOf(fd.get()) == TCP_FIN_WAIT2; }));
  }
  void ExpectFailed() {
    ASSERT_TRUE(node_->AcceptHeld());
    EXPECT_TRUE(node_->Until(Wait::kSleep, [&] { return node_->over(); }));
    EXPECT_FALSE(node_->established());
    EXPECT_EQ(node_->reject_reason(), transport::RejectReason::kAborted) << node_->why();
    node_->ReapAll();
    EXPECT_EQ(node_->qp().OutstandingReceives(), 0u) << "flushed";
  }
};

TEST_F(LateAcceptTest, ARequesterThatClosedBeforeFailsTheAccept) {
  UniqueFd fd = RequestRaw();
  HalfClose(fd);
  fd.Close();
  ExpectFailed();
}

TEST_F(LateAcceptTest, SoDoesOneThatReset) {
  UniqueFd fd = RequestRaw();
  ResetOnClose(fd.get());
  fd.Close();
  ExpectFailed();
}

TEST_F(LateAcceptTest, ARequesterThatIsThereIsEstablished) {
  const UniqueFd fd = RequestRaw();
  ASSERT_TRUE(node_->AcceptHeld());
  EXPECT_TRUE(node_->Until(Wait::kSleep, [&] { return node_->established(); }));
  EXPECT_FALSE(node_->over()) << node_->why();
}

// The requester had its Reply, and so a connection. It may leave the connection without a word.
TEST_F(LateAcceptTest, ARequesterThatClosesBehindTheReplyWasEstablished) {
  UniqueFd fd = RequestRaw();
  ASSERT_TRUE(node_->AcceptHeld());
  char reply[iwarp::kMpaHeaderSize];
  ASSERT_EQ(recv(fd.get(), reply, sizeof(reply), MSG_WAITALL), static_cast<ssize_t>(sizeof(reply)));
  fd.Close();
  EXPECT_TRUE(node_->Until(Wait::kSleep, [&] { return node_->over(); }));
  EXPECT_TRUE(node_->established());
  EXPECT_EQ(node_->end_reason(), transport::EndReason::kDisconnected) << node_->why();
}

TEST_F(IntruderTest, ForeignAnswersAreNonPeerRejects) {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_storage a = Loopback();
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&a), sizeof(sockaddr_in)), 0);
  ASSERT_EQ(listen(listener.get(), 4), 0);
  const uint64_t port = SocketPort(LocalAddressOf(listener.get()));
  BenchNode client(options_, 8192, 16);
  ASSERT_TRUE(client.Connect(port, Loopback()));
  std::vector<UniqueFd> served;
  EXPECT_TRUE(client.Until(Wait::kPoll, [&] {
    UniqueFd fd(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.valid()) {
      EXPECT_GT(send(fd.get(), "220 mail ready for you, and more\r\n", 34, MSG_NOSIGNAL), 0);
      served.push_back(std::move(fd));
    }
    return client.over();
  }));
  EXPECT_GE(served.size(), 1u);
  EXPECT_EQ(client.reject_reason(), transport::RejectReason::kNonPeer) << client.why();
}

// Runs a peer in a process of its own, forked before this one has threads. The peer connects to the
// qualifier that it reads from the pipe, and sends without end. Returns its pid.
pid_t StartPeer(int* qualifier_pipe) {
  int fds[2];
  if (pipe(fds) != 0) return -1;
  *qualifier_pipe = fds[1];
  const pid_t child = fork();
  if (child != 0) {
    close(fds[0]);
    return child;
  }
  uint64_t qual = 0;
  if (read(fds[0], &qual, sizeof(qual)) != static_cast<ssize_t>(sizeof(qual))) _exit(1);
  BenchNode peer(TcpOptions{}, 1 << 20, 64);
  if (!peer.Connect(qual, Loopback())) _exit(1);
  peer.Until(Wait::kSleep, [&] { return peer.established() || peer.over(); });
  while (!peer.over()) {
    peer.PostSend(0, 1 << 18, 0);
    if (!peer.ReapOne(Wait::kSleep)) break;
  }
  _exit(0);
}

class KilledPeerTest : public testing::TestWithParam<int> {};

TEST_P(KilledPeerTest, EndsTheConnectionAndNothingElse) {
  int qualifier_pipe = -1;
  const pid_t peer = StartPeer(&qualifier_pipe);
  ASSERT_GT(peer, 0);
  BenchNode node(TcpOptions{}, 1 << 20, 64);
  for (int i = 0; i < 8; ++i) ASSERT_EQ(node.PostReceive(4096, 1 << 18), Code::kOk);
  const uint64_t qual = node.Listen();
  ASSERT_EQ(write(qualifier_pipe, &qual, sizeof(qual)), static_cast<ssize_t>(sizeof(qual)));
  close(qualifier_pipe);
  ASSERT_TRUE(node.Until(Wait::kSleep, [&] { return node.established(); }));
  // The peer is killed in the middle of messages or, with all eight received, while data wait for a
  // receive.
  while (node.receives < static_cast<uint64_t>(GetParam())) ASSERT_TRUE(node.ReapOne(Wait::kSleep));
  kill(peer, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(peer, &status, 0), peer);
  // The data that the peer's kernel still holds are delivered before its end shows, because TCP
  // keeps the order.
  EXPECT_TRUE(node.Until(Wait::kSleep, [&] {
    while (node.Reap()) {
      if (!node.over()) node.PostReceive(4096, 1 << 18);
    }
    if (node.qp().OutstandingReceives() == 0 && !node.over()) node.PostReceive(4096, 1 << 18);
    return node.over();
  }));
  node.ReapAll();
  EXPECT_EQ(node.qp().OutstandingReceives(), 0u) << "flushed";
}

INSTANTIATE_TEST_SUITE_P(AfterMessages, KilledPeerTest, testing::Values(0, 1, 3, 8));

}  // namespace
}  // namespace softdat::softnet
