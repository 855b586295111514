// SPDX-License-Identifier: BSD-3-Clause
// Private data of every length that the IA carries: programs send structures of all sizes.
#include "tests/conformance/private_data_fixture.h"

namespace softdat::conformance {
namespace {

class ProgramsPrivateDataTest : public PrivateDataTest {};
CONFORMANCE_FAMILIES(ProgramsPrivateDataTest);

// covers: semantics 9.5
TEST_P(ProgramsPrivateDataTest, EveryLength) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  for (size_t length = 0; length <= most_ && !HasFailure(); ++length) {
    SCOPED_TRACE(length);
    std::vector<uint8_t> asked = Bytes(length, 1), answered = Bytes(most_ - length, 9);
    ASSERT_OK(Connect(a_->ep, qualifier, asked));
    const DAT_CR_HANDLE cr = NextRequest(*b_);
    DAT_CR_PARAM param{};
    ASSERT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
    EXPECT_EQ(Of(param), asked);
    ASSERT_OK(dat_cr_accept(cr, b_->ep, static_cast<DAT_COUNT>(answered.size()),
                            answered.empty() ? nullptr : answered.data()));
    EXPECT_EQ(Of(a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED)), answered);
    b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
    Part();
    ResetBoth();
  }
  EXPECT_OK(dat_psp_free(psp));
}

}  // namespace
}  // namespace softdat::conformance
