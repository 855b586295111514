// SPDX-License-Identifier: BSD-3-Clause
// Several members at one address: each gets what is its own, whoever it came to, also when one of
// them is killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>

#include "dat/base/socket_address.h"
#include "provider_softnet/udp/member_sockets.h"
#include "provider_softnet/udp/port_node.h"

namespace softdat::softnet {
namespace {

constexpr uint32_t kGsiQpn = 1;

// Whether `member` has each of the payloads from `sender`.
bool HasAll(const PortNode& member, const PortNode& sender, const std::set<Bytes>& payloads) {
  std::set<Bytes> missing = payloads;
  for (const Kept& kept : member.kept()) {
    if (SocketPort(kept.source) == sender.port().source_port()) missing.erase(kept.payload);
  }
  return missing.empty();
}

// Sends until all have come: a local socket holds few messages (net.unix.max_dgram_qlen), and what
// it has no room for is lost.
void ExpectReaches(PortNode& sender, PortNode& member, uint32_t seed) {
  using Clock = std::chrono::steady_clock;
  TestPackets packets;
  std::set<Bytes> payloads;
  for (uint32_t i = 0; i < 4; ++i) {
    payloads.insert(PayloadOf(8, seed + i));
    packets.Add(member.qpn(), PayloadOf(8, seed + i));
  }
  Clock::time_point again{};
  EXPECT_TRUE(member.Until([&] {
    if (Clock::now() >= again) {
      EXPECT_TRUE(sender.SendTo(member, packets));
      again = Clock::now() + std::chrono::milliseconds(100);
    }
    return HasAll(member, sender, payloads);
  }));
  for (const Kept& kept : member.kept()) EXPECT_EQ(kept.qpn, member.qpn());
}

uint64_t HandedOn(PortNode& node) { return node.port().counters().handed_on.value(); }
uint64_t HandedHere(PortNode& node) { return node.port().counters().handed_here.value(); }

// Until all that `sender` sent has come to one of the two, and nothing changes their counters any
// more. A member counts what it hands on only when that has left, and the other one may keep it
// before.
bool UntilSettled(const PortNode& sender, PortNode& a, PortNode& b) {
  return a.Until([&] {
    return a.kept().size() + b.kept().size() == sender.port().counters().sent.value() &&
           HandedOn(a) + HandedOn(b) == HandedHere(a) + HandedHere(b);
  });
}

TEST(Sharing, EachMemberGetsItsOwn) {
  const sockaddr_storage shared = LoopbackOfTest(1);
  PortNode a(shared), b(shared), c(shared);
  PortNode sender(LoopbackOfTest(0)), other(LoopbackOfTest(2));
  std::set<uint32_t> blocks;
  for (PortNode* member : {&a, &b, &c}) {
    blocks.insert(member->port().home_block());
    ExpectReaches(sender, *member, 1);
    ExpectReaches(other, *member, 1);
  }
  EXPECT_EQ(blocks.size(), 3u);
  // All packets of one sender come to one of them, at first.
  EXPECT_GT(HandedOn(a) + HandedOn(b) + HandedOn(c), 0u);
}

TEST(Sharing, AMemberThatClosesTakesNothingAlong) {
  const sockaddr_storage shared = LoopbackOfTest(1);
  PortNode a(shared), b(shared);
  auto c = std::make_unique<PortNode>(shared);
  PortNode sender(LoopbackOfTest(0));
  for (PortNode* member : {&a, &b, c.get()}) ExpectReaches(sender, *member, 1);
  c.reset();
  for (PortNode* member : {&a, &b}) ExpectReaches(sender, *member, 101);
}

// ---- sockets of one sender ----------------------------------------------------------------------

void SendOne(PortNode& sender, PortNode& member) {
  TestPackets packets;
  packets.Add(member.qpn(), PayloadOf(8, 1));
  EXPECT_TRUE(sender.SendTo(member, packets));
}

// The member of the two that the kernel does not give this sender's packets to.
PortNode* Neglected(PortNode& sender, PortNode& a, PortNode& b) {
  SendOne(sender, a);
  EXPECT_TRUE(UntilSettled(sender, a, b));
  return a.kept().front().handed_on ? &a : &b;
}

TEST(Sharing, ASenderIsSteeredToItsMember) {
  const sockaddr_storage shared = LoopbackOfTest(1);
  const UdpPortOptions options;
  PortNode a(shared, options), b(shared, options), sender(LoopbackOfTest(0));
  PortNode* const member = Neglected(sender, a, b);
  for (uint32_t i = 0; i < options.steer_after; ++i) SendOne(sender, *member);
  const UdpCounters& counters = member->port().counters();
  ASSERT_TRUE(member->Until([&] { return counters.steered.value() == 1; }));
  // What was under way may still come by way of the other one. Nothing does after that.
  ASSERT_TRUE(UntilSettled(sender, a, b));
  const uint64_t handed_on = HandedOn(a) + HandedOn(b);
  const size_t before = member->kept().size();
  for (int i = 0; i < 20; ++i) SendOne(sender, *member);
  ASSERT_TRUE(member->UntilKept(before + 20));
  EXPECT_FALSE(member->kept().back().handed_on);
  EXPECT_EQ(HandedOn(a) + HandedOn(b), handed_on);
}

TEST(Sharing, ASenderOfWhomMuchIsExpectedIsSteeredAtOnce) {
  const sockaddr_storage shared = LoopbackOfTest(1);
  PortNode a(shared), b(shared), sender(LoopbackOfTest(0));
  PortNode* const member = Neglected(sender, a, b);
  size_t sent = member->kept().size() + 1;
  SendOne(sender, *member);
  ASSERT_TRUE(member->UntilKept(sent));
  const UdpCounters& counters = member->port().counters();
  const sockaddr_storage source = member->kept().front().source;
  {
    const TokenHold token(&member->driver().token());
    member->port().Steer(source);
    member->port().Steer(source);
  }
  EXPECT_EQ(counters.steered.value(), 1u);
  const uint64_t handed_here = counters.handed_here.value();
  for (int i = 0; i < 100; ++i) SendOne(sender, *member);
  ASSERT_TRUE(member->UntilKept(sent += 100));
  EXPECT_EQ(counters.handed_here.value(), handed_here);
}

TEST(Sharing, TheSilentSenderLosesItsSocket) {
  const sockaddr_storage shared = LoopbackOfTest(1);
  const UdpPortOptions options = {.loss = "", .steer_after = 1, .most_steered = 1};
  PortNode a(shared, options);
  PortNode b(shared, options);
  // Senders until two of them come to b by way of a.
  std::vector<std::unique_ptr<PortNode>> senders;
  const UdpCounters& counters = b.port().counters();
  for (int i = 0; i < 32 && counters.unsteered.value() == 0; ++i) {
    senders.push_back(std::make_unique<PortNode>(LoopbackOfTest(0)));
    const size_t before = b.kept().size();
    SendOne(*senders.back(), b);
    ASSERT_TRUE(b.UntilKept(before + 1));
    if (b.kept().back().handed_on) {
      const uint64_t now = counters.handed_here.value();
      ASSERT_TRUE(b.Until([&] { return counters.steered.value() >= now; }));
    }
  }
  EXPECT_EQ(counters.unsteered.value(), 1u);
  ExpectReaches(*senders.front(), b, 50);
}

// A member in a process of its own, forked before this one has threads.
class OtherProcess {
 public:
  explicit OtherProcess(const sockaddr_storage& address) {
    int pipe_fds[2];
    EXPECT_EQ(pipe(pipe_fds), 0);
    child_ = fork();
    if (child_ == 0) {
      PortNode node(address);
      [[maybe_unused]] const ssize_t n = write(pipe_fds[1], "x", 1);
      while (true) pause();
    }
    char ready = 0;
    EXPECT_EQ(read(pipe_fds[0], &ready, 1), 1);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
  }
  ~OtherProcess() { Kill(); }
  void Kill() {
    if (child_ <= 0) return;
    EXPECT_EQ(kill(child_, SIGKILL), 0);
    EXPECT_EQ(waitpid(child_, nullptr, 0), child_);
    child_ = -1;
  }

 private:
  pid_t child_ = -1;
};

TEST(Sharing, AMemberThatIsKilledTakesNothingAlong) {
  const sockaddr_storage shared = LoopbackOfTest(1);
  OtherProcess process(shared);
  PortNode a(shared), b(shared);
  PortNode sender(LoopbackOfTest(0)), other(LoopbackOfTest(2));
  for (PortNode* member : {&a, &b}) {
    ExpectReaches(sender, *member, 1);
    ExpectReaches(other, *member, 1);
  }
  process.Kill();
  for (PortNode* member : {&a, &b}) {
    ExpectReaches(sender, *member, 101);
    ExpectReaches(other, *member, 101);
  }
}

// ---- queue pair 1 -------------------------------------------------------------------------------

constexpr uint64_t kService = 0x1061234;

void SendToGsi(PortNode& sender, PortNode& any) {
  TestPackets packets;
  packets.Add(kGsiQpn, PayloadOf(16, 1));
  ASSERT_TRUE(sender.SendTo(any, packets));
}

TEST(Sharing, ARequestComesToWhoListens) {
  const sockaddr_storage shared = LoopbackOfTest(1);
  PortNode a(shared), listener(shared);
  const auto hand_on = [](PortNode& node) {
    return [&node](const Arrival& arrival) {
      EXPECT_EQ(node.port().HandOnToService(kService, arrival), HandOnResult::kDone);
    };
  };
  std::unique_ptr<ServiceBinding> binding;
  {
    const TokenHold token(&listener.driver().token());
    binding = listener.port().ListenOn(kService).Take();
    EXPECT_EQ(listener.port().ListenOn(kService).status().code(), Code::kInUse);
  }
  a.on_packet = hand_on(a);
  PortNode sender(LoopbackOfTest(0));
  SendToGsi(sender, a);
  ASSERT_TRUE(listener.UntilKept(1));
  const Kept kept = listener.kept().front();
  EXPECT_EQ(kept.qpn, kGsiQpn);
  EXPECT_EQ(kept.payload, PayloadOf(16, 1));
  EXPECT_TRUE(SameHost(kept.source, sender.port().local()));
  EXPECT_EQ(kept.handed_on, !a.kept().empty());
  const TokenHold token(&listener.driver().token());
  binding.reset();
}

TEST(Sharing, AnAnswerComesToWhoMadeItsId) {
  const sockaddr_storage shared = LoopbackOfTest(1);
  PortNode a(shared), maker(shared);
  const uint32_t comm_id = maker.port().home_block() << 20 | 7;
  a.on_packet = [&](const Arrival& arrival) {
    EXPECT_EQ(a.port().HandOnToBlock(BlockOfCommId(comm_id), arrival), HandOnResult::kDone);
  };
  PortNode sender(LoopbackOfTest(0));
  SendToGsi(sender, a);
  ASSERT_TRUE(maker.UntilKept(1));
  EXPECT_EQ(maker.kept().front().handed_on, !a.kept().empty());
}

TEST(Sharing, AServiceOfNobodyIsTold) {
  PortNode a(LoopbackOfTest(1));
  std::atomic<bool> told{false};
  a.on_packet = [&](const Arrival& arrival) {
    EXPECT_EQ(a.port().HandOnToService(kService, arrival), HandOnResult::kNobody);
    told = true;
  };
  PortNode sender(LoopbackOfTest(0));
  SendToGsi(sender, a);
  EXPECT_TRUE(a.Until([&] { return told.load(); }));
}

// As when the kernel does not schedule a member for a while.
TEST(Sharing, WhatAMemberIsTooSlowForComesLaterAndInOrder) {
  constexpr uint32_t kCount = 32;  // a local socket holds fewer
  const UdpPortOptions options = {.loss = "", .steer_after = 10 * kCount};
  const sockaddr_storage shared = LoopbackOfTest(1);
  PortNode a(shared, options), b(shared, options), sender(LoopbackOfTest(0));
  std::atomic<bool> stands{false};
  for (PortNode* node : {&a, &b}) {
    node->on_packet = [&](const Arrival&) {
      while (stands) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
  }
  PortNode* const slow = Neglected(sender, a, b);
  PortNode* const other = slow == &a ? &b : &a;
  const size_t before = slow->kept().size();
  const uint64_t handed_on = HandedOn(*other);
  TestPackets packets;
  for (uint32_t i = 0; i < kCount; ++i) packets.Add(slow->qpn(), PayloadOf(8, 100 + i));
  stands = true;
  EXPECT_TRUE(sender.SendTo(*slow, packets));
  EXPECT_TRUE(other->Until([&] { return HandedOn(*other) == handed_on + kCount; }));
  stands = false;
  ASSERT_TRUE(slow->UntilKept(before + kCount));
  const std::vector<Kept> kept = slow->kept();
  for (uint32_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(kept[before + i].payload, PayloadOf(8, 100 + i)) << i;
  }
  EXPECT_EQ(other->port().counters().member_full.value(), 0u);
}

// ---- what other processes send to a member ------------------------------------------------------

void SendToBlock(PortNode& node, const Bytes& message) {
  const UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const MemberName name =
      BlockName(geteuid(), HostText(node.port().local()), node.port().home_block());
  EXPECT_EQ(sendto(fd.get(), message.data(), message.size(), 0,
                   reinterpret_cast<const sockaddr*>(&name.address), name.size),
            static_cast<ssize_t>(message.size()));
}

TEST(Sharing, GarbageFromAProcessIsDropped) {
  PortNode a(LoopbackOfTest(1));
  SendToBlock(a, {});
  SendToBlock(a, Bytes(100));
  EXPECT_TRUE(a.Until([&] { return a.port().counters().malformed.value() == 2; }));
}

// It takes root to become another user.
TEST(Sharing, AnotherUserIsNotTrusted) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can send as another user";
  const sockaddr_storage shared = LoopbackOfTest(1);
  int blocks[2];
  ASSERT_EQ(pipe(blocks), 0);
  const pid_t child = fork();
  if (child == 0) {
    uint32_t block = 0;
    if (read(blocks[0], &block, sizeof(block)) != sizeof(block)) _exit(1);
    const MemberName name = BlockName(geteuid(), HostText(shared), block);
    if (setresuid(65534, 65534, 65534) != 0) _exit(2);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const ssize_t n =
        sendto(fd, "x", 1, 0, reinterpret_cast<const sockaddr*>(&name.address), name.size);
    _exit(n == 1 ? 0 : 3);
  }
  PortNode a(shared);
  const uint32_t block = a.port().home_block();
  ASSERT_EQ(write(blocks[1], &block, sizeof(block)), static_cast<ssize_t>(sizeof(block)));
  EXPECT_TRUE(a.Until([&] { return a.port().counters().distrusted.value() == 1; }));
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(blocks[0]);
  close(blocks[1]);
}

}  // namespace
}  // namespace softdat::softnet
