// SPDX-License-Identifier: BSD-3-Clause
// With SOFTDAT_RFC7306=off (set by the test's rule) atomics and immediate data are refused at the
// post, for a reason that names the setting, and the attributes do not announce them.
#include <cstring>
#include <string>

#include "dat2/dat_ib_extensions.h"
#include "dat2/softdat.h"
#include "tests/conformance/fixture.h"
#include "tests/conformance/returns.h"

namespace softdat::conformance {
namespace {

class ExtensionsOffTest : public ConnectedTest {};
CONFORMANCE_FAMILIES(ExtensionsOffTest);

// covers: semantics 12
TEST_P(ExtensionsOffTest, TheyAreNotAnnounced) {
  DAT_IA_ATTR ia{};
  DAT_PROVIDER_ATTR provider{};
  ASSERT_OK(
      dat_ia_query(a_->ia, nullptr, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_ALL, &provider));
  EXPECT_EQ(ia.extension_supported, DAT_EXTENSION_NONE);
  EXPECT_EQ(ia.extension_version, 0);
  int found = 0;
  for (DAT_COUNT i = 0; i < provider.num_provider_specific_attr; ++i) {
    const DAT_NAMED_ATTR& attr = provider.provider_specific_attr[i];
    for (const char* name : {DAT_IB_ATTR_FETCH_AND_ADD, DAT_IB_ATTR_CMP_AND_SWAP,
                             DAT_IB_ATTR_IMMED_DATA, "DAT_EXTENSION_INTERFACE"}) {
      if (std::strcmp(attr.name, name) != 0) continue;
      ++found;
      EXPECT_STREQ(attr.value, "FALSE") << name;
    }
  }
  EXPECT_EQ(found, 4);
}

TEST_P(ExtensionsOffTest, TheyAreRefusedForAReasonAndNothingBreaks) {
  const auto local = a_->MakeBuffer(8), remote = b_->MakeBuffer(8);
  DAT_LMR_TRIPLET iov = local->local();
  DAT_RMR_TRIPLET target = remote->remote();
  const auto expect_refused = [](DAT_RETURN ret) {
    EXPECT_RETURN(ret, Error(DAT_NOT_IMPLEMENTED));
    char reason[512] = "";
    softdat_last_reason(reason, sizeof reason);
    EXPECT_NE(std::string(reason).find("SOFTDAT_RFC7306"), std::string::npos) << reason;
  };
  expect_refused(dat_ib_post_fetch_and_add(a_->ep, DAT_UINT64{1}, &iov, Cookie(1), &target,
                                           DAT_COMPLETION_DEFAULT_FLAG));
  expect_refused(dat_ib_post_cmp_and_swap(a_->ep, DAT_UINT64{1}, DAT_UINT64{2}, &iov, Cookie(1),
                                          &target, DAT_COMPLETION_DEFAULT_FLAG));
  expect_refused(dat_ib_post_rdma_write_immed(a_->ep, 1, &iov, Cookie(1), &target, DAT_UINT32{7},
                                              DAT_COMPLETION_DEFAULT_FLAG));
  EXPECT_TRUE(remote->untouched());
  ASSERT_OK(PostWrite(a_->ep, {iov}, target, 2));
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_CONNECTED);
}

}  // namespace
}  // namespace softdat::conformance
