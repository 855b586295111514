// SPDX-License-Identifier: BSD-3-Clause
// RDMA read (semantics 10.1, 10.3, 10.4).
#include <cstring>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class RdmaReadTest : public ConnectedTest {};
CONFORMANCE_ALL_VARIANTS(RdmaReadTest);

// covers: semantics 10.1, 10.4
TEST_P(RdmaReadTest, EverySizeIsFetched) {
  constexpr size_t kMost = 1 << 20;
  const auto to = a_->MakeBuffer(kMost), from = b_->MakeBuffer(kMost);
  from->FillPattern(6);
  uint64_t cookie = 0;
  for (const size_t size : {1, 64, 4095, 4096, 4097, 65537, 1 << 20}) {
    SCOPED_TRACE(size);
    std::memset(to->data(), 0, kMost);
    ASSERT_OK(PostRead(a_->ep, {to->local(0, size)}, from->remote(0, size), ++cookie));
    EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, cookie).transfered_length, size);
    EXPECT_EQ(std::memcmp(from->data(), to->data(), size), 0);
    if (size < kMost) {
      EXPECT_EQ(to->data()[size], 0);
    }
  }
  EXPECT_TRUE(to->guards_intact());
  ExpectNothingMore({a_->request_evd, b_->recv_evd, b_->request_evd});
}

// On devices whose reads have one sink, the default EPs allow only such reads. A program must ask
// for more.
// covers: semantics 10.1
TEST_P(RdmaReadTest, SegmentsAreScattered) {
  DAT_EP_PARAM param{};
  ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, &param));
  EXPECT_GE(param.ep_attr.max_rdma_read_iov, 1);
  EXPECT_LE(param.ep_attr.max_rdma_read_iov, param.ep_attr.max_request_iov);
  DAT_EP_ATTR attr = param.ep_attr;
  attr.max_rdma_read_iov = 3;
  const DAT_EP_HANDLE active = a_->MakeEp(&attr), passive = b_->MakeEp();
  Join(*a_, active, *b_, passive);
  ASSERT_OK(dat_ep_query(active, DAT_EP_FIELD_ALL, &param));
  EXPECT_EQ(param.ep_attr.max_rdma_read_iov, 3);
  const auto to = a_->MakeBuffer(300), from = b_->MakeBuffer(300);
  from->FillPattern(6);
  ASSERT_OK(PostRead(active, {to->local(290, 10), to->local(0, 1), to->local(100, 89)},
                     from->remote(200, 100), 1));
  EXPECT_EQ(a_->ExpectDto(a_->request_evd, active, 1).transfered_length, 100u);
  EXPECT_EQ(std::memcmp(to->data() + 290, from->data() + 200, 10), 0);
  EXPECT_EQ(to->data()[0], from->data()[210]);
  EXPECT_EQ(std::memcmp(to->data() + 100, from->data() + 211, 89), 0);
  EXPECT_EQ(to->data()[189], 0);
}

// covers: semantics 10.3
TEST_P(RdmaReadTest, MoreReadsThanMayBeOutstandingQueueUp) {
  const auto to = a_->MakeBuffer(16 * 64), from = b_->MakeBuffer(64);
  from->FillPattern(1);
  for (uint64_t i = 0; i < 16; ++i) {
    ASSERT_OK(PostRead(a_->ep, {to->local(i * 64, 64)}, from->remote(), i));
  }
  for (uint64_t i = 0; i < 16; ++i) {
    a_->ExpectDto(a_->request_evd, a_->ep, i);
    EXPECT_EQ(std::memcmp(to->data() + i * 64, from->data(), 64), 0);
  }
}

// covers: semantics 5.5, 10.3
TEST_P(RdmaReadTest, CompletionsKeepThePostingOrderAmongOtherWork) {
  const auto to = a_->MakeBuffer(4096), from = b_->MakeBuffer(4096);
  ASSERT_OK(PostRecv(b_->ep, {}, 1));
  ASSERT_OK(PostRead(a_->ep, {to->local()}, from->remote(), 10));
  ASSERT_OK(PostWrite(a_->ep, {to->local(0, 8)}, from->remote(0, 8), 11));
  ASSERT_OK(PostSend(a_->ep, {}, 12));
  ASSERT_OK(PostRead(a_->ep, {to->local(0, 8)}, from->remote(0, 8), 13));
  for (uint64_t i = 10; i <= 13; ++i) a_->ExpectDto(a_->request_evd, a_->ep, i);
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
}

// covers: semantics 10.2, 10.3
TEST_P(RdmaReadTest, TheFenceHoldsASendBackUntilTheDataIsThere) {
  constexpr size_t kSize = 200'000;
  const auto middle = a_->MakeBuffer(kSize), from = b_->MakeBuffer(kSize),
             to = b_->MakeBuffer(kSize);
  from->FillPattern(123);
  ASSERT_OK(PostRecv(b_->ep, {to->local()}, 1));
  ASSERT_OK(PostRead(a_->ep, {middle->local()}, from->remote(), 2));
  ASSERT_OK(PostSend(a_->ep, {middle->local()}, 3, DAT_COMPLETION_BARRIER_FENCE_FLAG));
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  EXPECT_EQ(std::memcmp(from->data(), to->data(), kSize), 0);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  a_->ExpectDto(a_->request_evd, a_->ep, 3);
}

// covers: semantics 10.1
TEST_P(RdmaReadTest, AnEmptyReadCompletes) {
  DAT_RMR_TRIPLET nowhere{};
  ASSERT_OK(PostRead(a_->ep, {}, nowhere, 1));
  EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, 1).transfered_length, 0u);
}

TEST_P(RdmaReadTest, BothSidesReadAtOnce) {
  const auto at_a = a_->MakeBuffer(50'000), at_b = b_->MakeBuffer(50'000);
  const auto from_a = a_->MakeBuffer(50'000), from_b = b_->MakeBuffer(50'000);
  from_a->FillPattern(1);
  from_b->FillPattern(2);
  ASSERT_OK(PostRead(a_->ep, {at_a->local()}, from_b->remote(), 1));
  ASSERT_OK(PostRead(b_->ep, {at_b->local()}, from_a->remote(), 2));
  a_->ExpectDto(a_->request_evd, a_->ep, 1);
  b_->ExpectDto(b_->request_evd, b_->ep, 2);
  EXPECT_EQ(std::memcmp(at_a->data(), from_b->data(), 50'000), 0);
  EXPECT_EQ(std::memcmp(at_b->data(), from_a->data(), 50'000), 0);
}

}  // namespace
}  // namespace softdat::conformance
