// SPDX-License-Identifier: BSD-3-Clause
// Private data of a reject, which 1.2 does not have (semantics 9.3, 9.5).
#include <vector>

#include "tests/conformance/private_data_fixture.h"

namespace softdat::conformance {
namespace {

class RejectDataTest : public PrivateDataTest {};
CONFORMANCE_FAMILIES(RejectDataTest);

// covers: semantics 9.3, 17
TEST_P(RejectDataTest, BadArgumentsLeaveTheRequest) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  ASSERT_OK(Connect(a_->ep, qualifier));
  const DAT_CR_HANDLE cr = NextRequest(*b_);
  uint8_t data[300] = {};
  EXPECT_RETURN(dat_cr_reject(cr, 257, data), BadArgument(2));
  EXPECT_RETURN(dat_cr_reject(cr, -1, data), BadArgument(2));
  EXPECT_RETURN(dat_cr_reject(cr, 1, nullptr), BadArgument(3));
  ASSERT_OK(dat_cr_reject(cr, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_PEER_REJECTED);
  EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 9.3, 9.5
TEST_P(RejectDataTest, EverySizeOfARejectArrives) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  for (const size_t size : Carried({0, 1, 4, 48})) {
    SCOPED_TRACE(size);
    std::vector<uint8_t> answer = Bytes(size, 17);
    ASSERT_OK(Connect(a_->ep, qualifier));
    ASSERT_OK(dat_cr_reject(NextRequest(*b_), static_cast<DAT_COUNT>(size),
                            size != 0 ? answer.data() : nullptr));
    EXPECT_EQ(Of(a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_PEER_REJECTED)), answer);
    ASSERT_OK(dat_ep_reset(a_->ep));
  }
  EXPECT_OK(dat_psp_free(psp));
}

// A request was handed to this point, which answers it like any other.
// covers: semantics 9.3
TEST_P(RejectDataTest, ARequestThatWasHandedOnIsRejectedWithData) {
  DAT_CONN_QUAL first_qualifier = 0, second_qualifier = 0;
  const DAT_PSP_HANDLE first = Listen(*b_, &first_qualifier);
  const DAT_PSP_HANDLE second = Listen(*b_, &second_qualifier);
  std::vector<uint8_t> answer = Bytes(3, 7);
  ASSERT_OK(Connect(a_->ep, first_qualifier));
  ASSERT_OK(dat_cr_handoff(NextRequest(*b_), second_qualifier));
  ASSERT_OK(dat_cr_reject(NextRequest(*b_), 3, answer.data()));
  EXPECT_EQ(Of(a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_PEER_REJECTED)), answer);
  EXPECT_OK(dat_psp_free(first));
  EXPECT_OK(dat_psp_free(second));
}

}  // namespace
}  // namespace softdat::conformance
