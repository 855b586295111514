// SPDX-License-Identifier: BSD-3-Clause
// Processes of one address and a peer that is as Linux: it has one connection with that address.
// One process holds it for the others. When it dies, another one does.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/rds/af_rds.h"
#include "tests/rds/network.h"

namespace softdat::rds_test {
namespace {

// Of the peer, and of an interface whose packets are as large as the peer's at most.
constexpr const char *kPeer = "127.0.0.1", *kOwn = "10.77.0.1";

class LinuxPeer {
 public:
  // Returns when it listens. With its own IA it needs no RDS.
  explicit LinuxPeer(const std::string& ia) {
    int in[2], out[2];
    EXPECT_EQ(pipe(in) + pipe(out), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      for (const int end : {in[0], in[1], out[0], out[1]}) close(end);
      unsetenv("LD_PRELOAD");
      execl("tests/rds/linux_peer", "linux_peer", kPeer, ia.c_str(), nullptr);
      _exit(1);
    }
    close(in[0]);
    close(out[1]);
    question_ = in[1];
    answers_ = fdopen(out[0], "r");
    EXPECT_EQ(Line(), "listening\n");
  }
  // It ends with its input.
  ~LinuxPeer() {
    close(question_);
    std::fclose(answers_);
  }
  // How often a request has ended a connection.
  std::string Ended() {
    EXPECT_EQ(write(question_, "\n", 1), 1);
    return Line();
  }

 private:
  std::string Line() {
    char text[32] = "";
    return std::fgets(text, sizeof text, answers_) == nullptr ? "" : text;
  }

  pid_t pid_ = -1;
  int question_ = -1;
  FILE* answers_ = nullptr;
};

// A process here, which sends each number that it is told to the peer, and tells what comes back.
std::unique_ptr<Process> Member() {
  auto process = std::make_unique<Process>([](int line) {
    sockaddr_in to = AddressOf(4001);
    to.sin_addr.s_addr = inet_addr(kPeer);
    const Rds socket = Rds::Bound();
    Tell(line, 0);
    while (const uint64_t number = Hear(line)) {
      const std::string text = std::to_string(number);
      EXPECT_EQ(Send(socket, to, text), static_cast<ssize_t>(text.size()));
      const Got got = Receive(socket);
      EXPECT_EQ(got.from.sin_addr.s_addr, to.sin_addr.s_addr);
      Tell(line, std::strtoull(got.payload.c_str(), nullptr, 10));
    }
  });
  EXPECT_EQ(Hear(process->line()), 0u);
  return process;
}

void Check(const Process& member, uint64_t number) {
  Tell(member.line(), number);
  EXPECT_EQ(Hear(member.line()), number);
}

void Serve(const std::string& prefix) {
  setenv("SOFTDAT_RDS_IA", prefix.c_str(), 1);
  setenv("SOFTDAT_TEST_RDS_ADDRESS", kOwn, 1);
  LinuxPeer peer(prefix + "lo");
  const auto first = Member();
  const auto second = Member();
  const auto third = Member();
  for (uint64_t i = 1; i <= 3; ++i) {
    Check(*first, 10 + i);
    Check(*second, 20 + i);
    Check(*third, 30 + i);
  }
  EXPECT_EQ(peer.Ended(), "0\n");
  first->Kill();
  for (uint64_t i = 4; i <= 6; ++i) {
    Check(*second, 20 + i);
    Check(*third, 30 + i);
  }
  for (const auto* const member : {&second, &third}) Tell((*member)->line(), 0);
}

TEST(LinuxPeerTest, OneProcessHoldsTheConnection) {
  const char* const ia = std::getenv("SOFTDAT_RDS_IA");
  if (KernelDiffers("one process for the others") || ia == nullptr) GTEST_SKIP();
  const std::string name = ia;
  ASSERT_TRUE(name.ends_with("lo"));
  Process network([&](int line) {
    const bool made = EnterNetwork() && MakeInterface("elsewhere", kOwn);
    Tell(line, made ? 1 : 0);
    if (made) Serve(name.substr(0, name.size() - 2));
  });
  if (Hear(network.line()) == 0) GTEST_SKIP() << "no network of its own";
}

}  // namespace
}  // namespace softdat::rds_test
