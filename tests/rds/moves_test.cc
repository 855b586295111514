// SPDX-License-Identifier: BSD-3-Clause
// Ports that go from one process to another while both live: what is sent after that is for the new
// one, in order, and nothing is lost or comes twice.
#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include "tests/rds/af_rds.h"

namespace softdat::rds_test {
namespace {

// What the other processes do, one after the other, as they are told.
enum Order : uint64_t {
  kBind,     // the port
  kClose,    // the socket, and live on
  kReceive,  // so many messages, of which each is a number, and tell these
  kRequest,  // sends a request that opens memory, and tells the answer
};

// A process with a socket, or with none for now.
class Owner {
 public:
  explicit Owner(uint16_t port)
      : process_([port](int line) { Serve(port, line); }), line_(process_.line()) {}
  ~Owner() {
    if (!killed_) Order(99);
  }
  void Bind() { Do(kBind); }
  void Close() { Do(kClose); }
  // Expects the numbers first..first+count-1, and nothing else. The sender has heard of that then:
  // what a process that dies has not acknowledged is for the next one that has the port.
  void Expect(const Rds& sender, uint64_t first, uint64_t count) {
    Order(kReceive);
    Tell(line_, count);
    for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(Hear(line_), first + i);
    ASSERT_EQ(Hear(line_), 0u) << "something more";
    EXPECT_EQ(rds_test::Receive(sender).payload, "all");
  }
  void BeginRequest(uint16_t server) {
    Order(kRequest);
    Tell(line_, server);
  }
  uint64_t EndRequest() { return Hear(line_); }
  void Stop() { process_.Stop(); }
  void Continue() { process_.Continue(); }
  void Kill() {
    killed_ = true;
    process_.Kill();
  }

 private:
  void Order(uint64_t order) { Tell(line_, order); }
  void Do(uint64_t order) {
    Order(order);
    ASSERT_EQ(Hear(line_), 1u);
  }
  static void Receive(int socket, int line) {
    Got got;
    for (uint64_t left = Hear(line); left > 0; --left) {
      got = rds_test::Receive(socket);
      ASSERT_GE(got.result, 0);
      Tell(line, std::stoull(got.payload));
    }
    Tell(line, Poll(socket, POLLIN) == 0 ? 0 : 1);
    EXPECT_EQ(Send(socket, got.from, "all"), 3);
  }
  static void Request(int socket, int line) {
    const sockaddr_in server = AddressOf(static_cast<uint16_t>(Hear(line)));
    uint64_t memory = 0;
    EXPECT_EQ(Send(socket, server, "request", Controls().Map(&memory, sizeof memory, nullptr)), 7);
    EXPECT_EQ(rds_test::Receive(socket).payload, "answer");
    Tell(line, memory);
  }
  static void Serve(uint16_t port, int line) {
    std::optional<Rds> socket;
    // One that stays, so that the process has something to say when the port has gone.
    const Rds other = Rds::Bound();
    while (true) {
      switch (Hear(line)) {
        case kBind:
          socket.emplace(Rds::Bound(port));
          Tell(line, 1);
          break;
        case kClose:
          socket->Close();
          socket.reset();
          Tell(line, 1);
          break;
        case kReceive:
          Receive(*socket, line);
          break;
        case kRequest:
          Request(*socket, line);
          break;
        default:
          return;
      }
    }
  }

  Process process_;
  const int line_;
  bool killed_ = false;
};

class MovesTest : public testing::Test {
 protected:
  MovesTest() {
    const int buffer = 4 << 20;
    EXPECT_EQ(setsockopt(sender_, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer), 0);
    a_.Bind();
    SendNumbers(1);
    a_.Expect(sender_, 1, 1);
  }
  static uint16_t FreePort() {
    const Process process([](int line) { Tell(line, Rds::Bound().port()); });
    return static_cast<uint16_t>(Hear(process.line()));
  }
  // The next numbers.
  void SendNumbers(uint64_t count) {
    for (; count > 0; --count) {
      ASSERT_GT(Send(sender_, AddressOf(port_), std::to_string(++last_)), 0);
    }
  }

  const uint16_t port_ = FreePort();
  Owner a_{port_}, b_{port_};
  const Rds sender_ = Rds::Bound();
  uint64_t last_ = 0;
};

TEST_F(MovesTest, ToAProcessThatIsThere) {
  a_.Close();
  b_.Bind();
  SendNumbers(100);
  b_.Expect(sender_, 2, 100);
}

TEST_F(MovesTest, ThereAndBackAgain) {
  for (int round = 0; round < 20; ++round) {
    Owner& from = round % 2 == 0 ? a_ : b_;
    Owner& to = round % 2 == 0 ? b_ : a_;
    from.Close();
    to.Bind();
    const uint64_t first = last_ + 1;
    SendNumbers(30);
    to.Expect(sender_, first, 30);
  }
}

// Messages are under way to the old process when the port has gone from it.
TEST_F(MovesTest, WhatIsUnderWay) {
  a_.Close();
  a_.Stop();
  b_.Bind();
  SendNumbers(300);
  a_.Continue();
  SendNumbers(300);
  b_.Expect(sender_, 2, 600);
}

// The old process dies, with messages that it has not looked at.
TEST_F(MovesTest, TheOldProcessDies) {
  a_.Close();
  a_.Stop();
  b_.Bind();
  SendNumbers(300);
  a_.Kill();
  SendNumbers(300);
  b_.Expect(sender_, 2, 600);
}

// The new one is heard of before anything was sent to the old one.
TEST_F(MovesTest, WhoeverAsksIsAnswered) {
  a_.Close();
  b_.Bind();
  b_.BeginRequest(sender_.port());
  const Got request = Receive(sender_);
  ASSERT_TRUE(request.cookie);
  const uint64_t data = 4711;
  EXPECT_EQ(Send(sender_, request.from, "answer",
                 Controls().Rdma(*request.cookie, 0, sizeof data, {Piece(&data, sizeof data)},
                                 RDS_RDMA_READWRITE | RDS_RDMA_NOTIFY_ME)),
            6);
  EXPECT_EQ(ReceiveStatus(sender_).status, RDS_RDMA_SUCCESS);
  EXPECT_EQ(b_.EndRequest(), data);
}

// The port comes to the sender's own process.
TEST_F(MovesTest, ToTheSendersProcess) {
  a_.Close();
  a_.Stop();
  const Rds own = Rds::Bound(port_);
  SendNumbers(50);
  a_.Continue();
  SendNumbers(50);
  for (uint64_t i = 2; i <= 101; ++i) ASSERT_EQ(Receive(own).payload, std::to_string(i));
  EXPECT_EQ(Receive(own, MSG_DONTWAIT).result, -EAGAIN);
}

}  // namespace
}  // namespace softdat::rds_test
