// SPDX-License-Identifier: BSD-3-Clause
// How a program sees the events of a verbs device: of its port, of a shared receive queue, and of a
// queue pair. The tests use the public API on a test double. The emulated devices never raise the
// second kind, and they flush too quickly to post in between.
#include <arpa/inet.h>
#include <dat2/udat.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <vector>

#include "tests/nulldevice/null_verbs.h"
#include "tests/nulldevice/step_counter.h"

namespace softdat::nulldevice {
namespace {

constexpr DAT_TIMEOUT kPatienceUs = 30'000'000;

class AsyncErrorTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto conf = std::filesystem::path(testing::TempDir()) / "dat.conf";
    std::ofstream(conf) << OurLine();
    setenv("DAT_OVERRIDE", conf.c_str(), 1);
    std::string name = "ours";
    ASSERT_EQ(dat_ia_open(name.data(), 8, &async_, &ia_), DAT_SUCCESS);
    ASSERT_EQ(dat_pz_create(ia_, &pz_), DAT_SUCCESS);
    ASSERT_EQ(dat_evd_create(ia_, 64, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &dto_), DAT_SUCCESS);
    ASSERT_EQ(dat_evd_create(ia_, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &connect_),
              DAT_SUCCESS);
  }
  void TearDown() override {
    if (ia_ != DAT_HANDLE_NULL) {
      EXPECT_EQ(dat_ia_close(ia_, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    }
  }

  static DAT_EVENT Next(DAT_EVD_HANDLE evd) {
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    EXPECT_EQ(dat_evd_wait(evd, kPatienceUs, 1, &event, &more), DAT_SUCCESS);
    return event;
  }
  void ExpectCatastrophe() {
    const DAT_EVENT event = Next(async_);
    EXPECT_EQ(event.event_number, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
    EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, ia_);
  }
  void Connect(DAT_EP_HANDLE ep) {
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(dat_ep_connect(ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&peer), 5000, kPatienceUs, 0,
                             nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
              DAT_SUCCESS);
    ASSERT_EQ(Next(connect_).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
  }

  DAT_IA_HANDLE ia_ = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_ = DAT_HANDLE_NULL, dto_ = DAT_HANDLE_NULL, connect_ = DAT_HANDLE_NULL;
};

// A port may fail, come back, and fail again. The other port of the device does not belong to this
// IA.
TEST_F(AsyncErrorTest, APortThatFailsIsACatastropheEachTime) {
  RaiseNullPortError(1);
  ExpectCatastrophe();
  RaiseNullPortError(2);
  RaiseNullPortError(1);
  ExpectCatastrophe();
  DAT_EVENT event{};
  EXPECT_EQ(DAT_GET_TYPE(dat_evd_dequeue(async_, &event)), DAT_UINT32{DAT_QUEUE_EMPTY});
}

TEST_F(AsyncErrorTest, ASharedQueueThatFailsBreaksItsConnections) {
  DAT_SRQ_ATTR srq_attr{};
  srq_attr.max_recv_dtos = 16;
  srq_attr.max_recv_iov = 1;
  srq_attr.low_watermark = DAT_SRQ_LW_DEFAULT;
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  ASSERT_EQ(dat_srq_create(ia_, pz_, &srq_attr, &srq), DAT_SUCCESS);
  DAT_EP_HANDLE sharing = DAT_HANDLE_NULL, other = DAT_HANDLE_NULL;
  DAT_EP_ATTR attr{};
  attr.max_recv_dtos = attr.max_request_dtos = 8;
  attr.max_recv_iov = attr.max_request_iov = 1;
  ASSERT_EQ(dat_ep_create_with_srq(ia_, pz_, dto_, dto_, connect_, srq, &attr, &sharing),
            DAT_SUCCESS);
  ASSERT_EQ(dat_ep_create(ia_, pz_, dto_, dto_, connect_, nullptr, &other), DAT_SUCCESS);
  Connect(sharing);
  Connect(other);
  RaiseNullSharedQueueError();
  const DAT_EVENT event = Next(connect_);
  EXPECT_EQ(event.event_number, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_EQ(event.event_data.connect_event_data.ep_handle, sharing);
  DAT_EP_STATE state{};
  DAT_BOOLEAN idle = DAT_FALSE;
  EXPECT_EQ(dat_ep_get_status(other, &state, &idle, &idle), DAT_SUCCESS);
  EXPECT_EQ(state, DAT_EP_STATE_CONNECTED);
}

// Between the failure and its event the program does not know of the failure yet. Its posts are
// taken, and flushed after the earlier posts.
// covers: semantics 8.3
TEST_F(AsyncErrorTest, PostsWhileAConnectionBreaksAreTaken) {
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  DAT_EP_ATTR attr{};
  attr.max_recv_dtos = attr.max_request_dtos = 4;
  attr.max_recv_iov = attr.max_request_iov = 1;
  DAT_EVD_HANDLE received = DAT_HANDLE_NULL;
  ASSERT_EQ(dat_evd_create(ia_, 64, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &received), DAT_SUCCESS);
  ASSERT_EQ(dat_ep_create(ia_, pz_, received, dto_, connect_, &attr, &ep), DAT_SUCCESS);
  Connect(ep);
  DAT_DTO_COOKIE cookie{};
  ASSERT_EQ(dat_ep_post_recv(ep, 0, nullptr, cookie, DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS);
  RaiseNullPairError();
  std::vector<DAT_DTO_COMPLETION_STATUS> sends;
  uint64_t sent = 0, posted = 1;
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  constexpr DAT_TIMEOUT kTurnUs = 1000;
  while (DAT_GET_TYPE(dat_evd_wait(connect_, kTurnUs, 1, &event, &more)) ==
         DAT_UINT32{DAT_TIMEOUT_EXPIRED}) {
    DAT_EVENT done{};
    cookie.as_64 = sent;
    const DAT_RETURN send = dat_ep_post_send(ep, 0, nullptr, cookie, DAT_COMPLETION_DEFAULT_FLAG);
    if (send == DAT_SUCCESS) ++sent;
    ASSERT_TRUE(send == DAT_SUCCESS || DAT_GET_TYPE(send) == DAT_UINT32{DAT_INSUFFICIENT_RESOURCES})
        << std::hex << send;
    cookie.as_64 = posted;
    const DAT_RETURN receive =
        dat_ep_post_recv(ep, 0, nullptr, cookie, DAT_COMPLETION_DEFAULT_FLAG);
    if (receive == DAT_SUCCESS) ++posted;
    while (dat_evd_dequeue(dto_, &done) == DAT_SUCCESS)
      sends.push_back(done.event_data.dto_completion_event_data.status);
  }
  EXPECT_EQ(event.event_number, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_GE(posted, 4u);
  for (uint64_t i = 0; i < posted; ++i) {
    const auto done = Next(received).event_data.dto_completion_event_data;
    EXPECT_EQ(done.user_cookie.as_64, i);
    EXPECT_EQ(done.status, DAT_DTO_ERR_FLUSHED);
  }
  while (dat_evd_dequeue(dto_, &event) == DAT_SUCCESS)
    sends.push_back(event.event_data.dto_completion_event_data.status);
  ASSERT_EQ(sends.size(), sent);
  EXPECT_EQ(sends.back(), DAT_DTO_ERR_FLUSHED);
  EXPECT_TRUE(std::is_sorted(sends.begin(), sends.end()));
}

}  // namespace
}  // namespace softdat::nulldevice
