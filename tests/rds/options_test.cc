// SPDX-License-Identifier: BSD-3-Clause
// What options do to messages: cookies of payloads, times of arrival.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/time.h>
#include <time.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "tests/rds/af_rds.h"

namespace softdat::rds_test {
namespace {

constexpr int kZeroCopyOption = 60;   // SO_ZEROCOPY
constexpr int kTimestampNew = 63;     // SO_TIMESTAMP_NEW
constexpr int kZeroCopy = 0x4000000;  // MSG_ZEROCOPY
constexpr size_t kCompletion = CMSG_SPACE(sizeof(rds_zcopy_cookies));

void Set(int socket, int level, int name, int value) {
  EXPECT_EQ(setsockopt(socket, level, name, &value, sizeof value), 0);
}

int ValueOf(int socket, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  EXPECT_EQ(getsockopt(socket, SOL_SOCKET, name, &value, &length), 0);
  return value;
}

Controls Cookie(uint32_t cookie) {
  return Controls().Add(RDS_CMSG_ZCOPY_COOKIE, &cookie, sizeof cookie);
}

// The cookies of the only control message.
std::vector<uint32_t> CookiesOf(const Got& got) {
  if (got.types != std::vector<int>{RDS_CMSG_ZCOPY_COMPLETION}) return {};
  rds_zcopy_cookies cookies{};
  std::memcpy(&cookies, got.controls.data(), sizeof cookies);
  EXPECT_LE(cookies.num, 8u);
  return {cookies.cookies, cookies.cookies + cookies.num};
}

class ZeroCopyTest : public testing::Test {
 protected:
  ZeroCopyTest() {
    if (KernelDiffers("MSG_ZEROCOPY")) return;
    Set(socket_, SOL_SOCKET, kZeroCopyOption, 1);
  }
  void SetUp() override {
    if (KernelDiffers("MSG_ZEROCOPY")) GTEST_SKIP();
  }
  ssize_t SendWith(uint32_t cookie, const std::string& payload) {
    return Send(socket_, AddressOf(other_.port()), payload, Cookie(cookie), kZeroCopy);
  }

  const Rds socket_ = Rds::Bound(), other_ = Rds::Bound();
};

TEST_F(ZeroCopyTest, CookiesComeBackEightAtATime) {
  for (uint32_t i = 0; i < 10; ++i) EXPECT_EQ(SendWith(i % 9, "x"), 1);
  EXPECT_EQ(Poll(socket_, POLLIN, 10000), POLLIN);
  EXPECT_EQ(CookiesOf(Receive(socket_, MSG_DONTWAIT)),
            (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  const Got rest = Receive(socket_, MSG_DONTWAIT);
  EXPECT_EQ(CookiesOf(rest), (std::vector<uint32_t>{8, 0}));
  EXPECT_EQ(rest.result, 0);
  EXPECT_EQ(rest.name_length, 0u);
  EXPECT_EQ(Poll(socket_, POLLIN), 0);
  EXPECT_EQ(Receive(socket_, MSG_DONTWAIT).result, -EAGAIN);
}

TEST_F(ZeroCopyTest, TheyComeWithAMessage) {
  EXPECT_EQ(SendWith(7, "x"), 1);
  EXPECT_EQ(Send(other_, AddressOf(socket_.port()), "y"), 1);
  const Got got = Receive(socket_);
  EXPECT_EQ(got.payload, "y");
  EXPECT_EQ(CookiesOf(got), std::vector<uint32_t>{7});
}

TEST_F(ZeroCopyTest, WithoutRoomTheyWait) {
  EXPECT_EQ(SendWith(7, "x"), 1);
  EXPECT_EQ(Receive(socket_, MSG_DONTWAIT, 10, 0).result, -EAGAIN);
  EXPECT_EQ(Receive(socket_, MSG_DONTWAIT, 10, kCompletion - 1).result, -EAGAIN);
  Set(socket_, SOL_SOCKET, kZeroCopyOption, 0);
  EXPECT_EQ(Receive(socket_, MSG_DONTWAIT).result, -EAGAIN);
  Set(socket_, SOL_SOCKET, kZeroCopyOption, 1);
  EXPECT_EQ(CookiesOf(Receive(socket_, MSG_DONTWAIT, 10, kCompletion)), std::vector<uint32_t>{7});
}

TEST_F(ZeroCopyTest, CookieAndFlagNeedEachOther) {
  const sockaddr_in to = AddressOf(other_.port());
  EXPECT_EQ(Send(socket_, to, "x", {}, kZeroCopy), -EINVAL);
  EXPECT_EQ(Send(socket_, to, "x", Cookie(1)), -EINVAL);
  EXPECT_EQ(Send(socket_, to, "", Cookie(1), kZeroCopy), -EINVAL);
  Set(socket_, SOL_SOCKET, kZeroCopyOption, 0);
  EXPECT_EQ(Send(socket_, to, "x", Cookie(1), kZeroCopy), -EINVAL);
  EXPECT_EQ(Send(socket_, to, "x", {}, kZeroCopy), -EINVAL);
  EXPECT_EQ(Receive(other_, MSG_DONTWAIT).result, -EAGAIN);
}

// A call in another thread that waits for a message.
class Waiting {
 public:
  explicit Waiting(const Rds& socket) : socket_(socket), thread_([this] { Receive(); }) {}
  // It has the message then.
  const Got& Join() {
    thread_.join();
    return got_;
  }
  std::chrono::nanoseconds processor_time() {
    clockid_t clock{};
    timespec time{};
    EXPECT_EQ(pthread_getcpuclockid(thread_.native_handle(), &clock), 0);
    EXPECT_EQ(clock_gettime(clock, &time), 0);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

 private:
  void Receive() { got_ = rds_test::Receive(socket_); }

  const Rds& socket_;
  Got got_;
  std::thread thread_;
};

// A call that waits for a message is not ended by payloads that come back, whether it waits for
// events itself or another call does (the parameter). Others may receive them meanwhile.
class WaitingTest : public ZeroCopyTest, public testing::WithParamInterface<bool> {
 protected:
  void Start() {
    if (GetParam()) elsewhere_.emplace(other_);
    EXPECT_EQ(Poll(idle_, POLLIN, 100), 0);  // it waits by now
    here_.emplace(socket_);
    EXPECT_EQ(Poll(idle_, POLLIN, 100), 0);
  }
  void SendAndGetBack(uint32_t cookie) {
    EXPECT_EQ(Send(socket_, AddressOf(idle_.port()), "x", Cookie(cookie), kZeroCopy), 1);
    EXPECT_EQ(Poll(socket_, POLLIN, 10000), POLLIN);
    EXPECT_EQ(Receive(idle_).payload, "x");
  }
  Got End() {
    if (elsewhere_) {
      EXPECT_EQ(Send(idle_, AddressOf(other_.port()), "z"), 1);
      EXPECT_EQ(elsewhere_->Join().payload, "z");
    }
    EXPECT_EQ(Send(idle_, AddressOf(socket_.port()), "y"), 1);
    Got got = here_->Join();
    EXPECT_EQ(got.payload, "y");
    return got;
  }

  const Rds idle_ = Rds::Bound();
  std::optional<Waiting> elsewhere_, here_;
};
INSTANTIATE_TEST_SUITE_P(, WaitingTest, testing::Bool());

TEST_P(WaitingTest, OthersGetThem) {
  Start();
  for (uint32_t i = 1; i <= 20; ++i) {
    SendAndGetBack(i);
    EXPECT_EQ(CookiesOf(Receive(socket_, MSG_DONTWAIT)), std::vector<uint32_t>{i});
  }
  End();
}

TEST_P(WaitingTest, ItSleeps) {
  Start();
  SendAndGetBack(7);
  const std::chrono::nanoseconds before = here_->processor_time();
  EXPECT_EQ(Poll(idle_, POLLIN, 200), 0);
  EXPECT_LT(here_->processor_time() - before, std::chrono::milliseconds(20));
  EXPECT_EQ(CookiesOf(End()), std::vector<uint32_t>{7});
}

TEST(OptionsTest, TimesOfArrival) {
  timeval before{}, after{}, told{};
  gettimeofday(&before, nullptr);
  // The same options at both levels. What comes says by which one it was asked for.
  for (const int level : {SOL_SOCKET, static_cast<int>(SOL_RDS)}) {
    for (const int name : {SO_TIMESTAMP, kTimestampNew}) {
      // Linux does not always forget the other name.
      const Rds socket = Rds::Bound();
      const sockaddr_in to = AddressOf(socket.port());
      Set(socket, level, name, 1);
      EXPECT_EQ(ValueOf(socket, SO_TIMESTAMP), name == SO_TIMESTAMP ? 1 : 0);
      EXPECT_EQ(ValueOf(socket, kTimestampNew), name == kTimestampNew ? 1 : 0);
      EXPECT_EQ(Send(socket, to, "x"), 1);
      const Got got = Receive(socket);
      gettimeofday(&after, nullptr);
      ASSERT_EQ(got.types, std::vector<int>{name});
      std::memcpy(&told, got.controls.data(), sizeof told);
      EXPECT_FALSE(timercmp(&told, &before, <));
      EXPECT_FALSE(timercmp(&told, &after, >));
      // Of a message that has come already nothing is told any more.
      EXPECT_EQ(Send(socket, to, "x"), 1);
      Set(socket, level, name, 0);
      EXPECT_TRUE(Receive(socket).types.empty());
      EXPECT_EQ(Send(socket, to, "x"), 1);
      EXPECT_TRUE(Receive(socket).types.empty());
    }
  }
}

TEST(OptionsTest, LingeringIsKeptAndHasNoEffect) {
  const Rds socket;
  linger value{1, 7};
  EXPECT_EQ(setsockopt(socket, SOL_SOCKET, SO_LINGER, &value, sizeof value - 1), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(setsockopt(socket, SOL_SOCKET, SO_LINGER, &value, sizeof value), 0);
  value = {};
  socklen_t length = sizeof value;
  EXPECT_EQ(getsockopt(socket, SOL_SOCKET, SO_LINGER, &value, &length), 0);
  EXPECT_EQ(value.l_onoff, 1);
  EXPECT_EQ(value.l_linger, 7);
}

TEST(OptionsTest, HowLongAMessageWasWhere) {
  Process other([](int line) {
    const sockaddr_in name = AddressOf(static_cast<uint16_t>(Hear(line)));
    const Rds own = Rds::Bound();
    for (int i = 0; i < 2; ++i) EXPECT_EQ(Send(own, name, std::string(50000, 'x')), 50000);
    Hear(line);
  });
  const Rds socket = Rds::Bound();
  const rds_rx_trace_so two{2, {RDS_MSG_RX_DGRAM_DELIVERED, RDS_MSG_RX_HDR_TO_DGRAM_START, 0}};
  ASSERT_EQ(setsockopt(socket, SOL_RDS, SO_RDS_MSG_RXPATH_LATENCY, &two, sizeof two), 0);
  Tell(other.line(), socket.port());
  for (int i = 0; i < 2; ++i) {
    const Got got = Receive(socket);
    ASSERT_EQ(got.types, std::vector<int>{RDS_CMSG_RXPATH_LATENCY});
    rds_cmsg_rx_trace trace{};
    std::memcpy(&trace, got.controls.data(), sizeof trace);
    EXPECT_EQ(trace.rx_traces, 2);
    EXPECT_EQ(trace.rx_trace_pos[0], RDS_MSG_RX_DGRAM_DELIVERED);
    EXPECT_EQ(trace.rx_trace_pos[1], RDS_MSG_RX_HDR_TO_DGRAM_START);
    EXPECT_GT(trace.rx_trace[0], 0u);
    EXPECT_LT(trace.rx_trace[0], 60'000'000'000u);
  }
  const rds_rx_trace_so none{};
  ASSERT_EQ(setsockopt(socket, SOL_RDS, SO_RDS_MSG_RXPATH_LATENCY, &none, sizeof none), 0);
  EXPECT_EQ(Send(socket, AddressOf(socket.port()), "x"), 1);
  EXPECT_TRUE(Receive(socket).types.empty());
  Tell(other.line(), 0);
}

}  // namespace
}  // namespace softdat::rds_test
