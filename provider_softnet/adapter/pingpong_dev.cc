// SPDX-License-Identifier: BSD-3-Clause
// Developer's benchmark: the driver against raw TCP loops, in the same pair of processes,
// interleaved, in short runs. Prints the ratios that the design promises. Not a test.
//
//   pingpong_dev [same|window]   "same": both ends on one processor
//                                "window": only the message rate
#include <arpa/inet.h>
#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "provider_softnet/adapter/bench_node.h"

namespace softdat::softnet {
namespace {

using Clock = std::chrono::steady_clock;
using Wait = BenchNode::Wait;

constexpr int kRounds = 7;
constexpr int kPings = 4000;
constexpr size_t kRawBytes = 84;  // 64 of payload and the framing
constexpr uint32_t kBytes = 64;
constexpr int kStream = 100000;
constexpr uint32_t kWindow = 64;

void Pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

bool SendAll(int fd, size_t size) {
  char buffer[kRawBytes] = {};
  return send(fd, buffer, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

bool ReceiveAll(int fd, size_t size, int epoll_fd) {
  char buffer[kRawBytes];
  for (size_t have = 0; have < size;) {
    if (epoll_fd >= 0) {
      epoll_event e;
      if (epoll_wait(epoll_fd, &e, 1, -1) < 0) return false;
    }
    const ssize_t n = recv(fd, buffer, size - have, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN)) return false;
    if (n > 0) have += static_cast<size_t>(n);
  }
  return true;
}

void RawPings(int fd, int epoll_fd, bool client) {
  for (int i = 0; i < kPings; ++i) {
    if (client) SendAll(fd, kRawBytes);
    if (!ReceiveAll(fd, kRawBytes, epoll_fd)) return;
    if (!client) SendAll(fd, kRawBytes);
  }
}

void NodePings(BenchNode* node, Wait wait, bool client) {
  const uint64_t target = node->receives + kPings;
  if (client) node->PostSend(0, kBytes, 0);
  while (node->receives < target) {
    const uint64_t before = node->receives;
    if (!node->ReapOne(wait)) return;
    if (node->receives == before) continue;
    node->PostReceive(4096, kBytes);
    if (!client || node->receives < target) node->PostSend(0, kBytes, 0);
  }
}

// Sends in a window. The other end only receives.
void NodeStream(BenchNode* node, bool client) {
  if (!client) {
    const uint64_t target = node->receives + kStream;
    while (node->receives < target) {
      const uint64_t before = node->receives;
      if (!node->ReapOne(Wait::kPoll)) return;
      if (node->receives != before) node->PostReceive(4096, kBytes);
    }
    node->PostSend(0, kBytes, 0);
    return;
  }
  const uint64_t first = node->sends, target = node->receives + 1;
  uint64_t posted = 0;
  while (node->sends - first < kStream) {
    while (posted < kStream && posted - (node->sends - first) < kWindow) {
      if (node->PostSend(0, kBytes, 0) != Code::kOk) break;
      ++posted;
    }
    if (!node->ReapOne(Wait::kPoll)) return;
  }
  while (node->receives < target) {
    if (!node->ReapOne(Wait::kPoll)) return;
  }
  node->PostReceive(4096, kBytes);
}

void RawStream(int fd, bool client) {
  std::vector<char> buffer(kRawBytes * kWindow);
  const size_t total = kRawBytes * kStream;
  if (client) {
    for (size_t done = 0; done < total;) {
      const ssize_t n =
          send(fd, buffer.data(), std::min(buffer.size(), total - done), MSG_NOSIGNAL);
      if (n > 0) done += static_cast<size_t>(n);
      if (n < 0 && errno != EAGAIN) return;
    }
    ReceiveAll(fd, 1, -1);
  } else {
    for (size_t done = 0; done < total;) {
      const ssize_t n = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (n > 0) done += static_cast<size_t>(n);
      if (n == 0 || (n < 0 && errno != EAGAIN)) return;
    }
    SendAll(fd, 1);
  }
}

struct Peer {
  int raw = -1;
  int epoll = -1;
  BenchNode* node = nullptr;
  bool client = false;
  bool same = false;
  bool window_only = false;
};

// User and system time of this process.
double CpuSeconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

double Seconds(const std::function<void()>& work) {
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void RunWindow(const Peer& p) {
  const double t0 = CpuSeconds();
  for (int i = 0; i < kRounds; ++i) RawStream(p.raw, p.client);
  const double t1 = CpuSeconds();
  for (int i = 0; i < kRounds; ++i) NodeStream(p.node, p.client);
  const double t2 = CpuSeconds();
  fmt::print("{:8} processor time per message: raw {:.0f} ns, softnet {:.0f} ns\n",
             p.client ? "sender" : "receiver", (t1 - t0) / kRounds / kStream * 1e9,
             (t2 - t1) / kRounds / kStream * 1e9);
  if (p.client) {
    const ChannelCounters& c = p.node->channel();
    fmt::print("{} sends in {} calls\n", kRounds * kStream, c.send_calls.value());
  }
}

void Run(const Peer& p) {
  if (p.window_only) return RunWindow(p);
  std::map<std::string, std::vector<double>> times;
  for (int i = 0; i < kRounds; ++i) {
    if (!p.same) {  // on one processor a spin waits for the scheduler's next slice
      times["raw spin"].push_back(Seconds([&] { RawPings(p.raw, -1, p.client); }));
      times["softnet poll"].push_back(Seconds([&] { NodePings(p.node, Wait::kPoll, p.client); }));
    }
    times["raw epoll"].push_back(Seconds([&] { RawPings(p.raw, p.epoll, p.client); }));
    times["softnet wait"].push_back(Seconds([&] { NodePings(p.node, Wait::kSleep, p.client); }));
    if (p.same) continue;
    times["raw gathered"].push_back(Seconds([&] { RawStream(p.raw, p.client); }));
    times["softnet window"].push_back(Seconds([&] { NodeStream(p.node, p.client); }));
  }
  if (!p.client) return;
  std::map<std::string, double> median;
  for (auto& [name, t] : times) {
    std::sort(t.begin(), t.end());
    median[name] = t[t.size() / 2];
    const bool stream = name == "raw gathered" || name == "softnet window";
    fmt::print("{:15} {:8.2f} {}\n", name,
               stream ? kStream / median[name] / 1e6 : median[name] / kPings / 2 * 1e6,
               stream ? "M msg/s" : "us one way");
  }
  fmt::print(
      "poll / raw spin   {:.2f}\nwait / raw epoll  {:.2f}\nwindow / raw      {:.2f} (of the "
      "rate)\n",
      median["softnet poll"] / median["raw spin"], median["softnet wait"] / median["raw epoll"],
      median["raw gathered"] / median["softnet window"]);
  fmt::print("{}\n", p.node->softnet().counters().Text());
}

int Main(bool same, bool window_only) {
  int pipe_fds[2];
  if (pipe(pipe_fds) != 0) return 1;
  struct Ports {
    uint64_t qual;
    uint16_t raw;
  } ports{};
  const pid_t child = fork();
  if (same) Pin(0);
  if (!same && sysconf(_SC_NPROCESSORS_ONLN) > 1) Pin(child == 0 ? 1 : 0);
  BenchNode node(TcpOptions::FromSettings(), 8192, 1024);
  for (int i = 0; i < 512; ++i) node.PostReceive(4096, kBytes);
  Peer peer;
  peer.node = &node;
  peer.client = child != 0;
  peer.same = same;
  peer.window_only = window_only;
  const int on = 1;
  sockaddr_storage address = Loopback();
  if (child == 0) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t size = sizeof(sockaddr_in);
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener, 1) != 0)
      return 1;
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    ports.raw = reinterpret_cast<sockaddr_in&>(address).sin_port;
    ports.qual = node.Listen();
    if (write(pipe_fds[1], &ports, sizeof(ports)) != sizeof(ports)) return 1;
    peer.raw = accept(listener, nullptr, nullptr);
  } else {
    if (read(pipe_fds[0], &ports, sizeof(ports)) != sizeof(ports)) return 1;
    peer.raw = socket(AF_INET, SOCK_STREAM, 0);
    reinterpret_cast<sockaddr_in&>(address).sin_port = ports.raw;
    if (connect(peer.raw, reinterpret_cast<sockaddr*>(&address), sizeof(sockaddr_in)) != 0)
      return 1;
    node.Connect(ports.qual, Loopback());
  }
  setsockopt(peer.raw, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  peer.epoll = epoll_create1(0);
  epoll_event e{};
  e.events = EPOLLIN;
  epoll_ctl(peer.epoll, EPOLL_CTL_ADD, peer.raw, &e);
  if (!node.Until(Wait::kSleep, [&] { return node.established() || node.over(); }) || node.over())
    return 1;
  Run(peer);
  if (child != 0) waitpid(child, nullptr, 0);
  return 0;
}

}  // namespace
}  // namespace softdat::softnet

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  return softdat::softnet::Main(mode == "same", mode == "window");
}
