// SPDX-License-Identifier: BSD-3-Clause
// Attributes of endpoints as programs fill them in (docs/porting.md, "What programs do").
#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class ProgramsAttributesTest : public ConformanceTest {
 protected:
  DAT_EP_HANDLE Make(Side& side, const DAT_EP_ATTR* attr) {
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    EXPECT_OK(dat_ep_create(side.ia, side.pz, side.recv_evd, side.request_evd, side.connect_evd,
                            attr, &ep));
    return ep;
  }
  // A message and a write go from a's EP to b's. They are larger than any size that the attributes
  // name.
  void ExpectUsable(DAT_EP_HANDLE active, DAT_EP_HANDLE passive) {
    Join(*a_, active, *b_, passive);
    const auto from = a_->MakeBuffer(9000), to = b_->MakeBuffer(9000);
    from->FillPattern(7);
    ASSERT_OK(PostRecv(passive, {to->local()}, 1));
    ASSERT_OK(PostSend(active, {from->local()}, 2));
    EXPECT_EQ(b_->ExpectDto(b_->recv_evd, passive, 1).transfered_length, 9000u);
    a_->ExpectDto(a_->request_evd, active, 2);
    EXPECT_TRUE(std::equal(from->data(), from->data() + 9000, to->data()));
    ASSERT_OK(PostWrite(active, {from->local()}, to->remote(), 3));
    a_->ExpectDto(a_->request_evd, active, 3);
    EXPECT_OK(dat_ep_free(active));
    b_->ExpectConnection(passive, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_OK(dat_ep_free(passive));
  }
  static DAT_EP_ATTR Counts() {
    DAT_EP_ATTR attr{};
    attr.max_recv_dtos = attr.max_request_dtos = 8;
    attr.max_recv_iov = attr.max_request_iov = 1;
    return attr;
  }
};
CONFORMANCE_FAMILIES(ProgramsAttributesTest);

// covers: semantics 8.1
TEST_P(ProgramsAttributesTest, NoAttributes) {
  ExpectUsable(Make(*a_, nullptr), Make(*b_, nullptr));
}

// The values 0 for sizes, reads and flags mean that the program wishes nothing.
// covers: semantics 8.1
TEST_P(ProgramsAttributesTest, AZeroedStructureWithCounts) {
  const DAT_EP_ATTR attr = Counts();
  ExpectUsable(Make(*a_, &attr), Make(*b_, &attr));
}

// Nothing can be posted to such an EP, so it goes without the event dispatchers of posts.
// covers: semantics 8.1
TEST_P(ProgramsAttributesTest, AllZero) {
  const DAT_EP_ATTR attr{};
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_OK(
      dat_ep_create(a_->ia, a_->pz, DAT_HANDLE_NULL, DAT_HANDLE_NULL, a_->connect_evd, &attr, &ep));
  EXPECT_OK(dat_ep_free(ep));
  EXPECT_RETURN(
      dat_ep_create(a_->ia, a_->pz, a_->recv_evd, a_->request_evd, a_->connect_evd, &attr, &ep),
      BadArgument(6));
}

// A program makes an EP only to take the defaults from it. It changes the numbers, and makes all
// others with the result. It may never free the first EP.
// covers: semantics 8.1
TEST_P(ProgramsAttributesTest, WhatAQueryTellsWithOtherNumbers) {
  DAT_EP_PARAM param{};
  ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_EP_ATTR_ALL, &param));
  param.ep_attr.max_recv_dtos = 128;
  param.ep_attr.max_request_dtos = 64;
  ExpectUsable(Make(*a_, &param.ep_attr), Make(*b_, &param.ep_attr));
}

// Benchmarks ask for more than they use.
// covers: semantics 8.1, 19
TEST_P(ProgramsAttributesTest, LongQueuesAndSmallSizes) {
  DAT_IA_ATTR ia{};
  ASSERT_OK(dat_ia_query(a_->ia, nullptr, DAT_IA_FIELD_ALL, &ia, 0, nullptr));
  DAT_EP_ATTR attr = Counts();
  attr.max_recv_dtos = attr.max_request_dtos = std::min<DAT_COUNT>(20'000, ia.max_dto_per_ep);
  attr.max_message_size = 64;
  attr.max_rdma_size = 64;
  attr.max_rdma_read_in = attr.max_rdma_read_out = 1;
  ExpectUsable(Make(*a_, &attr), Make(*b_, &attr));
}

// The flags of an EP say what its posts may do. The flags of the post decide.
// covers: semantics 8.1, 10.2
TEST_P(ProgramsAttributesTest, RequestsSuppressedByTheEp) {
  DAT_EP_ATTR attr = Counts();
  attr.request_completion_flags = DAT_COMPLETION_SUPPRESS_FLAG;
  const DAT_EP_HANDLE active = Make(*a_, &attr), passive = Make(*b_, &attr);
  Join(*a_, active, *b_, passive);
  for (uint64_t i = 0; i < 3; ++i) ASSERT_OK(PostRecv(passive, {}, i));
  ASSERT_OK(PostSend(active, {}, 0, DAT_COMPLETION_SUPPRESS_FLAG));
  ASSERT_OK(PostSend(active, {}, 1, DAT_COMPLETION_SUPPRESS_FLAG));
  ASSERT_OK(PostSend(active, {}, 2, DAT_COMPLETION_DEFAULT_FLAG));
  a_->ExpectDto(a_->request_evd, active, 2);
  for (uint64_t i = 0; i < 3; ++i) b_->ExpectDto(b_->recv_evd, passive, i);
  EXPECT_OK(dat_ep_free(active));
  EXPECT_OK(dat_ep_free(passive));
}

// An EP without a shared receive queue ignores the attributes of such queues. Programs that fill a
// structure member by member leave them as they were on the stack.
// covers: semantics 8.1
TEST_P(ProgramsAttributesTest, TheWatermarkOfAQueueThatIsNotThere) {
  for (const DAT_COUNT left_over : {-77, 0x7fffffff, -1, 0}) {
    SCOPED_TRACE(left_over);
    DAT_EP_ATTR attr = Counts();
    attr.srq_soft_hw = left_over;
    ExpectUsable(Make(*a_, &attr), Make(*b_, &attr));
  }
}

}  // namespace
}  // namespace softdat::conformance
