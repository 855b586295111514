// SPDX-License-Identifier: BSD-3-Clause
// Send and receive (semantics 10.1, 10.3, 10.4, 10.5).
#include <cstring>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class SendTest : public ConnectedTest {};
CONFORMANCE_ALL_VARIANTS(SendTest);

// covers: semantics 10.1, 10.4
TEST_P(SendTest, EverySizeBothWays) {
  constexpr size_t kMost = 1 << 20;
  const auto from = a_->MakeBuffer(kMost), to = b_->MakeBuffer(kMost), back = a_->MakeBuffer(kMost);
  uint64_t cookie = 0x8000000000000000u;
  for (const size_t size :
       {0, 1, 63, 64, 65, 1023, 1024, 1500, 4095, 4096, 4097, 65535, 65536, 1 << 20}) {
    SCOPED_TRACE(size);
    from->FillPattern(static_cast<uint8_t>(size));
    ASSERT_OK(PostRecv(b_->ep, {to->local()}, ++cookie));
    ASSERT_OK(PostSend(a_->ep, {from->local(0, size)}, cookie));
    EXPECT_EQ(b_->ExpectDto(b_->recv_evd, b_->ep, cookie).transfered_length, size);
    EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, cookie).transfered_length, size);
    EXPECT_EQ(std::memcmp(from->data(), to->data(), size), 0);
    ASSERT_OK(PostRecv(a_->ep, {back->local()}, ++cookie));
    ASSERT_OK(PostSend(b_->ep, {to->local(0, size)}, cookie));
    a_->ExpectDto(a_->recv_evd, a_->ep, cookie);
    b_->ExpectDto(b_->request_evd, b_->ep, cookie);
    EXPECT_EQ(std::memcmp(from->data(), back->data(), size), 0);
  }
  EXPECT_TRUE(to->guards_intact());
}

// covers: semantics 10.1
TEST_P(SendTest, SegmentsAreGatheredAndFilledInOrder) {
  const auto from = a_->MakeBuffer(1000), to = b_->MakeBuffer(1000);
  from->FillPattern(3);
  DAT_LMR_TRIPLET nothing{};
  nothing.lmr_context = 0xDEAD;  // ignored: its length is 0
  ASSERT_OK(
      PostRecv(b_->ep, {to->local(500, 10), nothing, to->local(0, 300), to->local(700, 300)}, 1));
  ASSERT_OK(PostSend(a_->ep,
                     {from->local(0, 1), from->local(1, 399), nothing, from->local(400, 100)}, 2));
  EXPECT_EQ(b_->ExpectDto(b_->recv_evd, b_->ep, 1).transfered_length, 500u);
  EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, 2).transfered_length, 500u);
  EXPECT_EQ(std::memcmp(to->data() + 500, from->data(), 10), 0);
  EXPECT_EQ(std::memcmp(to->data(), from->data() + 10, 300), 0);
  EXPECT_EQ(std::memcmp(to->data() + 700, from->data() + 310, 190), 0);
  EXPECT_EQ(to->data()[890], 0);
  EXPECT_EQ(to->data()[510], 0);
}

// covers: semantics 10.1
TEST_P(SendTest, TheIovBelongsToTheConsumerAfterThePost) {
  const auto from = a_->MakeBuffer(8, 0x71), to = b_->MakeBuffer(8);
  DAT_LMR_TRIPLET iov = to->local();
  ASSERT_OK(dat_ep_post_recv(b_->ep, 1, &iov, Cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
  std::memset(&iov, 0xFF, sizeof iov);
  iov = from->local();
  ASSERT_OK(dat_ep_post_send(a_->ep, 1, &iov, Cookie(2), DAT_COMPLETION_DEFAULT_FLAG));
  std::memset(&iov, 0xFF, sizeof iov);
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  EXPECT_EQ(to->data()[7], 0x71);
}

// covers: semantics 10.5
TEST_P(SendTest, ASendWaitsForAReceiverThatIsNotReady) {
  const auto from = a_->MakeBuffer(64, 0x18), to = b_->MakeBuffer(64);
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 1));
  ASSERT_OK(PostSend(a_->ep, {from->local(0, 5)}, 2));
  b_->ExpectSilence(b_->recv_evd);
  a_->ExpectSilence(a_->connect_evd);
  ASSERT_OK(PostRecv(b_->ep, {to->local()}, 11));
  EXPECT_EQ(b_->ExpectDto(b_->recv_evd, b_->ep, 11).transfered_length, 64u);
  ASSERT_OK(PostRecv(b_->ep, {to->local()}, 12));
  EXPECT_EQ(b_->ExpectDto(b_->recv_evd, b_->ep, 12).transfered_length, 5u);
  a_->ExpectDto(a_->request_evd, a_->ep, 1);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
}

// The consumer may need the answers to its own requests before it knows where to place the message.
TEST_P(SendTest, AnswersDoNotWaitForAReceiveThatIsNotPosted) {
  constexpr size_t kSize = 60'000;
  const auto from = a_->MakeBuffer(kSize), far = a_->MakeBuffer(2 * kSize);
  const auto own = b_->MakeBuffer(kSize), to = b_->MakeBuffer(kSize);
  from->FillPattern(1);
  far->FillPattern(2);
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 1));
  b_->ExpectSilence(b_->recv_evd);
  for (uint64_t i = 2; i < 5; ++i) {
    std::memset(own->data(), 0, kSize);
    ASSERT_OK(PostRead(b_->ep, {own->local()}, far->remote(0, kSize), i));
    b_->ExpectDto(b_->request_evd, b_->ep, i);
    EXPECT_EQ(std::memcmp(own->data(), far->data(), kSize), 0);
  }
  ASSERT_OK(PostWrite(b_->ep, {own->local()}, far->remote(kSize, kSize), 5));
  b_->ExpectDto(b_->request_evd, b_->ep, 5);
  ASSERT_OK(PostRecv(b_->ep, {to->local()}, 11));
  EXPECT_EQ(b_->ExpectDto(b_->recv_evd, b_->ep, 11).transfered_length, kSize);
  EXPECT_EQ(std::memcmp(to->data(), from->data(), kSize), 0);
  a_->ExpectDto(a_->request_evd, a_->ep, 1);
}

// covers: semantics 10.3
TEST_P(SendTest, ManyMessagesStayInOrder) {
  constexpr uint64_t kMessages = 1000, kWindow = 16;
  const auto from = a_->MakeBuffer(8 * kWindow), to = b_->MakeBuffer(8 * kWindow);
  const auto post_recv = [&](uint64_t i) {
    return PostRecv(b_->ep, {to->local(i % kWindow * 8, 8)}, i);
  };
  for (uint64_t i = 0; i < kWindow; ++i) ASSERT_OK(post_recv(i));
  for (uint64_t i = 0; i < kMessages; ++i) {
    std::memcpy(from->data() + i % kWindow * 8, &i, 8);
    ASSERT_OK(PostSend(a_->ep, {from->local(i % kWindow * 8, 8)}, i));
    b_->ExpectDto(b_->recv_evd, b_->ep, i);
    EXPECT_EQ(std::memcmp(to->data() + i % kWindow * 8, &i, 8), 0);
    ASSERT_OK(post_recv(i + kWindow));
    a_->ExpectDto(a_->request_evd, a_->ep, i);
    if (HasFailure()) break;
  }
}

// covers: semantics 10.5
TEST_P(SendTest, AReceiveTooShortBreaksTheConnection) {
  const auto from = a_->MakeBuffer(65), to = b_->MakeBuffer(64, 0x55);
  ASSERT_OK(PostRecv(b_->ep, {to->local()}, 1));
  ASSERT_OK(PostRecv(b_->ep, {to->local()}, 2));
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 3));
  b_->ExpectDto(b_->recv_evd, b_->ep, 1, DAT_DTO_ERR_LOCAL_LENGTH);
  b_->ExpectDto(b_->recv_evd, b_->ep, 2, DAT_DTO_ERR_FLUSHED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_BROKEN);
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_DISCONNECTED);
  EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_DISCONNECTED);
  a_->ExpectDto(a_->request_evd, a_->ep, 3,
                ConfirmsCompletions(a_->ia) ? DAT_DTO_ERR_REMOTE_RESPONDER : DAT_DTO_SUCCESS);
  EXPECT_TRUE(to->guards_intact());
  ExpectNothingMore({a_->request_evd, b_->recv_evd});
}

// This holds whatever the two ends are told.
// covers: semantics 10.4
TEST_P(SendTest, AReceiveTooShortEndsTheConnectionAndNothingGoesBeyondIt) {
  const auto from = a_->MakeBuffer(65), to = b_->MakeBuffer(64, 0x55);
  const auto second = b_->MakeBuffer(65, 0x55);
  ASSERT_OK(PostRecv(b_->ep, {to->local()}, 1));
  ASSERT_OK(PostRecv(b_->ep, {second->local()}, 2));
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 3));
  const DAT_DTO_COMPLETION_EVENT_DATA failed =
      b_->Expect(b_->recv_evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
  EXPECT_EQ(failed.user_cookie.as_64, 1u);
  EXPECT_NE(failed.status, DAT_DTO_SUCCESS);
  b_->ExpectDto(b_->recv_evd, b_->ep, 2, DAT_DTO_ERR_FLUSHED);
  b_->ExpectEnd(b_->ep);
  a_->ExpectEnd(a_->ep);
  EXPECT_EQ(a_->Expect(a_->request_evd, DAT_DTO_COMPLETION_EVENT)
                .event_data.dto_completion_event_data.user_cookie.as_64,
            3u);
  ExpectNothingMore({a_->request_evd, b_->recv_evd});
  EXPECT_TRUE(to->guards_intact());
  EXPECT_TRUE(second->untouched());
}

TEST_P(SendTest, AMessageMayBeShorterThanItsReceive) {
  const auto from = a_->MakeBuffer(3, 0x66), to = b_->MakeBuffer(100, 0x11);
  ASSERT_OK(PostRecv(b_->ep, {to->local()}, 1));
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 2));
  EXPECT_EQ(b_->ExpectDto(b_->recv_evd, b_->ep, 1).transfered_length, 3u);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  EXPECT_EQ(to->data()[2], 0x66);
  EXPECT_EQ(to->data()[3], 0x11);
}

// covers: semantics 10.1, 17
TEST_P(SendTest, BadPostsAreRefusedAndChangeNothing) {
  const auto memory = a_->MakeBuffer(64);
  DAT_EP_PARAM param{};
  ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, &param));
  std::vector<DAT_LMR_TRIPLET> many(
      static_cast<size_t>(std::max(param.ep_attr.max_request_iov, param.ep_attr.max_recv_iov)) + 1,
      memory->local(0, 1));
  const auto n = static_cast<DAT_COUNT>(many.size());
  EXPECT_RETURN(dat_ep_post_send(a_->ep, n, many.data(), Cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
                BadArgument(2));
  EXPECT_RETURN(dat_ep_post_recv(a_->ep, n, many.data(), Cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
                BadArgument(2));
  EXPECT_RETURN(dat_ep_post_send(a_->ep, -1, many.data(), Cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
                BadArgument(2));
  EXPECT_RETURN(dat_ep_post_send(a_->ep, 1, nullptr, Cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
                BadArgument(3));
  EXPECT_RETURN(dat_ep_post_recv(a_->ep, 1, nullptr, Cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
                BadArgument(3));
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_CONNECTED);
  ExpectNothingMore({a_->request_evd, a_->recv_evd});
}

// Queues of four, or slightly longer if the provider makes them so.
DAT_EP_ATTR Shallow() {
  DAT_EP_ATTR attr{};
  attr.service_type = DAT_SERVICE_TYPE_RC;
  attr.max_recv_dtos = attr.max_request_dtos = 4;
  attr.max_recv_iov = attr.max_request_iov = 1;
  return attr;
}

// covers: semantics 10.1
TEST_P(SendTest, AFullReceiveQueueIsInsufficientResources) {
  DAT_EP_ATTR attr = Shallow();
  const DAT_EP_HANDLE active = a_->MakeEp(&attr), passive = b_->MakeEp(&attr);
  DAT_EP_PARAM param{};
  ASSERT_OK(dat_ep_query(active, DAT_EP_FIELD_ALL, &param));
  EXPECT_GE(param.ep_attr.max_recv_dtos, 4);
  EXPECT_GE(param.ep_attr.max_request_dtos, 4);
  const auto memory = a_->MakeBuffer(8);
  for (DAT_COUNT i = 0; i < param.ep_attr.max_recv_dtos; ++i) {
    ASSERT_OK(PostRecv(active, {memory->local()}, i));
  }
  EXPECT_TYPE(PostRecv(active, {memory->local()}, 99), DAT_INSUFFICIENT_RESOURCES);
  Join(*a_, active, *b_, passive);
}

// covers: semantics 10.1
TEST_P(SendTest, AFullRequestQueueIsInsufficientResources) {
  DAT_EP_ATTR attr = Shallow();
  const DAT_EP_HANDLE active = a_->MakeEp(&attr), passive = b_->MakeEp(&attr);
  Join(*a_, active, *b_, passive);
  DAT_EP_PARAM param{};
  ASSERT_OK(dat_ep_query(active, DAT_EP_FIELD_ALL, &param));
  const auto depth = static_cast<uint64_t>(param.ep_attr.max_request_dtos);
  EXPECT_GE(depth, 4u);
  // The peer has no receive, and no buffer between the two holds the first message.
  DAT_IA_ATTR ia{};
  ASSERT_OK(dat_ia_query(a_->ia, nullptr, DAT_IA_FIELD_ALL, &ia, 0, nullptr));
  const auto memory = a_->MakeBuffer(std::min<size_t>(32 << 20, ia.max_message_size));
  for (uint64_t i = 0; i < depth; ++i) ASSERT_OK(PostSend(active, {memory->local()}, i));
  EXPECT_TYPE(PostSend(active, {memory->local()}, 99), DAT_INSUFFICIENT_RESOURCES);
  EXPECT_TYPE(PostSend(active, {}, 99, DAT_COMPLETION_SUPPRESS_FLAG), DAT_INSUFFICIENT_RESOURCES);
  EXPECT_EQ(StateOf(active), DAT_EP_STATE_CONNECTED);
  // Completed work has freed its slot, and the refused posts have left nothing behind.
  EXPECT_OK(dat_ep_disconnect(active, DAT_CLOSE_ABRUPT_FLAG));
  a_->ExpectConnection(active, DAT_CONNECTION_EVENT_DISCONNECTED);
  for (uint64_t i = 0; i < depth; ++i)
    a_->ExpectDto(a_->request_evd, active, i, DAT_DTO_ERR_FLUSHED);
  ASSERT_OK(PostSend(active, {}, 100));
  a_->ExpectDto(a_->request_evd, active, 100, DAT_DTO_ERR_FLUSHED);
}

// covers: semantics 9.3, 9.7
TEST_P(SendTest, DataMayArriveBeforeThePassiveSideSawItsEvent) {
  const DAT_EP_HANDLE active = a_->MakeEp(), passive = b_->MakeEp();
  const auto from = a_->MakeBuffer(8, 0x22), to = b_->MakeBuffer(8);
  ASSERT_OK(PostRecv(passive, {to->local()}, 1));
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  ASSERT_OK(Connect(active, qualifier));
  ASSERT_OK(dat_cr_accept(NextRequest(*b_), passive, 0, nullptr));
  a_->ExpectConnection(active, DAT_CONNECTION_EVENT_ESTABLISHED);
  ASSERT_OK(PostSend(active, {from->local()}, 2));
  // The receive is collected before the connection event, and nothing is dropped.
  b_->ExpectDto(b_->recv_evd, passive, 1);
  b_->ExpectConnection(passive, DAT_CONNECTION_EVENT_ESTABLISHED);
  a_->ExpectDto(a_->request_evd, active, 2);
  EXPECT_OK(dat_psp_free(psp));
}

// With one EVD for everything, ESTABLISHED comes before the data, and the data before DISCONNECTED.
// covers: semantics 5.5
TEST_P(SendTest, OnOneEvdEventsKeepTheirOrder) {
  const DAT_EVD_HANDLE one =
      b_->MakeEvd(static_cast<DAT_EVD_FLAGS>(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG), 64);
  for (int round = 0; round < 10; ++round) {
    DAT_EP_HANDLE passive = DAT_HANDLE_NULL;
    ASSERT_OK(dat_ep_create(b_->ia, b_->pz, one, one, one, nullptr, &passive));
    const DAT_EP_HANDLE active = a_->MakeEp();
    const auto from = a_->MakeBuffer(8), to = b_->MakeBuffer(8);
    for (uint64_t i = 0; i < 3; ++i) ASSERT_OK(PostRecv(passive, {to->local()}, i));
    DAT_CONN_QUAL qualifier = 0;
    const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
    ASSERT_OK(Connect(active, qualifier));
    ASSERT_OK(dat_cr_accept(NextRequest(*b_), passive, 0, nullptr));
    a_->ExpectConnection(active, DAT_CONNECTION_EVENT_ESTABLISHED);
    for (uint64_t i = 0; i < 3; ++i) ASSERT_OK(PostSend(active, {from->local()}, i));
    ASSERT_OK(dat_ep_disconnect(active, DAT_CLOSE_GRACEFUL_FLAG));
    a_->ExpectConnection(active, DAT_CONNECTION_EVENT_DISCONNECTED);
    b_->Expect(one, DAT_CONNECTION_EVENT_ESTABLISHED);
    for (uint64_t i = 0; i < 3; ++i) b_->ExpectDto(one, passive, i);
    b_->Expect(one, DAT_CONNECTION_EVENT_DISCONNECTED);
    Side::Drain(a_->request_evd);
    EXPECT_OK(dat_ep_free(passive));
    a_->FreeEp(active);
    EXPECT_OK(dat_psp_free(psp));
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace softdat::conformance
