// SPDX-License-Identifier: BSD-3-Clause
// Messages: sizes, order, what recvmsg tells, waiting, full queues, congestion, pings.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "tests/rds/af_rds.h"

namespace softdat::rds_test {
namespace {

// A process that sends back all that it receives, until it receives "end".
std::unique_ptr<Process> Echo(sockaddr_in* name) {
  auto process = std::make_unique<Process>([](int line) {
    const Rds socket = Rds::Bound();
    const int buffer = 4 << 20;
    setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    Tell(line, socket.port());
    while (true) {
      const Got got = Receive(socket);
      ASSERT_GE(got.result, 0);
      if (got.payload == "end") return;
      EXPECT_EQ(Send(socket, got.from, got.payload), got.result);
    }
  });
  *name = AddressOf(static_cast<uint16_t>(Hear(process->line())));
  return process;
}

// A socket that is closed takes back what has not left yet, so the end is waited for.
void End(Process& echo, int socket, const sockaddr_in& to) {
  Send(socket, to, "end");
  echo.Join();
}

void SetBuffers(int socket, int octets) {
  EXPECT_EQ(setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &octets, sizeof octets), 0);
  EXPECT_EQ(setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &octets, sizeof octets), 0);
}

TEST(MessagesTest, OfAllSizesToAnotherProcess) {
  sockaddr_in to;
  const auto echo = Echo(&to);
  const Rds socket = Rds::Bound();
  SetBuffers(socket, 2 << 20);
  for (const size_t size : {0, 1, 4095, 4096, 4097, 8192, 100000, 1 << 20}) {
    std::string payload(size, 0);
    for (size_t i = 0; i < size; ++i) payload[i] = static_cast<char>(i * 7 + size);
    ASSERT_EQ(Send(socket, to, payload), static_cast<ssize_t>(size));
    const Got got = Receive(socket);
    EXPECT_EQ(got.payload, payload) << size;
    EXPECT_EQ(got.from.sin_port, to.sin_port);
    EXPECT_EQ(got.name_length, sizeof(sockaddr_in));
  }
  EXPECT_EQ(Send(socket, to, std::string((1 << 20) + 1, 'x')), -EMSGSIZE);
  End(*echo, socket, to);
}

TEST(MessagesTest, InOrder) {
  sockaddr_in to;
  const auto echo = Echo(&to);
  const Rds socket = Rds::Bound();
  SetBuffers(socket, 4 << 20);
  constexpr int kMessages = 3000;
  std::thread sender([&] {
    for (int i = 0; i < kMessages; ++i) {
      ASSERT_GT(Send(socket, to, std::to_string(i) + std::string(i % 9 * 1000, 'x')), 0);
    }
  });
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_EQ(Receive(socket).payload, std::to_string(i) + std::string(i % 9 * 1000, 'x'));
  }
  sender.join();
  End(*echo, socket, to);
}

TEST(MessagesTest, LongerThanTheSendBuffer) {
  const Rds socket = Rds::Bound();
  SetBuffers(socket, 10000);
  int value = 0;
  socklen_t length = sizeof value;
  EXPECT_EQ(getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &value, &length), 0);
  EXPECT_EQ(value, 20000);
  const sockaddr_in to = AddressOf(socket.port());
  EXPECT_EQ(Send(socket, to, std::string(10001, 'x')), -EMSGSIZE);
  EXPECT_EQ(Send(socket, to, std::string(10000, 'x')), 10000);
}

TEST(MessagesTest, PeekAndTruncate) {
  const Rds socket = Rds::Bound();
  const sockaddr_in to = AddressOf(socket.port());
  EXPECT_EQ(Send(socket, to, "0123456789"), 10);
  EXPECT_EQ(Send(socket, to, "next"), 4);
  const Got peeked = Receive(socket, MSG_PEEK, 4);
  EXPECT_EQ(peeked.payload, "0123");
  EXPECT_EQ(peeked.flags & MSG_TRUNC, MSG_TRUNC);
  const Got length = Receive(socket, MSG_PEEK | MSG_TRUNC, 4);
  EXPECT_EQ(length.result, 10);
  const Got cut = Receive(socket, 0, 4);
  EXPECT_EQ(cut.result, 4);
  EXPECT_EQ(cut.flags & MSG_TRUNC, MSG_TRUNC);
  const Got whole = Receive(socket, 0, 4);
  EXPECT_EQ(whole.payload, "next");
  EXPECT_EQ(whole.flags, 0);
}

TEST(MessagesTest, WhatIsRefused) {
  const Rds socket = Rds::Bound(), unbound;
  const sockaddr_in to = AddressOf(socket.port());
  EXPECT_EQ(Send(unbound, to, "x"), -ENOTCONN);
  EXPECT_EQ(Send(socket, to, "x", {}, MSG_OOB), -EOPNOTSUPP);
  sockaddr_in wrong = to;
  wrong.sin_family = AF_UNIX;
  EXPECT_EQ(Send(socket, wrong, "x"), -EINVAL);
  wrong = to;
  wrong.sin_addr.s_addr = 0;
  EXPECT_EQ(Send(socket, wrong, "x"), -EINVAL);
  EXPECT_EQ(Receive(socket, MSG_DONTWAIT).result, -EAGAIN);
}

TEST(MessagesTest, NotWaiting) {
  const Rds socket = Rds::Bound();
  EXPECT_EQ(Receive(socket, MSG_DONTWAIT).result, -EAGAIN);
  ASSERT_EQ(fcntl(socket, F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(Receive(socket).result, -EAGAIN);
  ASSERT_EQ(fcntl(socket, F_SETFL, 0), 0);
  const timeval short_time{0, 20000};
  ASSERT_EQ(setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &short_time, sizeof short_time), 0);
  EXPECT_EQ(Receive(socket).result, -ETIMEDOUT);
}

TEST(MessagesTest, PollTellsWhatCanBeDone) {
  const Rds socket = Rds::Bound();
  const sockaddr_in to = AddressOf(socket.port());
  EXPECT_EQ(Poll(socket, POLLIN | POLLOUT) & (POLLIN | POLLOUT), POLLOUT);
  Send(socket, to, "one");
  Send(socket, to, "two");
  // Linux delivers when it likes to.
  EXPECT_EQ(Poll(socket, POLLIN, 10000), POLLIN);
  EXPECT_EQ(Poll(socket, POLLIN | POLLOUT) & (POLLIN | POLLOUT), POLLIN | POLLOUT);
  Receive(socket);
  EXPECT_EQ(Poll(socket, POLLIN, 10000), POLLIN);
  Receive(socket);
  EXPECT_EQ(Poll(socket, POLLIN), 0);
}

TEST(MessagesTest, PollIsWokenByAnotherProcess) {
  sockaddr_in to;
  const auto echo = Echo(&to);
  const Rds socket = Rds::Bound();
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(Send(socket, to, "ping"), 4);
    ASSERT_EQ(Poll(socket, POLLIN, 10000), POLLIN);
    ASSERT_EQ(Receive(socket, MSG_DONTWAIT).payload, "ping");
  }
  End(*echo, socket, to);
}

// An address at which nobody has RDS: data wait, and sending is no error.
TEST(MessagesTest, AFullQueue) {
  const Rds socket = Rds::Bound();
  SetBuffers(socket, 5000);
  sockaddr_in nobody = AddressOf(4000);
  nobody.sin_addr.s_addr = htonl(0x7f630001);  // 127.99.0.1
  EXPECT_EQ(Send(socket, nobody, std::string(4000, 'x')), 4000);
  EXPECT_EQ(Poll(socket, POLLOUT), POLLOUT);
  EXPECT_EQ(Send(socket, nobody, std::string(4000, 'x')), 4000);  // may exceed it
  EXPECT_EQ(Poll(socket, POLLOUT), 0);
  EXPECT_EQ(Send(socket, nobody, "x", {}, MSG_DONTWAIT), -EAGAIN);
  EXPECT_EQ(Send(socket, nobody, "", {}, MSG_DONTWAIT), -EAGAIN);
  const timeval short_time{0, 20000};
  ASSERT_EQ(setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &short_time, sizeof short_time), 0);
  EXPECT_EQ(Send(socket, nobody, "x"), -ETIMEDOUT);
  // What is taken back makes room.
  ASSERT_EQ(setsockopt(socket, SOL_RDS, RDS_CANCEL_SENT_TO, &nobody, sizeof nobody), 0);
  EXPECT_EQ(Poll(socket, POLLOUT), POLLOUT);
  EXPECT_EQ(Send(socket, nobody, "x"), 1);
}

TEST(MessagesTest, AnUnboundPortTakesEverything) {
  sockaddr_in to;
  const auto echo = Echo(&to);
  const Rds socket = Rds::Bound();
  SetBuffers(socket, 1 << 20);
  sockaddr_in nobody = to;
  {
    const Rds gone = Rds::Bound();
    nobody.sin_port = htons(gone.port());
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Send(socket, nobody, "lost"), 4);
  EXPECT_EQ(Send(socket, to, "kept"), 4);
  EXPECT_EQ(Receive(socket).payload, "kept");
  End(*echo, socket, to);
}

TEST(MessagesTest, Pings) {
  sockaddr_in to;
  const auto echo = Echo(&to);
  const Rds socket = Rds::Bound();
  for (const bool here : {true, false}) {
    sockaddr_in ping = here ? AddressOf(0) : to;
    ping.sin_port = 0;
    EXPECT_EQ(Send(socket, ping, ""), 0);
    const Got pong = Receive(socket);
    EXPECT_EQ(pong.result, 0);
    EXPECT_EQ(pong.port(), 0);
    EXPECT_EQ(pong.from.sin_addr.s_addr, ping.sin_addr.s_addr);
  }
  End(*echo, socket, to);
}

// ---- congestion ----

// A socket in another process that receives when it is told to.
std::unique_ptr<Process> Sink(sockaddr_in* name) {
  auto process = std::make_unique<Process>([](int line) {
    const Rds socket = Rds::Bound();
    SetBuffers(socket, 20000);
    Tell(line, socket.port());
    while (const uint64_t messages = Hear(line)) {
      for (uint64_t i = 0; i < messages; ++i) EXPECT_GE(Receive(socket).result, 0);
      Tell(line, 1);
    }
  });
  *name = AddressOf(static_cast<uint16_t>(Hear(process->line())));
  return process;
}

// Sends until the port is congested. Returns how many that took.
uint64_t FillUp(int socket, const sockaddr_in& to) {
  uint64_t sent = 0;
  while (sent < 100000) {
    const ssize_t result = Send(socket, to, std::string(1000, 'x'), {}, MSG_DONTWAIT);
    if (result == -ENOBUFS && sent > 0) return sent;
    // What was on its way has congested it again, for a moment.
    if (result == -ENOBUFS && Poll(socket, POLLIN, 10000) == POLLIN) Receive(socket);
    if (result == 1000) ++sent;
    if (result == -EAGAIN) Poll(socket, POLLOUT, 10);
  }
  ADD_FAILURE() << "no congestion";
  return sent;
}

TEST(MessagesTest, ACongestedPortIsToldWhenItIsFree) {
  sockaddr_in to;
  const auto sink = Sink(&to);
  const Rds socket = Rds::Bound();
  SetBuffers(socket, 1 << 20);
  const int on = 1;
  ASSERT_EQ(setsockopt(socket, SOL_RDS, RDS_CONG_MONITOR, &on, sizeof on), 0);
  for (int round = 0; round < 3; ++round) {
    const uint64_t sent = FillUp(socket, to);
    EXPECT_EQ(Poll(socket, POLLIN), 0);
    Tell(sink->line(), sent);
    ASSERT_EQ(Poll(socket, POLLIN, 10000), POLLIN);
    const Got update = Receive(socket);
    EXPECT_EQ(update.result, 0);
    EXPECT_EQ(update.name_length, 0u);
    EXPECT_EQ(update.freed, uint64_t{1} << ntohs(to.sin_port) % 64);
    Hear(sink->line());
  }
  Tell(sink->line(), 0);
}

TEST(MessagesTest, ABlockingSendWaitsForACongestedPort) {
  sockaddr_in to;
  const auto sink = Sink(&to);
  const Rds socket = Rds::Bound();
  SetBuffers(socket, 1 << 20);
  const uint64_t sent = FillUp(socket, to);
  // Who waits is not told in another way that the port is free.
  const int on = 1;
  ASSERT_EQ(setsockopt(socket, SOL_RDS, RDS_CONG_MONITOR, &on, sizeof on), 0);
  std::thread sender([&] { EXPECT_EQ(Send(socket, to, "waited"), 6); });
  EXPECT_EQ(Poll(socket, POLLIN, 50), 0);  // it waits by now
  Tell(sink->line(), sent + 1);
  Hear(sink->line());
  sender.join();
  EXPECT_EQ(Receive(socket, MSG_DONTWAIT).result, -EAGAIN);
  Tell(sink->line(), 0);
}

// Both ends are in this process, so that no event of a transport tells of it.
TEST(MessagesTest, ABlockingSendWaitsForAPortOfItsOwnProcess) {
  const Rds socket = Rds::Bound(), target = Rds::Bound();
  SetBuffers(target, 20000);
  SetBuffers(socket, 1 << 20);
  const sockaddr_in to = AddressOf(target.port());
  const uint64_t sent = FillUp(socket, to);
  std::thread sender([&] { EXPECT_EQ(Send(socket, to, "waited"), 6); });
  EXPECT_EQ(Poll(socket, POLLIN, 100), 0);  // it waits by now
  for (uint64_t i = 0; i < sent; ++i) EXPECT_EQ(Receive(target).result, 1000);
  EXPECT_EQ(Receive(target).payload, "waited");
  sender.join();
}

TEST(MessagesTest, ABlockingSendWaitsForRoomThatAnotherThreadMakes) {
  const Rds socket = Rds::Bound();
  SetBuffers(socket, 5000);
  sockaddr_in nobody = AddressOf(4000);
  nobody.sin_addr.s_addr = htonl(0x7f630001);  // 127.99.0.1
  EXPECT_EQ(Send(socket, nobody, std::string(5000, 'x')), 5000);
  std::thread sender([&] { EXPECT_EQ(Send(socket, nobody, "waited"), 6); });
  EXPECT_EQ(Poll(socket, POLLOUT, 100), 0);  // it waits by now
  EXPECT_EQ(setsockopt(socket, SOL_RDS, RDS_CANCEL_SENT_TO, &nobody, sizeof nobody), 0);
  sender.join();
}

// Even while a call in another thread waits for events.
TEST(MessagesTest, ASignalEndsAWaitForACongestedPort) {
  sockaddr_in to;
  const auto sink = Sink(&to);
  const Rds socket = Rds::Bound(), other = Rds::Bound();
  SetBuffers(socket, 1 << 20);
  const uint64_t sent = FillUp(socket, to);
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  std::thread receiver([&] { EXPECT_EQ(Receive(other).payload, "end"); });
  EXPECT_EQ(Poll(socket, POLLIN, 100), 0);  // it waits by now
  std::atomic<bool> done = false;
  std::thread sender([&] {
    EXPECT_EQ(Send(socket, to, "x"), -EINTR);
    done = true;
  });
  // It may not wait yet.
  while (!done) {
    pthread_kill(sender.native_handle(), SIGUSR1);
    Poll(socket, POLLIN, 1);
  }
  sender.join();
  EXPECT_EQ(Send(socket, AddressOf(other.port()), "end"), 3);
  receiver.join();
  EXPECT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
  Tell(sink->line(), sent);
  Hear(sink->line());
  Tell(sink->line(), 0);
}

TEST(MessagesTest, DuplicatesAreTheSameSocket) {
  Rds socket = Rds::Bound();
  const sockaddr_in to = AddressOf(socket.port());
  const int copy = dup(socket);
  ASSERT_GE(copy, 0);
  socket.Close();
  EXPECT_EQ(Send(copy, to, "x"), 1);
  EXPECT_EQ(Poll(copy, POLLIN, 10000), POLLIN);
  EXPECT_EQ(Receive(copy).payload, "x");
  EXPECT_EQ(close(copy), 0);
}

}  // namespace
}  // namespace softdat::rds_test
