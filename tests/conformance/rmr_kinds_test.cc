// SPDX-License-Identifier: BSD-3-Clause
// Memory windows as only 2.0 has them: of one EP, with addresses from zero, and invalidated by a
// peer's send or by a read (semantics 7.3, 16.4, 16.5).
#include <utility>

#include "tests/conformance/rmr_fixture.h"

namespace softdat::conformance {
namespace {

class RmrKindsTest : public RmrTest {};
CONFORMANCE_FAMILIES(RmrKindsTest);

// covers: semantics 7.3, 16.6
TEST_P(RmrKindsTest, AWindowOfAnEpServesThatEpAlone) {
  EXPECT_OK(dat_rmr_free(std::exchange(rmr_, DAT_HANDLE_NULL)));
  ASSERT_OK(dat_rmr_create_for_ep(a_->pz, &rmr_));
  const DAT_RMR_CONTEXT context = Bind(memory_->local());
  ExpectReadable(context, 0, 64);
  DAT_RMR_PARAM param{};
  EXPECT_OK(dat_rmr_query(rmr_, DAT_RMR_FIELD_ALL, &param));
  EXPECT_EQ(param.rmr_scope, DAT_RMR_SCOPE_EP);
  const DAT_EP_HANDLE near = a_->MakeEp(), far = b_->MakeEp();
  Join(*a_, near, *b_, far);
  ASSERT_OK(PostRead(far, {mine_->local()}, Through(context, 0, kWindowed), 9));
  b_->ExpectDto(b_->request_evd, far, 9, DAT_DTO_ERR_REMOTE_ACCESS);
  b_->ExpectConnection(far, DAT_CONNECTION_EVENT_BROKEN);
  a_->ExpectConnection(near, DAT_CONNECTION_EVENT_BROKEN);
}

// covers: semantics 7.3
TEST_P(RmrKindsTest, ZeroBasedAddressesAreOffsetsIntoTheWindow) {
  const DAT_LMR_TRIPLET part = memory_->local(32, 64);
  DAT_RMR_CONTEXT context = 0;
  ASSERT_OK(dat_rmr_bind(rmr_, memory_->lmr(), &part, DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_VA_TYPE_ZB,
                         a_->ep, Cookie(50), DAT_COMPLETION_DEFAULT_FLAG, &context));
  ExpectBound(rmr_);
  DAT_RMR_TRIPLET remote = Through(context, 0, 16);
  remote.virtual_address = 8;
  ASSERT_OK(PostRead(b_->ep, {mine_->local(0, 16)}, remote, 7));
  b_->ExpectDto(b_->request_evd, b_->ep, 7);
  EXPECT_TRUE(std::equal(mine_->data(), mine_->data() + 16, memory_->data() + 40));
}

// covers: semantics 16.4
TEST_P(RmrKindsTest, APeersSendInvalidates) {
  const DAT_RMR_CONTEXT context = Bind(memory_->local());
  const auto inbox = a_->MakeBuffer(16);
  ASSERT_OK(PostRecv(a_->ep, {inbox->local()}, 3));
  DAT_LMR_TRIPLET part = mine_->local(0, 5);
  ASSERT_OK(dat_ep_post_send_with_invalidate(b_->ep, 1, &part, Cookie(4),
                                             DAT_COMPLETION_DEFAULT_FLAG, DAT_TRUE, context));
  b_->ExpectDto(b_->request_evd, b_->ep, 4);
  const auto got = a_->ExpectDto(a_->recv_evd, a_->ep, 3);
  EXPECT_EQ(got.operation, DAT_DTO_RECEIVE_WITH_INVALIDATE);
  EXPECT_EQ(got.rmr_context, context);
  EXPECT_EQ(got.transfered_length, 5u);
  ExpectRefused(Through(context, 0, 8));
}

// covers: semantics 16.5
TEST_P(RmrKindsTest, AReadMayLandInAWindowAndInvalidatesIt) {
  mine_->FillPattern(9);
  const DAT_RMR_CONTEXT context =
      Bind(memory_->local(), DAT_MEM_PRIV_REMOTE_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG);
  const DAT_RMR_TRIPLET sink = Through(context, 16, 32), source = mine_->remote(0, 32);
  ASSERT_OK(
      dat_ep_post_rdma_read_to_rmr(a_->ep, &sink, Cookie(5), &source, DAT_COMPLETION_DEFAULT_FLAG));
  EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, 5).transfered_length, 32u);
  EXPECT_TRUE(std::equal(mine_->data(), mine_->data() + 32, memory_->data() + 16));
  ExpectRefused(Through(context, 0, 8));
}

// The window is bound, read into, and bound to nothing without a pause. The fence keeps the window
// until the data are there.
// covers: semantics 10.2, 16.5
TEST_P(RmrKindsTest, AFencedUnbindLetsAReadIntoTheWindowEnd) {
  constexpr size_t kSize = 1 << 20;
  const auto sink = a_->MakeBuffer(kSize), from = b_->MakeBuffer(kSize);
  from->FillPattern(9);
  const DAT_LMR_TRIPLET all = sink->local(), nothing = sink->local(0, 0);
  DAT_RMR_TRIPLET window = sink->remote();
  ASSERT_OK(BindRmr(rmr_, sink->lmr(), &all, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, a_->ep, Cookie(40),
                    DAT_COMPLETION_DEFAULT_FLAG, &window.rmr_context));
  const DAT_RMR_TRIPLET source = from->remote();
  ASSERT_OK(dat_ep_post_rdma_read_to_rmr(a_->ep, &window, Cookie(41), &source,
                                         DAT_COMPLETION_SUPPRESS_FLAG));
  ASSERT_OK(BindRmr(rmr_, sink->lmr(), &nothing, DAT_MEM_PRIV_NONE_FLAG, a_->ep, Cookie(42),
                    DAT_COMPLETION_BARRIER_FENCE_FLAG, nullptr));
  ExpectBound(rmr_, 40);
  ExpectBound(rmr_, 42);
  EXPECT_TRUE(std::equal(sink->data(), sink->data() + kSize, from->data()));
  EXPECT_OK(sink->Free());
}

}  // namespace
}  // namespace softdat::conformance
