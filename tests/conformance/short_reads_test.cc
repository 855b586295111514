// SPDX-License-Identifier: BSD-3-Clause
// With SOFTDAT_SHORT_READS=on (set by the test's rule) an RDMA read moves as much as fits if its
// local memory is shorter than its remote triplet says (semantics 10.1). Without the setting the
// post is refused: see return_codes.inc.
#include <cstring>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class ShortReadsTest : public ConnectedTest {};
CONFORMANCE_FAMILIES(ShortReadsTest);

// covers: semantics 10.1
TEST_P(ShortReadsTest, TheLocalTotalIsRead) {
  constexpr size_t kFar = 100'000;
  const auto to = a_->MakeBuffer(kFar), from = b_->MakeBuffer(kFar);
  from->FillPattern(6);
  uint64_t cookie = 0;
  for (const size_t size : {1, 64, 4097, 65537}) {
    SCOPED_TRACE(size);
    std::memset(to->data(), 0, kFar);
    ASSERT_OK(PostRead(a_->ep, {to->local(0, size)}, from->remote(), ++cookie));
    EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, cookie).transfered_length, size);
    EXPECT_EQ(std::memcmp(from->data(), to->data(), size), 0);
    EXPECT_EQ(to->data()[size], 0) << "nothing behind the local segment is touched";
  }
}

// covers: semantics 10.1
TEST_P(ShortReadsTest, SegmentsAreFilledInOrder) {
  DAT_EP_PARAM param{};
  ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, &param));
  DAT_EP_ATTR attr = param.ep_attr;
  attr.max_rdma_read_iov = 2;
  const DAT_EP_HANDLE active = a_->MakeEp(&attr), passive = b_->MakeEp();
  Join(*a_, active, *b_, passive);
  const auto to = a_->MakeBuffer(64), from = b_->MakeBuffer(64);
  from->FillPattern(3);
  ASSERT_OK(PostRead(active, {to->local(32, 8), to->local(0, 8)}, from->remote(), 1));
  EXPECT_EQ(a_->ExpectDto(a_->request_evd, active, 1).transfered_length, 16u);
  EXPECT_EQ(std::memcmp(to->data() + 32, from->data(), 8), 0);
  EXPECT_EQ(std::memcmp(to->data(), from->data() + 8, 8), 0);
  EXPECT_EQ(to->data()[40], 0);
}

// covers: semantics 10.1
TEST_P(ShortReadsTest, NoLocalMemoryReadsNothing) {
  const auto from = b_->MakeBuffer(64);
  ASSERT_OK(PostRead(a_->ep, {}, from->remote(), 1));
  EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, 1).transfered_length, 0u);
}

// covers: semantics 10.1
TEST_P(ShortReadsTest, AShorterRemoteTripletIsReadWhole) {
  const auto to = a_->MakeBuffer(64), from = b_->MakeBuffer(64);
  from->FillPattern(5);
  ASSERT_OK(PostRead(a_->ep, {to->local()}, from->remote(0, 10), 1));
  EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, 1).transfered_length, 10u);
  EXPECT_EQ(std::memcmp(to->data(), from->data(), 10), 0);
  EXPECT_EQ(to->data()[10], 0);
}

// The setting is only for reads. A write never moves less than its local total.
// covers: semantics 10.1
TEST_P(ShortReadsTest, AShortWriteIsRefusedAsEver) {
  const auto from = a_->MakeBuffer(64, 0x99), to = b_->MakeBuffer(64);
  EXPECT_TYPE(PostWrite(a_->ep, {from->local(0, 9)}, to->remote(0, 8), 1), DAT_LENGTH_ERROR);
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_CONNECTED);
  EXPECT_TRUE(to->untouched());
}

}  // namespace
}  // namespace softdat::conformance
