// SPDX-License-Identifier: BSD-3-Clause
// Many connections, shared ports, running out of descriptors, and forks.
#include <gtest/gtest.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "dat/backend_kit/qualifier_port.h"
#include "dat/backend_kit/testing/own_qualifier.h"
#include "provider_softnet/adapter/backend.h"
#include "provider_softnet/adapter/bench_node.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {
namespace {

using Wait = BenchNode::Wait;

bool Join(BenchNode* active, BenchNode* passive, uint64_t qual) {
  if (!active->Connect(qual, Loopback())) return false;
  return active->Until(Wait::kPoll, [&] {
    passive->adapter().Progress(nullptr, transport::Clock::now());
    return (active->established() && passive->established()) || active->over();
  }) && active->established();
}

TEST(Lifecycle, ManyConnectionsLeaveNoDescriptor) {
  const int before = OwnedDescriptorCount();
  for (int i = 0; i < 100; ++i) {
    BenchNode a(TcpOptions{}, 4096, 4), b(TcpOptions{}, 4096, 4);
    const uint64_t qual = b.Listen();
    ASSERT_TRUE(Join(&a, &b, qual)) << i << " " << a.why();
    if (i % 3 == 0) a.qp().Disconnect(transport::DisconnectMode::kAbrupt);
    if (i % 3 == 1) {
      a.qp().Disconnect(transport::DisconnectMode::kGraceful);
      b.qp().Disconnect(transport::DisconnectMode::kGraceful);
    }
    if (i % 3 == 2) {
      a.ClosePair();
    } else {
      ASSERT_TRUE(a.Until(Wait::kSleep, [&] { return a.over(); }));
    }
    ASSERT_TRUE(b.Until(Wait::kSleep, [&] { return b.over(); }));
    EXPECT_EQ(b.end_reason(), transport::EndReason::kDisconnected) << b.why();
  }
  EXPECT_EQ(OwnedDescriptorCount(), before);
}

TEST(Lifecycle, QualifiersThatFoldToOnePortShareItAcrossAdapters) {
  BenchNode probe(TcpOptions{}, 4096, 4);
  uint64_t port = 0;  // a free port to which qualifiers are folded
  for (uint64_t q = uint64_t{1} << 32; port == 0; ++q) port = probe.Listen(PortOfQualifier(q));
  // These fold to the port that the probe holds. At least one of every 65536 does.
  std::vector<uint64_t> folded;
  for (uint64_t q = uint64_t{1} << 32; folded.size() < 3; ++q) {
    if (PortOfQualifier(q) == port) folded.push_back(q);
  }
  const uint64_t first = folded[0], second = folded[1], third = folded[2];
  BenchNode b1(TcpOptions{}, 4096, 4), b2(TcpOptions{}, 4096, 4);
  ASSERT_EQ(b1.Listen(first), first);
  ASSERT_EQ(b2.Listen(second), second);
  BenchNode taken(TcpOptions{}, 4096, 4);
  EXPECT_EQ(taken.Listen(second), 0u) << "a whole qualifier is taken once";

  BenchNode a1(TcpOptions{}, 4096, 4), a2(TcpOptions{}, 4096, 4), a0(TcpOptions{}, 4096, 4),
      nobody(TcpOptions{}, 4096, 4);
  const auto drive_all = [&](BenchNode* active, const std::function<bool()>& done) {
    return active->Until(Wait::kPoll, [&] {
      for (BenchNode* n : {&probe, &b1, &b2})
        n->adapter().Progress(nullptr, transport::Clock::now());
      return done();
    });
  };
  ASSERT_TRUE(a2.Connect(second, Loopback()));
  ASSERT_TRUE(drive_all(&a2, [&] { return a2.established() && b2.established(); }));
  ASSERT_TRUE(a1.Connect(first, Loopback()));
  ASSERT_TRUE(drive_all(&a1, [&] { return a1.established() && b1.established(); }));
  ASSERT_TRUE(a0.Connect(port, Loopback()));
  ASSERT_TRUE(drive_all(&a0, [&] { return a0.established() && probe.established(); }));
  ASSERT_TRUE(nobody.Connect(third, Loopback()));
  ASSERT_TRUE(drive_all(&nobody, [&] { return nobody.over(); }));
  EXPECT_EQ(nobody.reject_reason(), transport::RejectReason::kNonPeer) << nobody.why();
}

// A qualifier on which nobody listens, and no other process will.
uint64_t FreeQualifier() {
  return OwnQualifier([](uint64_t own) {
    BenchNode node(TcpOptions{}, 64, 1);
    return node.Listen(own) == own;
  });
}

// A program that connects before the other side has its PSP does not fail at once.
// covers: semantics 9.2
TEST(Lifecycle, AConnectMayComeBeforeItsListener) {
  const uint64_t qual = FreeQualifier();
  TcpOptions patient;
  patient.connect_grace = std::chrono::hours(1);
  BenchNode a(patient, 4096, 4), b(TcpOptions{}, 4096, 4);
  ASSERT_TRUE(a.Connect(qual, Loopback()));
  // The wait is long enough for a refusal.
  const auto later = transport::Clock::now() + std::chrono::milliseconds(50);
  ASSERT_TRUE(a.Until(Wait::kPoll, [&] { return transport::Clock::now() >= later; }));
  ASSERT_FALSE(a.over()) << a.why();
  ASSERT_FALSE(a.established());
  ASSERT_EQ(b.Listen(qual), qual);
  EXPECT_TRUE(a.Until(Wait::kPoll, [&] {
    b.adapter().Progress(nullptr, transport::Clock::now());
    return (a.established() && b.established()) || a.over();
  }));
  EXPECT_TRUE(a.established()) << a.why();
}

// covers: semantics 9.2
TEST(Lifecycle, TheGraceOfAConnectEnds) {
  for (const int grace_ms : {0, 60}) {
    TcpOptions options;
    options.connect_grace = std::chrono::milliseconds(grace_ms);
    BenchNode a(options, 4096, 4);
    const auto start = transport::Clock::now();
    ASSERT_TRUE(a.Connect(FreeQualifier(), Loopback()));
    ASSERT_TRUE(a.Until(Wait::kSleep, [&] { return a.over(); }));
    EXPECT_EQ(a.reject_reason(), transport::RejectReason::kNonPeer) << a.why();
    EXPECT_GE(transport::Clock::now() - start, std::chrono::milliseconds(grace_ms));
  }
}

TEST(Lifecycle, OneThreadMayPollManyAdapters) {
  constexpr int kPairs = 16;
  std::vector<std::unique_ptr<BenchNode>> nodes;
  for (int i = 0; i < kPairs; ++i) {
    nodes.push_back(std::make_unique<BenchNode>(TcpOptions{}, 8192, 8));
    nodes.push_back(std::make_unique<BenchNode>(TcpOptions{}, 8192, 8));
    BenchNode &a = *nodes[nodes.size() - 2], &b = *nodes.back();
    ASSERT_EQ(b.PostReceive(4096, 64), Code::kOk);
    ASSERT_TRUE(Join(&a, &b, b.Listen()));
    ASSERT_EQ(a.PostSend(0, 64, 0), Code::kOk);
  }
  for (int i = 0; i < kPairs; ++i) {
    BenchNode& b = *nodes[static_cast<size_t>(i) * 2 + 1];
    while (b.receives < 1) ASSERT_TRUE(b.ReapOne(Wait::kPoll)) << i;
  }
}

TEST(Lifecycle, AnAdapterThatIsOnlyOpenedCostsNoDescriptor) {
  const int before = OwnedDescriptorCount();
  std::vector<std::unique_ptr<BenchNode>> nodes;
  for (int i = 0; i < 100; ++i) nodes.push_back(std::make_unique<BenchNode>(TcpOptions{}, 64, 1));
  EXPECT_EQ(OwnedDescriptorCount(), before);
}

// Runs `body` in a child process, because it lowers limits and forks again. The child ends by
// _exit.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

TEST(Lifecycle, ListenersOutliveASpellWithoutDescriptors) {
  EXPECT_EQ(InChild([] {
              BenchNode b(TcpOptions{}, 4096, 4);
              const uint64_t qual = b.Listen();
              TcpOptions patient;
              BenchNode a(patient, 4096, 4);
              a.Listen();  // has its loop from now on
              // Every descriptor is taken but the one that the connecting end needs, so that the
              // helper cannot be quicker than this. And the limit cannot be raised.
              std::vector<int> hoard;
              const rlimit low{64, 64};
              if (setrlimit(RLIMIT_NOFILE, &low) != 0) return 2;
              for (int fd; (fd = dup(0)) >= 0;) hoard.push_back(fd);
              close(hoard.back());
              hoard.pop_back();
              if (!a.Connect(qual, Loopback())) return 1;
              if (dup(0) >= 0) return 6;
              const uint64_t turns = b.softnet().counters().blocking_waits.value();
              // Time passes. The connection stays in the backlog, and nobody spins on it.
              transport::Waiter nap;
              nap.Park(transport::Clock::now() + std::chrono::milliseconds(120));
              if (b.softnet().counters().blocking_waits.value() - turns > 40) return 3;
              if (b.established()) return 4;
              for (const int fd : hoard) close(fd);
              return Join(&a, &b, qual) || a.established() ||
                             a.Until(Wait::kSleep, [&] { return a.established(); })
                         ? 0
                         : 5;
            }),
            0);
}

TEST(Lifecycle, TheSoftLimitOfDescriptorsIsRaisedWhenNeeded) {
  EXPECT_EQ(InChild([] {
              BenchNode a(TcpOptions{}, 4096, 4), b(TcpOptions{}, 4096, 4);
              rlimit limit{};
              getrlimit(RLIMIT_NOFILE, &limit);
              limit.rlim_cur = 40;
              if (limit.rlim_max < 200 || setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
              while (dup(0) >= 0) {
              }
              // No descriptor is left for the loop, the listener, or either end of the connection.
              const uint64_t qual = b.Listen();
              if (qual == 0) return 2;
              return Join(&a, &b, qual) ? 0 : 3;
            }),
            0);
}

TEST(Lifecycle, AForkedChildLetsGoAndTheParentGoesOn) {
  EXPECT_EQ(InChild([] {
              BenchNode a(TcpOptions{}, 8192, 8), b(TcpOptions{}, 8192, 8);
              if (b.PostReceive(4096, 64) != Code::kOk) return 1;
              if (!Join(&a, &b, b.Listen())) return 2;
              int ready[2];
              if (pipe(ready) != 0) return 3;
              const pid_t grandchild = fork();
              if (grandchild == 0) {
                a.adapter().AbandonAfterFork();
                b.adapter().AbandonAfterFork();
                if (OwnedDescriptorCount() != 0) _exit(1);
                if (write(ready[1], "x", 1) != 1) _exit(2);
                pause();  // it holds no copy of the parent's sockets
                _exit(0);
              }
              char byte;
              if (read(ready[0], &byte, 1) != 1) return 4;
              if (a.PostSend(0, 64, 0) != Code::kOk) return 5;
              while (b.receives < 1) {
                if (!b.ReapOne(Wait::kSleep)) return 6;
              }
              // The peer sees the end of the parent's connection although the child lives.
              a.ClosePair();
              const bool seen = b.Until(Wait::kSleep, [&] { return b.over(); });
              kill(grandchild, SIGKILL);
              waitpid(grandchild, nullptr, 0);
              return seen ? 0 : 7;
            }),
            0);
}

TEST(BackendTest, NamesItsDevicesAndRefusesOthersWithAReason) {
  const std::unique_ptr<transport::Backend> backend = MakeBackend();
  bool lo = false;
  for (const transport::Backend::Device& d : backend->Devices()) {
    EXPECT_EQ(d.name.rfind("softnet-", 0), 0u);
    lo |= d.name == "softnet-lo" && d.unavailable.empty();
  }
  EXPECT_TRUE(lo);
  for (const char* name : {"softnet-lo", "lo"}) {
    Result<std::unique_ptr<transport::Adapter>> adapter = backend->Open(name, nullptr);
    ASSERT_TRUE(adapter.ok()) << adapter.status().reason();
    EXPECT_EQ(adapter.value()->attributes().device_name, "lo");
    EXPECT_EQ(adapter.value()->attributes().address.ss_family, AF_INET);
  }
  const Result<std::unique_ptr<transport::Adapter>> none =
      backend->Open("softnet-nosuch0", nullptr);
  EXPECT_EQ(none.status().code(), Code::kNotFound);
  EXPECT_NE(none.status().reason().find("lo"), std::string::npos);
}

}  // namespace
}  // namespace softdat::softnet
