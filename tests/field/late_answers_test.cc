// SPDX-License-Identifier: BSD-3-Clause
// What acknowledges the last messages of a connection comes behind what says that their receiver
// has left. The sender's completions succeed all the same, because the peer has the messages.
#include <stdlib.h>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

// Set before the first DAT call, which reads it. Packets are overtaken, and none is lost.
const int g_set = setenv("SOFTDAT_UDP_LOSS", "reorder=20%;seed=1", 1);

constexpr uint64_t kMessages = 12;
constexpr size_t kSize = 64;

TEST(LateAnswersTest, OfAPeerThatHasLeftCount) {
  ASSERT_EQ(g_set, 0);
  Ia ia;
  Memory memory(ia, 2 * kSize);  // what is sent, and what arrives
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    End sender(ia);
    End receiver(ia);
    ASSERT_TRUE(Join(sender, receiver));
    for (uint64_t i = 0; i < kMessages; ++i) {
      ASSERT_DAT_OK(PostReceive(receiver.ep, memory.Local(kSize, kSize), i));
    }
    for (uint64_t i = 0; i < kMessages; ++i) {
      ASSERT_DAT_OK(PostSend(sender.ep, memory.Local(0, kSize), i));
    }
    for (uint64_t i = 0; i < kMessages; ++i) ASSERT_TRUE(ExpectDto(receiver.recv_evd, i, kSize));
    ASSERT_DAT_OK(dat_ep_disconnect(receiver.ep, DAT_CLOSE_ABRUPT_FLAG));
    for (uint64_t i = 0; i < kMessages; ++i) ASSERT_TRUE(ExpectDto(sender.request_evd, i, kSize));
    ASSERT_TRUE(Expect(sender.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
  }
}

}  // namespace
}  // namespace softdat::field
