// SPDX-License-Identifier: BSD-3-Clause
// Private data of connect and accept: whole and exact, up to 256 bytes or the length that the IA
// announces (semantics 9.3, 9.5).
#include <algorithm>
#include <vector>

#include "tests/conformance/private_data_fixture.h"

namespace softdat::conformance {
namespace {

CONFORMANCE_FAMILIES(PrivateDataTest);

// covers: semantics 9.5
TEST_P(PrivateDataTest, EverySizeArrivesWholeBothWays) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  for (const size_t size : Carried({0,  1,   2,   3,   4,   5,   30,  47,  48,  49,  63, 64,
                                    65, 127, 128, 129, 247, 248, 249, 251, 252, 253, 254})) {
    SCOPED_TRACE(size);
    std::vector<uint8_t> question = Bytes(size, 1), answer = Bytes(most_ - size, 99);
    ASSERT_OK(Connect(a_->ep, qualifier, question));
    const DAT_CR_HANDLE cr = NextRequest(*b_);
    DAT_CR_PARAM param{};
    ASSERT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
    EXPECT_EQ(Of(param), question);
    EXPECT_EQ(param.local_ep_handle, DAT_HANDLE_NULL);
    EXPECT_EQ(param.remote_ia_address_ptr->sa_family, GetParam().family);
    ASSERT_OK(dat_cr_accept(cr, b_->ep, static_cast<DAT_COUNT>(answer.size()), answer.data()));
    EXPECT_EQ(Of(a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED)), answer);
    EXPECT_EQ(b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED).private_data_size, 0);
    Part();
    ResetBoth();
  }
  EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 9.3, 19
TEST_P(PrivateDataTest, TheRequestsDataIsWritableAndMayBeTheAnswer) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  std::vector<uint8_t> question = Bytes(48, 1);
  ASSERT_OK(Connect(a_->ep, qualifier, question));
  std::fill(question.begin(), question.end(), 0);  // it was copied
  const DAT_CR_HANDLE cr = NextRequest(*b_);
  DAT_CR_PARAM param{};
  // The tools ask with this mask, which leaves the EP out.
  ASSERT_OK(dat_cr_query(
      cr, static_cast<DAT_CR_PARAM_MASK>(DAT_CR_FIELD_ALL & ~DAT_CR_FIELD_LOCAL_EP_HANDLE),
      &param));
  auto* const bytes = static_cast<uint8_t*>(param.private_data);
  for (DAT_COUNT i = 0; i < param.private_data_size; ++i) ++bytes[i];
  ASSERT_OK(dat_cr_accept(cr, b_->ep, param.private_data_size, param.private_data));
  EXPECT_EQ(Of(a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED)), Bytes(48, 2));
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 8.3
TEST_P(PrivateDataTest, TheAcceptorsDataStaysReadableUntilTheReset) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  std::vector<uint8_t> answer = Bytes(std::min<size_t>(200, most_), 5);
  ASSERT_OK(Connect(a_->ep, qualifier));
  ASSERT_OK(dat_cr_accept(NextRequest(*b_), b_->ep, static_cast<DAT_COUNT>(answer.size()),
                          answer.data()));
  const DAT_CONNECTION_EVENT_DATA data =
      a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  Part();
  EXPECT_EQ(Of(data), answer);
  EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 9.5, 12
TEST_P(PrivateDataTest, TheProviderSaysHowMuchItCarries) {
  DAT_PROVIDER_ATTR attr{};
  ASSERT_OK(dat_ia_query(a_->ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr));
  // A request of InfiniBand's connection management has 56 bytes for rdma_cm's consumer.
  const bool rocev2 = TheOptions().ia.starts_with("softnet-udp-");
  EXPECT_GE(attr.max_private_data_size, rocev2 ? 48 : 256);
}

}  // namespace
}  // namespace softdat::conformance
