// SPDX-License-Identifier: BSD-3-Clause
// Queues that are 50,000 deep, filled and drained.
#include <vector>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

constexpr DAT_COUNT kDepth = 50'000;

// covers: semantics 5.1, 5.6
TEST(DeepQueueTest, AnEvdHoldsWhatItWasAskedFor) {
  Ia ia;
  const DAT_EVD_HANDLE evd = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG, kDepth);
  DAT_EVD_PARAM param{};
  ASSERT_DAT_OK(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
  ASSERT_GE(param.evd_qlen, kDepth);
  for (DAT_COUNT i = 0; i < param.evd_qlen; ++i) {
    ASSERT_DAT_OK(PostNumber(evd, static_cast<uint64_t>(i)));
  }
  EXPECT_DAT_TYPE(PostNumber(evd, 0), DAT_QUEUE_FULL);
  for (DAT_COUNT i = 0; i < param.evd_qlen; ++i) {
    DAT_EVENT event{};
    ASSERT_DAT_OK(dat_evd_dequeue(evd, &event));
    ASSERT_EQ(NumberOf(event), static_cast<uint64_t>(i));
  }
  EXPECT_DAT_OK(dat_evd_free(evd));
}

DAT_EP_ATTR DeepAttributes() {
  DAT_EP_ATTR attr{};
  attr.service_type = DAT_SERVICE_TYPE_RC;
  attr.qos = DAT_QOS_BEST_EFFORT;
  attr.max_recv_dtos = kDepth;
  attr.max_request_dtos = kDepth;
  attr.max_recv_iov = 1;
  attr.max_request_iov = 1;
  return attr;
}

// 50,000 receives and 50,000 sends are outstanding at once. Every message arrives, in order, with
// its own bytes.
// covers: semantics 8.1
TEST(DeepQueueTest, AnEndpointCarriesWhatItWasAskedFor) {
  Ia ia;
  const DAT_EP_ATTR attr = DeepAttributes();
  End::Options options;
  options.attr = &attr;
  options.dto_qlen = kDepth + 16;
  Memory memory(ia, size_t{kDepth} * 16);
  End a(ia, options);
  End b(ia, options);
  DAT_EP_PARAM param{};
  ASSERT_DAT_OK(dat_ep_query(a.ep, DAT_EP_FIELD_ALL, &param));
  EXPECT_GE(param.ep_attr.max_request_dtos, kDepth);
  EXPECT_GE(param.ep_attr.max_recv_dtos, kDepth);
  ASSERT_TRUE(Join(a, b));
  auto* const words = reinterpret_cast<uint64_t*>(memory.data());
  for (uint64_t i = 0; i < kDepth; ++i) {
    words[i] = i + 7;
    ASSERT_DAT_OK(PostReceive(b.ep, memory.Local((kDepth + i) * 8, 8), i));
  }
  for (uint64_t i = 0; i < kDepth; ++i) ASSERT_DAT_OK(PostSend(a.ep, memory.Local(i * 8, 8), i));
  for (uint64_t i = 0; i < kDepth; ++i) ASSERT_TRUE(ExpectDto(b.recv_evd, i, 8));
  for (uint64_t i = 0; i < kDepth; ++i) ASSERT_TRUE(ExpectDto(a.request_evd, i, 8));
  for (uint64_t i = 0; i < kDepth; ++i) ASSERT_EQ(words[kDepth + i], i + 7);
}

// A full send queue refuses a post, and a place is free as soon as a request has completed.
// covers: semantics 10.1
TEST(DeepQueueTest, AFullQueueIsNoEnd) {
  Ia ia;
  const DAT_EP_ATTR attr = DeepAttributes();
  End::Options options;
  options.attr = &attr;
  options.dto_qlen = 2 * kDepth;
  Memory memory(ia, 4096);
  End a(ia, options);
  End b(ia, options);
  ASSERT_TRUE(Join(a, b));
  // The peer has no receive, so only requests can complete that the transport has taken already.
  DAT_COUNT posted = 0;
  DAT_RETURN ret = DAT_SUCCESS;
  while (posted < 64 * kDepth && ret == DAT_SUCCESS) {
    ret = PostReceive(b.ep, memory.Local(0, 8), static_cast<uint64_t>(posted));
    if (ret == DAT_SUCCESS) ++posted;
  }
  EXPECT_DAT_TYPE(ret, DAT_INSUFFICIENT_RESOURCES);
  EXPECT_GE(posted, kDepth);
  EXPECT_DAT_OK(PostSend(a.ep, memory.Local(8, 8), 1));
  EXPECT_TRUE(ExpectDto(b.recv_evd, 0, 8));
  EXPECT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), 1));
  // Every one of them completes when the connection ends.
  EXPECT_DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
  for (DAT_COUNT i = 0; i < posted; ++i) {
    DAT_EVENT event{};
    ASSERT_TRUE(Await(b.recv_evd, &event));
    ASSERT_EQ(event.event_data.dto_completion_event_data.status, DAT_DTO_ERR_FLUSHED);
  }
}

}  // namespace
}  // namespace softdat::field
