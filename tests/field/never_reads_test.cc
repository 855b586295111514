// SPDX-License-Identifier: BSD-3-Clause
// A graceful disconnect waits for a peer that carries out the posted requests, however slowly. It
// does not wait for one that never does.
#include <stdlib.h>

#include <chrono>
#include <thread>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

// Set before the first DAT call, which reads it.
const int g_set = setenv("SOFTDAT_DISCONNECT_MS", "1000", 1);

constexpr size_t kSize = 4 << 20;

DAT_DTO_COMPLETION_STATUS StatusOfNext(DAT_EVD_HANDLE evd) {
  DAT_EVENT event{};
  EXPECT_TRUE(Expect(evd, DAT_DTO_COMPLETION_EVENT, &event));
  return event.event_data.dto_completion_event_data.status;
}

class NeverReadsTest : public testing::TestWithParam<size_t> {};

// A message that fits into the sockets' buffers, and one that does not.
INSTANTIATE_TEST_SUITE_P(Bytes, NeverReadsTest, testing::Values(8, kSize));

TEST_P(NeverReadsTest, APeerWithoutReceivesIsLeft) {
  constexpr int kMessages = 8;
  ASSERT_EQ(g_set, 0);
  Ia ia;
  Memory memory(ia, kSize);
  End leaving(ia);
  End idle(ia);
  ASSERT_TRUE(Join(leaving, idle));
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_DAT_OK(PostSend(leaving.ep, memory.Local(0, GetParam()), i));
  }
  ASSERT_DAT_OK(dat_ep_disconnect(leaving.ep, DAT_CLOSE_GRACEFUL_FLAG));
  for (int i = 0; i < kMessages; ++i) {
    EXPECT_EQ(StatusOfNext(leaving.request_evd), DAT_DTO_ERR_FLUSHED);
  }
  EXPECT_TRUE(Expect(leaving.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
  EXPECT_TRUE(Expect(idle.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
}

// The peer's TCP takes data, which shows that the peer reads.
TEST(SlowReaderTest, IsWaitedForLongerThanTheLimit) {
  constexpr int kMessages = 15;
  Ia ia;
  Memory memory(ia, kSize);
  Memory target(ia, kSize);
  End leaving(ia);
  End slow(ia);
  ASSERT_TRUE(Join(leaving, slow));
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_DAT_OK(PostSend(leaving.ep, memory.Local(0, kSize), i));
  }
  ASSERT_DAT_OK(dat_ep_disconnect(leaving.ep, DAT_CLOSE_GRACEFUL_FLAG));
  // All messages together take twice the limit.
  for (int i = 0; i < kMessages; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(130));
    ASSERT_DAT_OK(PostReceive(slow.ep, target.Local(0, kSize), i));
    ASSERT_TRUE(ExpectDto(slow.recv_evd, i, kSize));
  }
  for (int i = 0; i < kMessages; ++i) {
    EXPECT_EQ(StatusOfNext(leaving.request_evd), DAT_DTO_SUCCESS);
  }
  EXPECT_TRUE(Expect(leaving.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
  EXPECT_TRUE(Expect(slow.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
}

}  // namespace
}  // namespace softdat::field
