// SPDX-License-Identifier: BSD-3-Clause
// SOFTDAT_BUSY_POLL_US reaches every socket on which the provider receives, if the kernel allows
// it. If it does not, everything works as without.
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

constexpr int kMicroseconds = 37;

// Set before the first DAT call, which reads it.
const int g_set = setenv("SOFTDAT_BUSY_POLL_US", "37", 1);

int Option(int fd, int option) {
  int value = -1;
  socklen_t size = sizeof(value);
  return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

// What a socket has when the program asked for it.
int Allowed() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &kMicroseconds, sizeof(kMicroseconds));
  const int allowed = Option(fd, SO_BUSY_POLL);
  close(fd);
  return allowed;
}

// Of RoCEv2's sockets, those with its port receive.
bool Receives(int fd) {
  constexpr int kRocePort = 4791;
  const int protocol = Option(fd, SO_PROTOCOL);
  if (protocol == IPPROTO_TCP) return true;
  sockaddr_storage own{};
  socklen_t size = sizeof(own);
  if (protocol != IPPROTO_UDP || getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) != 0)
    return false;
  return ntohs(reinterpret_cast<const sockaddr_in*>(&own)->sin_port) == kRocePort;
}

TEST(BusyPollingTest, IsAskedForOnAllSocketsThatReceive) {
  ASSERT_EQ(g_set, 0);
  const int allowed = Allowed();
  Ia ia;
  Memory memory(ia, 4096);
  End a(ia);
  End b(ia);
  ASSERT_TRUE(Join(a, b));
  int sockets = 0;
  for (const int fd : OpenDescriptors()) {
    if (!Receives(fd)) continue;
    EXPECT_EQ(Option(fd, SO_BUSY_POLL), allowed) << fd;
    if (allowed == kMicroseconds) {
      EXPECT_EQ(Option(fd, SO_PREFER_BUSY_POLL), 1) << fd;
    }
    ++sockets;
  }
  EXPECT_GT(sockets, 0);
  ASSERT_DAT_OK(PostRead(a.ep, memory.Local(0, 8), memory.Remote(64, 8), 1));
  DAT_EVENT event{};
  ASSERT_TRUE(Expect(a.request_evd, DAT_DTO_COMPLETION_EVENT, &event));
  EXPECT_EQ(event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
}

}  // namespace
}  // namespace softdat::field
