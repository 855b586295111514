// SPDX-License-Identifier: BSD-3-Clause
// The base of the tests of memory windows: a connection, memory at one end, and a window over it.
#ifndef SOFTDAT_TESTS_CONFORMANCE_RMR_FIXTURE_H_
#define SOFTDAT_TESTS_CONFORMANCE_RMR_FIXTURE_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {

// The size of the memory under the windows, in bytes.
inline constexpr size_t kWindowed = 256;

// a offers windows over its memory, and b accesses it through them.
class RmrTest : public ConnectedTest {
 protected:
  void SetUp() override {
    ConnectedTest::SetUp();
    if (HasFatalFailure()) return;
    memory_ = a_->MakeBuffer(kWindowed);
    memory_->FillPattern(1);
    mine_ = b_->MakeBuffer(kWindowed);
    ASSERT_OK(dat_rmr_create(a_->pz, &rmr_));
  }
  void TearDown() override {
    if (rmr_ != DAT_HANDLE_NULL) {
      EXPECT_OK(dat_rmr_free(rmr_));
    }
    memory_.reset();
    mine_.reset();
    ConnectedTest::TearDown();
  }
  DAT_RMR_CONTEXT PostBind(DAT_RMR_HANDLE rmr, const DAT_LMR_TRIPLET& triplet,
                           int rights = DAT_MEM_PRIV_REMOTE_READ_FLAG, uint64_t cookie = 50) {
    DAT_RMR_CONTEXT context = 0;
    EXPECT_OK(BindRmr(rmr, memory_->lmr(), &triplet, static_cast<DAT_MEM_PRIV_FLAGS>(rights),
                      a_->ep, Cookie(cookie), DAT_COMPLETION_DEFAULT_FLAG, &context));
    return context;
  }
  DAT_RETURN PostBindOn(DAT_EP_HANDLE ep, uint64_t cookie, DAT_COMPLETION_FLAGS flags,
                        DAT_RMR_CONTEXT* context) {
    const DAT_LMR_TRIPLET triplet = memory_->local();
    return BindRmr(rmr_, memory_->lmr(), &triplet, DAT_MEM_PRIV_REMOTE_READ_FLAG, ep,
                   Cookie(cookie), flags, context);
  }
  void ExpectBound(DAT_RMR_HANDLE rmr, uint64_t cookie = 50) {
    const auto data = a_->Expect(a_->request_evd, DAT_RMR_BIND_COMPLETION_EVENT)
                          .event_data.rmr_completion_event_data;
    EXPECT_EQ(data.rmr_handle, rmr);
    EXPECT_EQ(data.user_cookie.as_64, cookie);
    EXPECT_EQ(data.status, DAT_RMR_BIND_SUCCESS);
  }
  DAT_RMR_CONTEXT Bind(const DAT_LMR_TRIPLET& triplet, int rights = DAT_MEM_PRIV_REMOTE_READ_FLAG) {
    const DAT_RMR_CONTEXT context = PostBind(rmr_, triplet, rights);
    ExpectBound(rmr_);
    return context;
  }
  DAT_RMR_TRIPLET Through(DAT_RMR_CONTEXT context, size_t offset, size_t length) {
    DAT_RMR_TRIPLET remote = memory_->remote(offset, length);
    remote.rmr_context = context;
    return remote;
  }
  void ExpectReadable(DAT_RMR_CONTEXT context, size_t offset, size_t length,
                      DAT_EP_HANDLE through = DAT_HANDLE_NULL) {
    const DAT_EP_HANDLE ep = through != DAT_HANDLE_NULL ? through : b_->ep;
    ASSERT_OK(PostRead(ep, {mine_->local(0, length)}, Through(context, offset, length), 7));
    b_->ExpectDto(b_->request_evd, ep, 7);
    EXPECT_TRUE(std::equal(mine_->data(), mine_->data() + length, memory_->data() + offset));
  }
  // Expects that b's read is refused, and that the connection breaks on both sides.
  void ExpectRefused(const DAT_RMR_TRIPLET& remote) {
    ASSERT_OK(PostRead(b_->ep, {mine_->local(0, remote.segment_length)}, remote, 8));
    b_->ExpectDto(b_->request_evd, b_->ep, 8, DAT_DTO_ERR_REMOTE_ACCESS);
    b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_BROKEN);
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_BROKEN);
  }

  std::unique_ptr<Buffer> memory_, mine_;
  DAT_RMR_HANDLE rmr_ = DAT_HANDLE_NULL;
};

}  // namespace softdat::conformance

#endif  // SOFTDAT_TESTS_CONFORMANCE_RMR_FIXTURE_H_
