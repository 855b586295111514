// SPDX-License-Identifier: BSD-3-Clause
// The attributes and parameters that 1.2 does not have (semantics 8.1, 12).
#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class AttributesOf2Test : public ConformanceTest {};
CONFORMANCE_FAMILIES(AttributesOf2Test);

// covers: semantics 12
TEST_P(AttributesOf2Test, TheExtensionIsThatOfInfiniBand) {
  DAT_IA_ATTR ia{};
  ASSERT_OK(dat_ia_query(a_->ia, nullptr, DAT_IA_FIELD_ALL, &ia, 0, nullptr));
  EXPECT_EQ(ia.extension_supported, DAT_EXTENSION_IB);
  EXPECT_GE(ia.extension_version, 209);
}

// covers: semantics 12
TEST_P(AttributesOf2Test, TheProviderTellsWhatItHonours) {
  DAT_PROVIDER_ATTR provider{};
  ASSERT_OK(dat_ia_query(a_->ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider));
  // iWARP's read requests name their sink (RFC 5040 §4.4); InfiniBand's do not.
  const std::string& ia = TheOptions().ia;
  const bool rocev2 = ia.starts_with("softnet-udp-");
  if (ia.starts_with("softnet-") && !rocev2) {
    EXPECT_EQ(provider.rdma_read_lmr_rmr_context_exposure, DAT_TRUE);
  } else if (ia.starts_with("toy") || rocev2) {
    EXPECT_EQ(provider.rdma_read_lmr_rmr_context_exposure, DAT_FALSE);
  }
  // If a sink must be open to the peer, the peer knows the sink.
  if (provider.rdma_write_for_rdma_read_req != DAT_FALSE) {
    EXPECT_EQ(provider.rdma_read_lmr_rmr_context_exposure, DAT_TRUE);
  }
  EXPECT_TRUE(provider.rmr_scope_supported == DAT_RMR_SCOPE_ANY ||
              provider.rmr_scope_supported == DAT_RMR_SCOPE_EP);
  EXPECT_EQ(provider.is_signal_safe, DAT_FALSE);
  EXPECT_EQ(provider.ha_supported, DAT_FALSE);
  EXPECT_EQ(provider.ha_loadbalancing, DAT_HA_LB_NONE);
}

// covers: semantics 8.2
TEST_P(AttributesOf2Test, TheSocketKindOfAnEpCannotBeModified) {
  DAT_EP_PARAM before{};
  ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, &before));
  DAT_EP_PARAM change = before;
  EXPECT_TYPE(dat_ep_modify(a_->ep, DAT_EP_FIELD_COMM, &change), DAT_INVALID_PARAMETER);
  change.ep_attr.max_recv_dtos = before.ep_attr.max_recv_dtos + 7;
  EXPECT_TYPE(
      dat_ep_modify(a_->ep, DAT_EP_FIELD_COMM | DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &change),
      DAT_INVALID_PARAMETER);
  DAT_EP_PARAM after{};
  ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, &after));
  EXPECT_EQ(after.ep_attr.max_recv_dtos, before.ep_attr.max_recv_dtos);
}

}  // namespace
}  // namespace softdat::conformance
