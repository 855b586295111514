// SPDX-License-Identifier: BSD-3-Clause
// A connection whose path is dead, as when a cable is pulled. It breaks at both ends within
// SOFTDAT_DEAD_PATH_MS, with data under way and without. The sockets of the provider drop
// everything that arrives, because of a filter that the kernel runs in front of TCP.
#include <linux/filter.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

// Set before the first DAT call, which reads it.
const int g_set = setenv("SOFTDAT_DEAD_PATH_MS", "1000", 1);

// Cuts every TCP connection of this process, and returns how many there were.
int CutAllPaths() {
  sock_filter drop_all[] = {{BPF_RET | BPF_K, 0, 0, 0}};
  const sock_fprog program{1, drop_all};
  int cut = 0;
  for (const int fd : OpenDescriptors()) {
    int protocol = 0;
    socklen_t size = sizeof(protocol);
    if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) != 0) continue;
    sockaddr_storage peer{};
    size = sizeof(peer);
    if (protocol != IPPROTO_TCP || getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0)
      continue;
    EXPECT_EQ(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)), 0);
    ++cut;
  }
  return cut;
}

// covers: semantics 9.6
TEST(DeadPathTest, IsReportedAtBothEnds) {
  ASSERT_EQ(g_set, 0);
  Ia ia;
  Memory memory(ia, 4096);
  End busy(ia);
  End idle(ia);
  ASSERT_TRUE(Join(busy, idle));
  ASSERT_EQ(CutAllPaths(), 2);
  ASSERT_DAT_OK(PostRead(busy.ep, memory.Local(0, 8), memory.Remote(64, 8), 1));
  DAT_EVENT event{};
  ASSERT_TRUE(Expect(busy.request_evd, DAT_DTO_COMPLETION_EVENT, &event));
  EXPECT_EQ(event.event_data.dto_completion_event_data.status, DAT_DTO_ERR_TRANSPORT);
  EXPECT_TRUE(Expect(busy.connect_evd, DAT_CONNECTION_EVENT_BROKEN));
  EXPECT_TRUE(Expect(idle.connect_evd, DAT_CONNECTION_EVENT_BROKEN));
}

}  // namespace
}  // namespace softdat::field
