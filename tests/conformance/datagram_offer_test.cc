// SPDX-License-Identifier: BSD-3-Clause
// An IA says whether it has datagrams (DAT_IB_UD), and what it says is true (semantics 12, 15.2).
#include <cstring>
#include <string>

#include "dat2/softdat.h"
#include "tests/conformance/datagram_fixture.h"

namespace softdat::conformance {
namespace {

class DatagramOfferTest : public ConnectedTest {
 protected:
  bool Offers() {
    DAT_PROVIDER_ATTR provider{};
    EXPECT_OK(dat_ia_query(a_->ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider));
    for (DAT_COUNT i = 0; i < provider.num_provider_specific_attr; ++i) {
      const DAT_NAMED_ATTR& attr = provider.provider_specific_attr[i];
      if (std::strcmp(attr.name, DAT_IB_ATTR_UD) == 0) return std::strcmp(attr.value, "TRUE") == 0;
    }
    return false;
  }
  static void ExpectReason() {
    char reason[512] = "";
    softdat_last_reason(reason, sizeof reason);
    EXPECT_NE(std::string(reason).find("no unreliable datagrams"), std::string::npos) << reason;
  }
};
CONFORMANCE_FAMILIES(DatagramOfferTest);

// covers: semantics 8.1, 12, 15.2
TEST_P(DatagramOfferTest, AnEpForThemIsThereWhereTheIaSaysSo) {
  const DAT_EP_ATTR attr = DatagramAttributes();
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  const DAT_RETURN ret =
      dat_ep_create(a_->ia, a_->pz, a_->recv_evd, a_->request_evd, a_->connect_evd, &attr, &ep);
  if (Offers()) {
    ASSERT_OK(ret);
    EXPECT_OK(dat_ep_free(ep));
  } else {
    EXPECT_RETURN(ret, Error(DAT_MODEL_NOT_SUPPORTED));
    ExpectReason();
  }
}

// covers: semantics 15.2
TEST_P(DatagramOfferTest, AnEpForConnectionsHasNone) {
  const auto source = a_->MakeBuffer(8), target = b_->MakeBuffer(8);
  DAT_LMR_TRIPLET iov = source->local();
  DAT_IB_ADDR_HANDLE to{};
  const DAT_CONTEXT context{};
  const bool offers = Offers();
  const DAT_RETURN refused = offers ? BadHandle(DAT_INVALID_HANDLE_EP) : Error(DAT_NOT_IMPLEMENTED);
  EXPECT_RETURN(dat_ib_post_send_ud(a_->ep, 1, &iov, &to, Cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
                refused);
  if (!offers) ExpectReason();
  EXPECT_RETURN(dat_ib_ud_ah_free(a_->ep, &to), refused);
  EXPECT_RETURN(dat_ib_ud_cm_free(a_->ep, context), refused);
  // The connection is not broken.
  ASSERT_OK(PostWrite(a_->ep, {iov}, target->remote(), 2));
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
}

}  // namespace
}  // namespace softdat::conformance
