// SPDX-License-Identifier: BSD-3-Clause
// Dead paths: the sockets of these connections drop everything that arrives, with a filter that the
// kernel runs before TCP. Either end sees a peer whose host has stopped answering.
#include "provider_softnet/connection/path_watch.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/adapter/bench_node.h"
#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/tcp/socket_util.h"
#include "wire/iwarp/mpa.h"

namespace softdat::softnet {
namespace {

using transport::EndReason;
using Wait = BenchNode::Wait;
using std::chrono::milliseconds;

// ---- the judge ----

class JudgeTest : public testing::Test {
 protected:
  // Lets 100 ms pass, and looks. The last answer was this long ago.
  bool Look(bool outstanding, bool asked, milliseconds since_answer) {
    now_ += milliseconds(100);
    return judge_.IsDead({outstanding, asked, since_answer}, now_, milliseconds(400));
  }
  PathJudge judge_;
  LoopClock::time_point now_{std::chrono::hours(1)};
};

TEST_F(JudgeTest, SilenceForTheLimitIsDeath) {
  // The connection was idle before, so an old last answer says nothing.
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(Look(true, true, milliseconds(60'000 + i * 100)));
  EXPECT_TRUE(Look(true, true, milliseconds(60'400)));
}

TEST_F(JudgeTest, AnAnswerBeginsAnew) {
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(Look(true, true, milliseconds(1'000 + i * 100)));
  EXPECT_FALSE(Look(true, true, milliseconds(50)));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Look(true, true, milliseconds(150 + i * 100)));
  EXPECT_TRUE(Look(true, true, milliseconds(450)));
}

TEST_F(JudgeTest, WhoHasNothingOutstandingOrWasNotAskedIsNotSilent) {
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(Look(false, false, milliseconds(i * 100)));
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(Look(true, false, milliseconds(i * 100)));
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(Look(true, i % 4 != 0, milliseconds(5'000 + i * 100)));
}

// ---- connections ----

TcpOptions Watchful(milliseconds dead_path) {
  TcpOptions options;
  options.dead_path = dead_path;
  return options;
}

// The TCP connections of this process.
std::vector<int> AllPaths() {
  constexpr int kMostDescriptors = 1024;
  std::vector<int> paths;
  for (int fd = 3; fd < kMostDescriptors; ++fd) {
    int protocol = 0;
    socklen_t size = sizeof(protocol);
    if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) != 0) continue;
    if (protocol != IPPROTO_TCP || RemoteAddressOf(fd).ss_family == AF_UNSPEC) continue;
    paths.push_back(fd);
  }
  return paths;
}

void CutAllPaths() {
  sock_filter drop_all[] = {{BPF_RET | BPF_K, 0, 0, 0}};
  const sock_fprog program{1, drop_all};
  const std::vector<int> paths = AllPaths();
  ASSERT_EQ(paths.size(), 2u);
  for (const int fd : paths) {
    ASSERT_EQ(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)), 0);
  }
}

class DeadPathTest : public testing::TestWithParam<Wait> {
 protected:
  static constexpr size_t kSize = 1 << 20;

  void Join(milliseconds dead_path) {
    a_ = std::make_unique<BenchNode>(Watchful(dead_path), kSize, 64);
    b_ = std::make_unique<BenchNode>(Watchful(dead_path), kSize, 64);
    ASSERT_TRUE(a_->Connect(b_->Listen(), Loopback()));
    ASSERT_TRUE(a_->Until(GetParam(), [&] {
      b_->adapter().Progress(nullptr, transport::Clock::now());
      return a_->established() && b_->established();
    }));
  }
  // When a message is confirmed, everything of the start-up before it has arrived. Then TCP must
  // acknowledge what is still under way.
  void BecomeIdle() {
    ASSERT_EQ(b_->PostReceive(0, 64), Code::kOk);
    ASSERT_EQ(a_->PostSend(0, 64, 0), Code::kOk);
    ASSERT_TRUE(a_->ReapOne(GetParam()));
    ASSERT_TRUE(b_->ReapOne(GetParam()));
    const std::vector<int> paths = AllPaths();
    ASSERT_TRUE(a_->Until(Wait::kPoll, [&] {
      b_->adapter().Progress(nullptr, transport::Clock::now());
      return std::ranges::none_of(paths, [](int fd) { return SamplePath(fd).outstanding; });
    }));
  }
  void ExpectBroken(BenchNode* node, const std::string& why) {
    ASSERT_TRUE(node->Until(GetParam(), [&] { return node->over(); }));
    EXPECT_EQ(node->end_reason(), EndReason::kBroken);
    EXPECT_NE(node->why().find(why), std::string::npos) << node->why();
  }

  std::unique_ptr<BenchNode> a_, b_;
};

INSTANTIATE_TEST_SUITE_P(, DeadPathTest, testing::Values(Wait::kPoll, Wait::kSleep));

TEST_P(DeadPathTest, IsReportedWithDataUnderWay) {
  Join(milliseconds(400));
  CutAllPaths();
  ASSERT_EQ(a_->PostSend(0, 64, 0), Code::kOk);
  ExpectBroken(a_.get(), "has not answered for 400 ms");
}

// A peer in the start-up, whose kernel drops everything with bytes from some moment on.
class DeadStartTest : public testing::Test {
 protected:
  static void DropData(int fd) {
    // The length of TCP's header and everything after it. The answers of TCP itself are shorter,
    // and pass.
    constexpr uint32_t kLongestHeader = 44;
    sock_filter drop[] = {BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
                          BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, kLongestHeader, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, 0), BPF_STMT(BPF_RET | BPF_K, 0xffffffff)};
    const sock_fprog program{std::size(drop), drop};
    ASSERT_EQ(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)), 0);
  }
  static UniqueFd Socket() { return UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

  static constexpr milliseconds kLimit{400};
  BenchNode node_{Watchful(kLimit), 8192, 16};
};

// The request never arrives, and the consumer has set no limit.
TEST_F(DeadStartTest, OfTheRequestIsUnreachable) {
  const UniqueFd listener = Socket();
  sockaddr_storage a = Loopback();
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&a), sizeof(sockaddr_in)), 0);
  ASSERT_EQ(listen(listener.get(), 4), 0);
  DropData(listener.get());  // sockets that it accepts inherit the filter
  transport::ConnectParameters p;
  p.remote = Loopback();
  p.conn_qual = SocketPort(LocalAddressOf(listener.get()));
  p.timeout = std::chrono::microseconds::max();
  ASSERT_TRUE(node_.qp().Connect(p).ok());
  ASSERT_TRUE(node_.Until(Wait::kSleep, [&] { return node_.over(); }));
  EXPECT_EQ(node_.reject_reason(), transport::RejectReason::kUnreachable) << node_.why();
}

// The reply never arrives. The accept must fail, and not wait for the first message for ever.
TEST_F(DeadStartTest, OfTheReplyFailsTheAccept) {
  node_.HoldRequests();
  const UniqueFd fd = Socket();
  sockaddr_storage a = Loopback();
  SetSocketPort(PortOfQualifier(node_.Listen()), &a);
  ASSERT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&a), sizeof(sockaddr_in)), 0);
  uint8_t frame[iwarp::kMpaHeaderSize + 4] = {};
  std::copy_n(iwarp::kMpaRequestKey, iwarp::kMpaKeySize, frame);
  frame[16] = 0x10;  // enhanced
  frame[17] = 2;
  frame[19] = 4;
  frame[20] = 0x80;  // peer-to-peer
  frame[22] = 0x80;  // with a zero-length write as first message
  ASSERT_EQ(send(fd.get(), frame, sizeof(frame), MSG_NOSIGNAL),
            static_cast<ssize_t>(sizeof(frame)));
  ASSERT_TRUE(node_.Until(Wait::kSleep, [&] { return node_.holds_request(); }));
  DropData(fd.get());
  ASSERT_TRUE(node_.AcceptHeld());
  const auto begun = transport::Clock::now();
  ASSERT_TRUE(node_.Until(Wait::kSleep, [&] { return node_.over(); }));
  EXPECT_LT(transport::Clock::now() - begun, TcpOptions{}.handshake_timeout);
  EXPECT_EQ(node_.reject_reason(), transport::RejectReason::kAborted) << node_.why();
  EXPECT_FALSE(node_.established());
}

// TCP's probes find it. TCP counts in seconds.
TEST_P(DeadPathTest, IsReportedWhenIdle) {
  Join(milliseconds(400));
  BecomeIdle();
  CutAllPaths();
  ExpectBroken(b_.get(), "timed out");
}

// A peer without a receive reads nothing, but it answers. Its window is closed, and stays so for
// many times the limit.
TEST_P(DeadPathTest, APeerThatDoesNotReadIsNoDeadPath) {
  constexpr milliseconds kLimit(100);
  constexpr int kMessages = 32;
  Join(kLimit);
  for (int i = 0; i < kMessages; ++i) ASSERT_EQ(a_->PostSend(0, kSize, 0), Code::kOk);
  const auto end = transport::Clock::now() + 12 * kLimit;
  EXPECT_TRUE(a_->Until(GetParam(), [&] { return a_->over() || transport::Clock::now() > end; }));
  EXPECT_FALSE(a_->over()) << a_->why();
  EXPECT_FALSE(b_->over()) << b_->why();
  for (int i = 0; i < kMessages; ++i) ASSERT_EQ(b_->PostReceive(0, kSize), Code::kOk);
  while (b_->receives < kMessages) ASSERT_TRUE(b_->ReapOne(GetParam()));
  EXPECT_EQ(b_->failures, 0u);
}

}  // namespace
}  // namespace softdat::softnet
