// SPDX-License-Identifier: BSD-3-Clause
// What becomes of RDMA and of messages when something fails: a connection breaks, a peer dies, an
// operation is taken back, there is too much of something. docs/rds.md lists the sentences of the
// manual with these tests.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string_view>

#include "tests/rds/af_rds.h"

namespace softdat::rds_test {
namespace {

constexpr uint64_t kWrite = RDS_RDMA_READWRITE;
constexpr uint64_t kNotify = RDS_RDMA_NOTIFY_ME;

void SetRecverr(int socket, int on) {
  EXPECT_EQ(setsockopt(socket, SOL_RDS, RDS_RECVERR, &on, sizeof on), 0);
}

void SetBuffers(int socket, int octets) {
  EXPECT_EQ(setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &octets, sizeof octets), 0);
  EXPECT_EQ(setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &octets, sizeof octets), 0);
}

// RDS_CONN_RESET of Oracle's kernels: breaks the connections between two addresses.
bool BreakConnections(int socket) {
  const struct {
    uint8_t type_of_service, padding[3];
    in_addr source, destination;
  } args{0, {}, AddressOf(0).sin_addr, AddressOf(0).sin_addr};
  return setsockopt(socket, SOL_RDS, SO_RDS_TRANSPORT, &args, sizeof args) == 0;
}

// Another process, which hears of a server and of its own port. It opens `size` octets of memory by
// a request to that server, and tells of the messages that it gets then: each one's payload is a
// number. It ends with the number 0.
std::unique_ptr<Process> Client(size_t size) {
  return std::make_unique<Process>([size](int line) {
    const auto server = static_cast<uint16_t>(Hear(line));
    const Rds socket = Rds::Bound(static_cast<uint16_t>(Hear(line)));
    SetBuffers(socket, 8 << 20);
    std::vector<uint8_t> memory(size);
    rds_rdma_cookie_t cookie = 0;
    EXPECT_EQ(Send(socket, AddressOf(server), "request",
                   Controls().Map(memory.data(), memory.size(), &cookie)),
              7);
    uint64_t number = 1;
    while (number != 0) {
      const Got got = ReceiveMessage(socket);
      ASSERT_GE(got.result, 0);
      number = std::stoull(got.payload);
      Tell(line, number);
    }
    Hear(line);
  });
}

class FailuresTest : public testing::Test {
 protected:
  FailuresTest() { SetBuffers(server_, 8 << 20); }

  // Starts a client, and takes its request.
  std::unique_ptr<Process> Start(size_t size) {
    auto client = Client(size);
    server_.Bind();
    Introduce(*client, 0);
    const Got request = ReceiveMessage(server_);
    EXPECT_TRUE(request.cookie);
    to_ = request.from;
    cookie_ = request.cookie.value_or(0);
    return client;
  }
  void Introduce(Process& client, uint16_t port) {
    Tell(client.line(), server_.port());
    Tell(client.line(), port);
  }
  ssize_t Write(uint64_t number, size_t size, uint64_t flags, uint64_t offset = 0) {
    data_.resize(std::max(size, data_.size()));
    return Send(server_, to_, std::to_string(number),
                Controls().Rdma(cookie_, offset, size, {Piece(data_.data(), size)}, kWrite | flags,
                                number));
  }
  void Say(uint64_t number) { EXPECT_GT(Send(server_, to_, std::to_string(number)), 0); }

  const Rds server_;
  sockaddr_in to_{};
  rds_rdma_cookie_t cookie_ = 0;
  std::vector<uint8_t> data_;
};

// 9, 57, 63: a connection that breaks takes some operations with it, each together with its
// message, and nothing else. What comes and what is told agree.
bool IsOverVerbs() {
  const char* const ia = std::getenv("SOFTDAT_RDS_IA");
  return ia != nullptr && std::string_view(ia).starts_with("verbs-");
}

TEST_F(FailuresTest, ABrokenConnectionTakesOperationsWithTheirMessages) {
  constexpr size_t kSize = 1 << 20;
  constexpr uint64_t kOperations = 16;  // more than is under way at a time
  const auto client = Start(kSize);
  client->Stop();
  Say(1000);
  for (uint64_t i = 1; i <= kOperations; ++i) {
    EXPECT_GT(Write(i, kSize, kNotify), 0);
    Say(1000 + i);
  }
  if (!BreakConnections(server_)) {
    EXPECT_TRUE(KernelDiffers("RDS_CONN_RESET"));
    client->Continue();
    Say(0);
    while (Hear(client->line()) != 0) continue;
    Tell(client->line(), 0);
    GTEST_SKIP();
  }
  // Nothing is told before there is a connection again.
  std::vector<int> statuses(kOperations + 1, -1);
  client->Continue();
  for (uint64_t i = 0; i < kOperations; ++i) {
    const rds_rdma_notify told = ReceiveStatus(server_);
    ASSERT_LE(told.user_token, kOperations);
    EXPECT_EQ(statuses[told.user_token], -1) << "told twice";
    statuses[told.user_token] = told.status;
  }
  // An adapter carries out operations although the process that they go to is stopped.
  if (!IsOverVerbs()) {
    EXPECT_EQ(statuses[kOperations], RDS_RDMA_DROPPED);
  }
  Say(0);
  // Plain messages come once and in order, those of operations if these succeeded.
  for (uint64_t i = 0; i <= kOperations; ++i) {
    if (i > 0 && statuses[i] == RDS_RDMA_SUCCESS) {
      EXPECT_EQ(Hear(client->line()), i);
    }
    EXPECT_TRUE(i == 0 || statuses[i] == RDS_RDMA_SUCCESS || statuses[i] == RDS_RDMA_DROPPED);
    EXPECT_EQ(Hear(client->line()), 1000 + i);
  }
  EXPECT_EQ(Hear(client->line()), 0u);
  EXPECT_EQ(Receive(server_, MSG_DONTWAIT).result, -EAGAIN);
  Tell(client->line(), 0);
}

// 63: when the peer dies, its operations are dropped, and what was sent to its port is for the next
// one that has it.
TEST_F(FailuresTest, APeerThatDiesTakesOperationsWithIt) {
  if (KernelDiffers("processes that die")) GTEST_SKIP();
  const auto next = Client(100);
  const auto client = Start(4096);
  Say(1);
  EXPECT_EQ(Hear(client->line()), 1u);
  client->Stop();
  EXPECT_GT(Write(2, 4096, kNotify), 0);
  EXPECT_GT(Write(3, 4096, 0), 0);
  Say(4);
  client->Kill();
  const rds_rdma_notify told = ReceiveStatus(server_);
  EXPECT_EQ(told.user_token, 2u);
  EXPECT_EQ(told.status, RDS_RDMA_DROPPED);
  EXPECT_EQ(Receive(server_, MSG_DONTWAIT).result, -EAGAIN);
  Introduce(*next, ntohs(to_.sin_port));
  EXPECT_EQ(ReceiveMessage(server_).payload, "request");
  Say(5);
  Say(0);
  // The plain one was lost if nobody had the port when it was looked for.
  uint64_t first = Hear(next->line());
  if (first == 4) first = Hear(next->line());
  EXPECT_EQ(first, 5u);
  EXPECT_EQ(Hear(next->line()), 0u);
  Tell(next->line(), 0);
}

// 23, 28, 56: with RECVERR every RDMA that fails is told, whatever it has asked for.
TEST_F(FailuresTest, WithRecverrAnyFailureIsTold) {
  if (KernelDiffers("connections with open memory")) GTEST_SKIP();
  const auto client = Start(100);
  SetRecverr(server_, 1);
  const auto failure = [&](uint64_t token) {
    const rds_rdma_notify told = ReceiveStatus(server_);
    EXPECT_EQ(told.user_token, token);
    EXPECT_TRUE(told.status == RDS_RDMA_REMOTE_ERROR || told.status == RDS_RDMA_DROPPED)
        << told.status;
  };
  EXPECT_GT(Write(1, 10, 0, 95), 0);  // beyond the end
  failure(1);
  cookie_ ^= 0x10000;  // another key
  EXPECT_GT(Write(2, 10, 0), 0);
  failure(2);
  cookie_ ^= 0x10000;
  // What is sent while a connection goes may go with it. This says that there is a new one.
  Say(10);
  EXPECT_EQ(Hear(client->line()), 10u);
  // What succeeds is not told.
  EXPECT_GT(Write(3, 10, 0), 0);
  EXPECT_EQ(Hear(client->line()), 3u);
  // It counts when the message is sent.
  client->Stop();
  EXPECT_GT(Write(4, 10, 0, 95), 0);
  SetRecverr(server_, 0);
  EXPECT_GT(Write(5, 10, 0, 95), 0);
  client->Continue();
  failure(4);
  Say(0);
  EXPECT_EQ(Hear(client->line()), 0u);
  EXPECT_EQ(Receive(server_, MSG_DONTWAIT).result, -EAGAIN);
  Tell(client->line(), 0);
}

// 55: neither success nor failure is told to who has not asked.
TEST_F(FailuresTest, NothingIsToldUnlessAskedFor) {
  if (KernelDiffers("connections with open memory")) GTEST_SKIP();
  const auto client = Start(100);
  EXPECT_GT(Write(1, 10, 0), 0);
  EXPECT_EQ(Hear(client->line()), 1u);
  EXPECT_GT(Write(2, 10, 0, 95), 0);
  Say(3);
  EXPECT_EQ(Hear(client->line()), 3u);
  // All that came before has ended with this one.
  EXPECT_GT(Write(4, 10, kNotify), 0);
  const rds_rdma_notify told = ReceiveStatus(server_);
  EXPECT_EQ(told.user_token, 4u);
  EXPECT_EQ(told.status, RDS_RDMA_SUCCESS);
  Say(0);
  EXPECT_EQ(Hear(client->line()), 4u);
  EXPECT_EQ(Hear(client->line()), 0u);
  EXPECT_EQ(Receive(server_, MSG_DONTWAIT).result, -EAGAIN);
  Tell(client->line(), 0);
}

// 57: one status, even for what has asked for it in both ways and fails.
TEST_F(FailuresTest, OneStatusAtMost) {
  if (KernelDiffers("connections with open memory")) GTEST_SKIP();
  const auto client = Start(100);
  SetRecverr(server_, 1);
  EXPECT_GT(Write(1, 10, kNotify, 95), 0);
  Say(2);
  EXPECT_EQ(Hear(client->line()), 2u);
  EXPECT_GT(Write(3, 10, kNotify), 0);
  EXPECT_EQ(Hear(client->line()), 3u);
  Say(0);
  EXPECT_EQ(Hear(client->line()), 0u);
  const rds_rdma_notify failed = ReceiveStatus(server_), good = ReceiveStatus(server_);
  EXPECT_EQ(failed.user_token, 1u);
  EXPECT_NE(failed.status, RDS_RDMA_SUCCESS);
  EXPECT_EQ(good.user_token, 3u);
  EXPECT_EQ(good.status, RDS_RDMA_SUCCESS);
  EXPECT_EQ(Receive(server_, MSG_DONTWAIT).result, -EAGAIN);
  Tell(client->line(), 0);
}

// 62: operations that are taken back, whether they have left or not.
TEST_F(FailuresTest, WhatIsTakenBackIsCanceled) {
  const auto client = Start(4096);
  SetRecverr(server_, 1);
  client->Stop();
  for (uint64_t i = 1; i <= 40; ++i) EXPECT_GT(Write(i, 4096, i % 2 == 0 ? kNotify : 0), 0);
  EXPECT_EQ(setsockopt(server_, SOL_RDS, RDS_CANCEL_SENT_TO, &to_, sizeof to_), 0);
  // Those that have not asked hear nothing, even with RECVERR.
  const bool late = KernelDiffers("canceling what has left");
  if (late) client->Continue();
  for (uint64_t i = 2; i <= 40; i += 2) {
    const rds_rdma_notify told = ReceiveStatus(server_);
    EXPECT_EQ(told.user_token, i);
    if (!late) {
      EXPECT_EQ(told.status, RDS_RDMA_CANCELED);
    }
  }
  EXPECT_EQ(Receive(server_, MSG_DONTWAIT).result, -EAGAIN);
  client->Continue();
  // What had left may come, what is sent now does.
  Say(0);
  uint64_t last = 0;
  while (const uint64_t got = Hear(client->line())) {
    EXPECT_GT(got, last);
    last = got;
  }
  Tell(client->line(), 0);
}

// What is taken back does nothing to the program's memory any more when the call returns, and nor
// does what a closed socket has sent.
TEST_F(FailuresTest, MemoryOfWhatIsTakenBackIsTheProgramsAgain) {
  if (KernelDiffers("canceling what has left")) GTEST_SKIP();
  const auto client = Start(1 << 20);
  for (const bool closes : {false, true}) {
    std::vector<uint8_t> memory(1 << 20, 1);
    Rds reader = Rds::Bound();
    SetBuffers(reader, 8 << 20);
    client->Stop();
    for (size_t at = 0; at < memory.size(); at += 1 << 18) {
      EXPECT_EQ(Send(reader, to_, "",
                     Controls().Rdma(cookie_, at, 1 << 18, {Piece(&memory[at], 1 << 18)},
                                     RDS_RDMA_SILENT)),
                0);
    }
    if (closes) {
      reader.Close();
    } else {
      EXPECT_EQ(setsockopt(reader, SOL_RDS, RDS_CANCEL_SENT_TO, &to_, sizeof to_), 0);
    }
    std::ranges::fill(memory, 2);
    client->Continue();
    Say(1);
    EXPECT_EQ(Hear(client->line()), 1u);
    EXPECT_TRUE(std::ranges::all_of(memory, [](uint8_t octet) { return octet == 2; })) << closes;
  }
  Say(0);
  EXPECT_EQ(Hear(client->line()), 0u);
  Tell(client->line(), 0);
}

// 64: an operation that can be carried out by no means.
TEST_F(FailuresTest, AnAtomicOperationBetweenTwoWordsIsAnError) {
  if (KernelDiffers("atomic operations")) GTEST_SKIP();
  const auto client = Start(100);
  uint64_t old = 0;
  EXPECT_EQ(Send(server_, to_, "1", Controls().FetchAdd(cookie_, 4, &old, 1, kNotify, 1)), 1);
  const int status = ReceiveStatus(server_).status;
  EXPECT_TRUE(status == RDS_RDMA_OTHER_ERROR || status == RDS_RDMA_REMOTE_ERROR) << status;
  Say(0);
  EXPECT_EQ(Hear(client->line()), 0u);
  Tell(client->line(), 0);
}

// 64: memory that has gone.
TEST_F(FailuresTest, MemoryThatHasGoneIsAnError) {
  if (KernelDiffers("memory that has gone")) GTEST_SKIP();
  // The low end of much address space, because Linux maps what somebody asks for next, such as the
  // queues of a connection, at the upper end of a hole.
  constexpr size_t kMuch = size_t{64} << 20;
  void* const gone = mmap(nullptr, kMuch, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(gone, MAP_FAILED);
  server_.Bind();
  to_ = AddressOf(server_.port());
  EXPECT_EQ(Send(server_, to_, "x", Controls().Map(gone, 4096, &cookie_)), 1);
  EXPECT_EQ(ReceiveMessage(server_).payload, "x");
  ASSERT_EQ(munmap(gone, kMuch), 0);
  EXPECT_GT(Write(1, 4096, kNotify), 0);
  EXPECT_EQ(ReceiveStatus(server_).status, RDS_RDMA_OTHER_ERROR);
  uint64_t old = 0;
  EXPECT_EQ(Send(server_, to_, "x", Controls().FetchAdd(cookie_, 0, &old, 1, kNotify, 2)), 1);
  EXPECT_EQ(ReceiveStatus(server_).status, RDS_RDMA_OTHER_ERROR);
  EXPECT_EQ(Receive(server_, MSG_DONTWAIT).result, -EAGAIN);
}

// 72: more memory than can be open at a time. The call does not wait for it.
TEST_F(FailuresTest, TooMuchMemoryIsOpen) {
  if (KernelDiffers("pieces of memory")) GTEST_SKIP();
  server_.Bind();
  std::vector<uint8_t> memory(16);
  rds_get_mr_args args{};
  args.vec = Piece(memory.data(), memory.size());
  rds_rdma_cookie_t last = 0;
  args.cookie_addr = reinterpret_cast<uintptr_t>(&last);
  int opened = 0, error = 0;
  for (; error == 0 && opened < 1 << 20; ++opened) {
    if (setsockopt(server_, SOL_RDS, RDS_GET_MR, &args, sizeof args) != 0) error = errno;
  }
  EXPECT_EQ(error, EAGAIN);
  EXPECT_GT(opened, 2048);
  EXPECT_EQ(Send(server_, AddressOf(server_.port()), "x",
                 Controls().Map(memory.data(), memory.size(), nullptr)),
            -EAGAIN);
  EXPECT_EQ(Receive(server_, MSG_DONTWAIT).result, -EAGAIN);
  const rds_free_mr_args free{last, 0};
  EXPECT_EQ(setsockopt(server_, SOL_RDS, RDS_FREE_MR, &free, sizeof free), 0);
  EXPECT_EQ(setsockopt(server_, SOL_RDS, RDS_GET_MR, &args, sizeof args), 0);
}

// Plain messages of both ends, over connections that break all the time.
TEST_F(FailuresTest, MessagesSurviveBrokenConnections) {
  constexpr int kMessages = 2000;
  Process echo([](int line) {
    const auto port = static_cast<uint16_t>(Hear(line));
    const Rds socket = Rds::Bound();
    SetBuffers(socket, 8 << 20);
    EXPECT_EQ(Send(socket, AddressOf(port), "hello"), 5);
    for (int i = 0; i < kMessages; ++i) {
      const Got got = Receive(socket);
      ASSERT_EQ(got.payload,
                std::to_string(i) + std::string(static_cast<size_t>(i % 7) * 3000, 'x'));
      EXPECT_EQ(Send(socket, got.from, got.payload), got.result);
    }
    Hear(line);
  });
  server_.Bind();
  Tell(echo.line(), server_.port());
  const sockaddr_in to = Receive(server_).from;
  bool breaks = false;
  int received = 0;
  const auto receive = [&](int flags) {
    const Got got = Receive(server_, flags);
    if (got.result == -EAGAIN) return false;
    EXPECT_EQ(got.payload, std::to_string(received) +
                               std::string(static_cast<size_t>(received % 7) * 3000, 'x'));
    ++received;
    return true;
  };
  for (int i = 0; i < kMessages && !HasFailure(); ++i) {
    EXPECT_GT(
        Send(server_, to, std::to_string(i) + std::string(static_cast<size_t>(i % 7) * 3000, 'x')),
        0);
    if (i % 100 == 50) breaks = BreakConnections(server_) || breaks;
    while (receive(MSG_DONTWAIT)) continue;
  }
  while (received < kMessages && !HasFailure()) receive(0);
  EXPECT_EQ(breaks, !KernelDiffers("RDS_CONN_RESET"));
  Tell(echo.line(), 0);
}

}  // namespace
}  // namespace softdat::rds_test
