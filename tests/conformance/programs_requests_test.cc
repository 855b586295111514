// SPDX-License-Identifier: BSD-3-Clause
// Programs that do not look at the completions of their requests (docs/porting.md, "What programs
// do").
#include <sched.h>

#include <chrono>

#include "tests/conformance/party.h"

namespace softdat::conformance {
namespace {

class ProgramsRequestsTest : public ConformanceTest {
 protected:
  void SetUp() override {
    ConformanceTest::SetUp();
    if (HasFatalFailure()) return;
    DAT_EP_ATTR attr{};
    attr.max_recv_dtos = 64;
    attr.max_request_dtos = 16;
    attr.max_recv_iov = attr.max_request_iov = 1;
    request_ = active_.MakeEvd(DAT_EVD_DTO_FLAG, 1);
    recv_ = active_.MakeEvd(DAT_EVD_DTO_FLAG, 64);
    connect_ = active_.MakeEvd(DAT_EVD_CONNECTION_FLAG, 4);
    ASSERT_OK(dat_ep_create(active_.ia, active_.pz, recv_, request_, connect_, &attr, &ping_));
    evd_ = passive_.MakeEvd(DAT_EVD_DTO_FLAG, 256);
    const DAT_EVD_HANDLE connections = passive_.MakeEvd(kConnections, 4);
    pong_ = passive_.MakeEp(evd_, connections, &attr);
    JoinParties({active_, ping_, connect_, passive_, pong_, connections, connections}, address());
  }
  // Posts a request whose success nobody wants to hear of. If the queue is full, tries again a
  // little later.
  template <typename Post>
  static void PostUntilTaken(Post post) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(kPatienceUs);
    DAT_RETURN ret = post();
    while (DAT_GET_TYPE(ret) == DAT_INSUFFICIENT_RESOURCES &&
           std::chrono::steady_clock::now() < deadline) {
      sched_yield();
      ret = post();
    }
    ASSERT_OK(ret);
  }

  Party active_, passive_;
  DAT_EVD_HANDLE request_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE recv_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE connect_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE evd_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE ping_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE pong_ = DAT_HANDLE_NULL;
};
CONFORMANCE_FAMILIES(ProgramsRequestsTest);

// This is many times the length of the send queue. Receives are the only events.
// covers: semantics 10.1
TEST_P(ProgramsRequestsTest, AnswersInsteadOfCompletions) {
  for (uint64_t i = 0; i < 500; ++i) {
    ASSERT_OK(PostRecv(ping_, {}, i));
    ASSERT_OK(PostRecv(pong_, {}, i));
    ASSERT_OK(PostSend(ping_, {}, i, DAT_COMPLETION_SUPPRESS_FLAG));
    EXPECT_EQ(PollFor(evd_).event_data.dto_completion_event_data.user_cookie.as_64, i);
    ASSERT_OK(PostSend(pong_, {}, i, DAT_COMPLETION_SUPPRESS_FLAG));
    EXPECT_EQ(PollFor(recv_).event_data.dto_completion_event_data.user_cookie.as_64, i);
    if (HasFailure()) break;
  }
}

// Messages go one way, and nothing comes back. The queue becomes free by itself. The sender sends
// no more than the posted receives.
// covers: semantics 10.1
TEST_P(ProgramsRequestsTest, AStreamOfSuppressedSends) {
  constexpr uint64_t kMessages = 2000;
  constexpr uint64_t kReceives = 32;
  for (uint64_t i = 0; i < kReceives; ++i) ASSERT_OK(PostRecv(pong_, {}, i));
  uint64_t received = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(kPatienceUs);
  const auto take_until = [&](auto enough) {
    while (!enough() && !HasFailure()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << received;
      DAT_EVENT event{};
      if (dat_evd_dequeue(evd_, &event) != DAT_SUCCESS) {
        sched_yield();
        continue;
      }
      const auto& data = event.event_data.dto_completion_event_data;
      ASSERT_EQ(data.status, DAT_DTO_SUCCESS);
      ASSERT_EQ(data.user_cookie.as_64, received);
      ASSERT_OK(PostRecv(pong_, {}, received++ + kReceives));
    }
  };
  for (uint64_t i = 0; i < kMessages && !HasFailure(); ++i) {
    take_until([&] { return i < received + kReceives; });
    PostUntilTaken([&] { return PostSend(ping_, {}, i, DAT_COMPLETION_SUPPRESS_FLAG); });
  }
  take_until([&] { return received == kMessages; });
}

// covers: semantics 10.1
TEST_P(ProgramsRequestsTest, AStreamOfSuppressedWrites) {
  active_.memory.fill(0x66);
  for (size_t i = 0; i < 1000 && !HasFailure(); ++i) {
    PostUntilTaken([&] {
      return PostWrite(ping_, {active_.Local(0, 64)}, passive_.Remote(i * 64, 64), i,
                       DAT_COMPLETION_SUPPRESS_FLAG);
    });
  }
  // The notice comes after them.
  ASSERT_OK(PostRecv(pong_, {}, 1));
  PostUntilTaken([&] { return PostSend(ping_, {}, 2, DAT_COMPLETION_SUPPRESS_FLAG); });
  EXPECT_EQ(WaitFor(evd_).event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
  for (size_t i = 0; i < 64'000; ++i) ASSERT_EQ(passive_.memory[i], 0x66) << i;
  EXPECT_TRUE(Side::Drain(request_).empty());
}

}  // namespace
}  // namespace softdat::conformance
