// SPDX-License-Identifier: BSD-3-Clause
// An end that has refused a request, and is freed at once. The peer learns which request it was,
// and learns it before it learns that the connection is over (semantics 10.5).
#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

constexpr size_t kSize = 64;

enum class Request : uint8_t { kRead, kWrite, kSend };

class LastWordsTest : public ConformanceTest {
 protected:
  void SetUp() override {
    ConformanceTest::SetUp();
    if (HasFatalFailure()) return;
    one_ = a_->MakeEvd(static_cast<DAT_EVD_FLAGS>(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG), 64);
  }
  void JoinNew() {
    ASSERT_OK(dat_ep_create(a_->ia, a_->pz, one_, one_, one_, nullptr, &active_));
    passive_ = b_->MakeEp();
    DAT_CONN_QUAL qualifier = 0;
    const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
    ASSERT_OK(Connect(active_, qualifier));
    ASSERT_OK(dat_cr_accept(NextRequest(*b_), passive_, 0, nullptr));
    a_->Expect(one_, DAT_CONNECTION_EVENT_ESTABLISHED);
    b_->ExpectConnection(passive_, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_OK(dat_psp_free(psp));
  }
  void Post(Request request, uint64_t cookie, const Buffer& local, const Buffer& closed) {
    switch (request) {
      case Request::kRead:
        ASSERT_OK(PostRead(active_, {local.local()}, closed.remote(), cookie));
        break;
      case Request::kWrite:
        ASSERT_OK(PostWrite(active_, {local.local()}, closed.remote(), cookie));
        break;
      case Request::kSend:  // longer than its receive
        ASSERT_OK(PostSend(active_, {local.local()}, cookie));
        break;
    }
  }
  void Refuse(Request request, DAT_DTO_COMPLETION_STATUS status) {
    const auto local = a_->MakeBuffer(kSize);
    const auto inbox = b_->MakeBuffer(kSize / 2);
    const auto closed = b_->MakeBuffer(kSize, 0, DAT_MEM_PRIV_LOCAL_READ_FLAG);
    for (int round = 0; round < 20; ++round) {
      JoinNew();
      if (HasFatalFailure()) return;
      if (request == Request::kSend) {
        ASSERT_OK(PostRecv(passive_, {inbox->local()}, 9));
      }
      Post(request, 1, *local, *closed);
      if (HasFatalFailure()) return;
      b_->ExpectConnection(passive_, DAT_CONNECTION_EVENT_BROKEN);
      b_->FreeEp(passive_);
      a_->ExpectDto(one_, active_, 1, status);
      a_->Expect(one_, DAT_CONNECTION_EVENT_BROKEN);
      EXPECT_OK(dat_ep_free(active_));
      Side::Drain(b_->recv_evd);
      if (HasFailure()) return;
    }
  }
  DAT_EVD_HANDLE one_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE active_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE passive_ = DAT_HANDLE_NULL;
};
CONFORMANCE_ALL_VARIANTS(LastWordsTest);

// covers: semantics 10.5
TEST_P(LastWordsTest, OfARead) { Refuse(Request::kRead, DAT_DTO_ERR_REMOTE_ACCESS); }

// Without confirmed completions these have succeeded before the peer could refuse them.
// covers: semantics 10.5
TEST_P(LastWordsTest, OfAWrite) {
  if (!ConfirmsCompletions(a_->ia)) return;
  Refuse(Request::kWrite, DAT_DTO_ERR_REMOTE_ACCESS);
}

// covers: semantics 10.5
TEST_P(LastWordsTest, OfAMessageThatIsTooLong) {
  if (!ConfirmsCompletions(a_->ia)) return;
  Refuse(Request::kSend, DAT_DTO_ERR_REMOTE_RESPONDER);
}

}  // namespace
}  // namespace softdat::conformance
