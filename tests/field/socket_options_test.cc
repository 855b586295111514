// SPDX-License-Identifier: BSD-3-Clause
// The options of the sockets on which the provider receives.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

// Set before the first DAT call, which reads it.
const int g_set = setenv("SOFTDAT_BUSY_POLL_US", "37", 1);

int Option(int fd, int level, int option) {
  int value = -1;
  socklen_t size = sizeof(value);
  return getsockopt(fd, level, option, &value, &size) == 0 ? value : -1;
}

// What a socket has when this program has asked for it. The kernel may refuse.
int Granted(int option, int value) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  setsockopt(fd, SOL_SOCKET, option, &value, sizeof(value));
  const int granted = Option(fd, SOL_SOCKET, option);
  close(fd);
  return granted;
}

bool IsConnection(int fd) {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  return Option(fd, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP &&
         getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
}

// Of RoCEv2's sockets, those with its port receive.
bool Receives(int fd) {
  constexpr int kRocePort = 4791;
  const int protocol = Option(fd, SOL_SOCKET, SO_PROTOCOL);
  if (protocol == IPPROTO_TCP) return true;
  sockaddr_storage own{};
  socklen_t size = sizeof(own);
  if (protocol != IPPROTO_UDP || getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) != 0)
    return false;
  return ntohs(reinterpret_cast<const sockaddr_in*>(&own)->sin_port) == kRocePort;
}

// SOFTDAT_BUSY_POLL_US reaches all of them, as far as the kernel allows it, and everything works as
// without.
TEST(SocketOptionsTest, AllThatReceiveMayPollTheDevice) {
  ASSERT_EQ(g_set, 0);
  const int limit = Granted(SO_BUSY_POLL, 37);
  const int preferred = limit == 37 ? Granted(SO_PREFER_BUSY_POLL, 1) : 0;
  Ia ia;
  Memory memory(ia, 4096);
  End a(ia);
  End b(ia);
  ASSERT_TRUE(Join(a, b));
  int sockets = 0;
  for (const int fd : OpenDescriptors()) {
    if (!Receives(fd)) continue;
    EXPECT_EQ(Option(fd, SOL_SOCKET, SO_BUSY_POLL), limit) << fd;
    EXPECT_EQ(Option(fd, SOL_SOCKET, SO_PREFER_BUSY_POLL), preferred) << fd;
    ++sockets;
  }
  EXPECT_GT(sockets, 0);
  ASSERT_DAT_OK(PostRead(a.ep, memory.Local(0, 8), memory.Remote(64, 8), 1));
  DAT_EVENT event{};
  ASSERT_TRUE(Expect(a.request_evd, DAT_DTO_COMPLETION_EVENT, &event));
  EXPECT_EQ(event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
}

// Neither end of a connection over TCP waits to send a small message, and both notice when the
// peer's host vanishes.
TEST(SocketOptionsTest, ConnectionsDelayNothingAndProbeWhenIdle) {
  Ia ia;
  End a(ia);
  End b(ia);
  ASSERT_TRUE(Join(a, b));
  int connections = 0;
  for (const int fd : OpenDescriptors()) {
    if (!IsConnection(fd)) continue;
    EXPECT_EQ(Option(fd, IPPROTO_TCP, TCP_NODELAY), 1) << fd;
    EXPECT_EQ(Option(fd, SOL_SOCKET, SO_KEEPALIVE), 1) << fd;
    EXPECT_EQ(Option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 15) << fd << ", half of SOFTDAT_DEAD_PATH_MS";
    ++connections;
  }
  const bool over_udp = std::string_view(IaName()).starts_with("softnet-udp");
  EXPECT_EQ(connections, over_udp ? 0 : 2);
}

// How much the kernel lets wait in the two sockets of a connection.
std::vector<int> SendBuffers() {
  std::vector<int> sizes;
  for (const int fd : OpenDescriptors()) {
    if (IsConnection(fd)) sizes.push_back(Option(fd, SOL_SOCKET, SO_SNDBUF));
  }
  return sizes;
}

// Within a host, what waits in a socket that sends large messages stays in the caches. The kernel
// would let megabytes wait. An end that posts none keeps what the kernel gives it, also if it
// answers large reads.
TEST(SocketOptionsTest, LargeMessagesToThisHostWaitInAShortQueue) {
  constexpr size_t kLarge = size_t{1} << 20;
  // A MiB if two can be had, since the queue may need more room. Otherwise less than anybody may
  // set.
  const bool has_room = Granted(SO_SNDBUF, 1 << 20) == 2 << 20;
  const int short_queue = Granted(SO_SNDBUF, has_room ? 512 << 10 : 144 << 10);
  Ia ia;
  Memory memory(ia, 2 * kLarge);
  End a(ia);
  End b(ia);
  ASSERT_TRUE(Join(a, b));
  const auto transfer = [&](auto post, size_t size) {
    DAT_EVENT event{};
    EXPECT_DAT_OK(post(a.ep, memory.Local(0, size), memory.Remote(kLarge, size), 1));
    EXPECT_TRUE(Expect(a.request_evd, DAT_DTO_COMPLETION_EVENT, &event));
    EXPECT_EQ(event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
  };
  const auto shortened = [&] { return std::ranges::count(SendBuffers(), short_queue); };
  const auto write = [](auto&&... args) { return PostWrite(args...); };
  const auto read = [](auto&&... args) { return PostRead(args...); };
  constexpr size_t kBulk = size_t{128} << 10;
  for (int round = 0; round < 20; ++round) transfer(write, kBulk - 1);
  transfer(read, kLarge);
  EXPECT_EQ(shortened(), 0);
  transfer(write, kBulk);
  const bool over_udp = std::string_view(IaName()).starts_with("softnet-udp");
  EXPECT_EQ(SendBuffers().size(), over_udp ? 0u : 2u);
  EXPECT_EQ(shortened(), over_udp ? 0 : 1);
}

}  // namespace
}  // namespace softdat::field
