// SPDX-License-Identifier: BSD-3-Clause
// dat_evd_resize while messages arrive: nothing is lost, and the order is kept (semantics 5.2).
#include <atomic>
#include <thread>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

constexpr uint64_t kMessages = 3'000;
constexpr DAT_COUNT kSizes[] = {64, 300, 40, 1000, 33, 128};

// Sends numbered messages, never more than 16 ahead of the receiver, which reposts as it reaps.
void Send(const End& a, const Memory& memory, const std::atomic<uint64_t>* received) {
  for (uint64_t i = 0; i < kMessages; ++i) {
    while (i >= received->load() + 8) std::this_thread::yield();
    ASSERT_DAT_OK(PostSend(a.ep, memory.Local(8, 8), i));
    ASSERT_TRUE(ExpectDto(a.request_evd, i, 8));
  }
}

// covers: semantics 5.2
TEST(EvdResizeTest, InMidTraffic) {
  Ia sender_ia;
  Ia ia;
  Memory source(sender_ia, 64);
  Memory memory(ia, 64);
  End a(sender_ia);
  End b(ia);
  ASSERT_TRUE(Join(a, b));
  for (uint64_t i = 0; i < 16; ++i) ASSERT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), i));
  std::atomic<uint64_t> received{0};
  std::jthread sender([&] { Send(a, source, &received); });
  // Another thread resizes too. It is often refused, because the receiver is waiting at that
  // moment.
  std::jthread resizer([&](const std::stop_token& stop) {
    for (size_t k = 0; !stop.stop_requested(); ++k) {
      const DAT_RETURN ret = dat_evd_resize(b.recv_evd, kSizes[k % std::size(kSizes)]);
      EXPECT_TRUE(ret == DAT_SUCCESS || DAT_GET_TYPE(ret) == DAT_INVALID_STATE) << Text(ret);
      std::this_thread::yield();
    }
  });
  for (uint64_t i = 0; i < kMessages; ++i) {
    if (i % 7 == 0) ASSERT_DAT_OK(dat_evd_resize(b.recv_evd, kSizes[i / 7 % std::size(kSizes)]));
    // Waits and polls in turn.
    DAT_EVENT event{};
    if (i % 2 == 0) {
      ASSERT_TRUE(Await(b.recv_evd, &event));
    } else {
      DAT_RETURN ret = DAT_SUCCESS;
      do {
        ret = dat_evd_dequeue(b.recv_evd, &event);
      } while (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY);
      ASSERT_DAT_OK(ret);
    }
    ASSERT_EQ(event.event_number, DAT_DTO_COMPLETION_EVENT);
    ASSERT_EQ(event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
    ASSERT_EQ(event.event_data.dto_completion_event_data.user_cookie.as_64, i);
    if (i + 16 < kMessages) ASSERT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), i + 16));
    ++received;
  }
  sender.join();
  resizer.request_stop();
  resizer.join();
  DAT_EVENT event{};
  EXPECT_DAT_TYPE(dat_evd_dequeue(ia.async_evd(), &event), DAT_QUEUE_EMPTY);
}

// With a backlog, events stay as long as they fit. A length below their number is refused.
// covers: semantics 5.2
TEST(EvdResizeTest, KeepsTheBacklog) {
  Ia ia;
  const DAT_EVD_HANDLE evd = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG, 16);
  uint64_t posted = 0;
  uint64_t taken = 0;
  const auto take = [&] {
    DAT_EVENT event{};
    ASSERT_DAT_OK(dat_evd_dequeue(evd, &event));
    ASSERT_EQ(NumberOf(event), taken);
    ++taken;
  };
  for (const DAT_COUNT size : {16, 50, 13, 200, 30}) {
    while (posted - taken < 12) ASSERT_DAT_OK(PostNumber(evd, posted++));
    take();
    ASSERT_DAT_OK(dat_evd_resize(evd, size));
    EXPECT_DAT_TYPE(dat_evd_resize(evd, 5), DAT_INVALID_STATE);
    DAT_EVD_PARAM param{};
    ASSERT_DAT_OK(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
    EXPECT_GE(param.evd_qlen, size);
  }
  while (taken < posted) take();
  EXPECT_DAT_OK(dat_evd_free(evd));
}

}  // namespace
}  // namespace softdat::field
