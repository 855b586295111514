// SPDX-License-Identifier: BSD-3-Clause
// Queries: truthful values, bad masks and NULL results (semantics 3.2, 8.1, 12).
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class QueriesTest : public ConformanceTest {};
CONFORMANCE_FAMILIES(QueriesTest);

// covers: semantics 12
TEST_P(QueriesTest, IaAttributesAreTruthful) {
  DAT_IA_ATTR ia{};
  DAT_PROVIDER_ATTR provider{};
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  ASSERT_OK(dat_ia_query(a_->ia, &async, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_ALL, &provider));
  EXPECT_EQ(async, a_->async_evd);
  EXPECT_GT(std::strlen(ia.adapter_name), 0u);
  ASSERT_NE(ia.ia_address_ptr, nullptr);
  EXPECT_EQ(ia.ia_address_ptr->sa_family, AF_INET);
  EXPECT_GE(ia.max_eps, 1000);
  EXPECT_GE(ia.max_evds, 1000);
  EXPECT_GE(ia.max_pzs, 1000);
  EXPECT_GE(ia.max_lmrs, 1000);
  EXPECT_GT(ia.max_dto_per_ep, 0);
  EXPECT_GT(ia.max_evd_qlen, 0);
  EXPECT_GE(ia.max_rdma_read_per_ep_in, 4);
  EXPECT_GE(ia.max_rdma_read_per_ep_out, 4);
  EXPECT_GE(ia.max_iov_segments_per_dto, 4);
  EXPECT_GE(ia.max_message_size, 4u << 20);
  EXPECT_GE(ia.max_rdma_size, 4u << 20);
  EXPECT_EQ(std::string(provider.provider_name), TheOptions().ia);
  EXPECT_GE(provider.max_private_data_size, 52);  // what InfiniBand leaves
  EXPECT_EQ(provider.iov_ownership_on_return, DAT_IOV_CONSUMER);
  EXPECT_EQ(provider.pz_support, DAT_PZ_UNIQUE);
  EXPECT_EQ(DAT_OPTIMAL_ALIGNMENT % provider.optimal_buffer_alignment, 0u);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      EXPECT_EQ(provider.evd_stream_merging_supported[i][j], DAT_TRUE) << i << ',' << j;
    }
  }
  bool has_rdma_read = false;
  for (DAT_COUNT i = 0; i < provider.num_provider_specific_attr; ++i) {
    const DAT_NAMED_ATTR& attr = provider.provider_specific_attr[i];
    has_rdma_read |=
        std::string(attr.name) == "DAT_IB_RDMA_READ" && std::string(attr.value) == "TRUE";
  }
  EXPECT_TRUE(has_rdma_read);
}

// The value of a named attribute, or null.
const char* Named(const DAT_PROVIDER_ATTR& provider, std::string_view name) {
  for (DAT_COUNT i = 0; i < provider.num_provider_specific_attr; ++i) {
    if (provider.provider_specific_attr[i].name == name)
      return provider.provider_specific_attr[i].value;
  }
  return nullptr;
}

// covers: semantics 12
TEST_P(QueriesTest, TheProviderTellsWhatItHonours) {
  DAT_PROVIDER_ATTR provider{};
  ASSERT_OK(dat_ia_query(a_->ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider));
  EXPECT_EQ(provider.dapl_version_major, DAT_UINT32{DAT_VERSION_MAJOR});
  EXPECT_EQ(provider.dapl_version_minor, DAT_UINT32{DAT_VERSION_MINOR});
  EXPECT_EQ(int{provider.lmr_mem_types_supported},
            int{DAT_MEM_TYPE_LMR} | int{DAT_MEM_TYPE_SHARED_VIRTUAL});
  EXPECT_EQ(provider.dat_qos_supported, DAT_QOS_BEST_EFFORT);
  EXPECT_EQ(int{provider.completion_flags_supported},
            int{DAT_COMPLETION_SUPPRESS_FLAG} | int{DAT_COMPLETION_SOLICITED_WAIT_FLAG} |
                int{DAT_COMPLETION_UNSIGNALLED_FLAG} | int{DAT_COMPLETION_BARRIER_FENCE_FLAG} |
                int{DAT_COMPLETION_EVD_THRESHOLD_FLAG});
  EXPECT_EQ(provider.supports_multipath, DAT_FALSE);
  EXPECT_EQ(provider.ep_creator, DAT_PSP_CREATES_EP_IFASKED);
  EXPECT_EQ(provider.srq_ep_pz_difference_supported, DAT_FALSE);
  EXPECT_EQ(provider.lmr_sync_req, DAT_FALSE);
  EXPECT_EQ(provider.dto_async_return_guaranteed, DAT_TRUE);
  // Only iWARP adapters want this, and soft-iWARP does not.
  if (!TheOptions().ia.starts_with("verbs-")) {
    EXPECT_EQ(provider.rdma_write_for_rdma_read_req, DAT_FALSE);
  }
  // dtestsrq makes buffers of this length.
  const char* const mtu = Named(provider, "DAT_IB_TRANSPORT_MTU");
  ASSERT_NE(mtu, nullptr);
  char* end = nullptr;
  EXPECT_GT(std::strtoul(mtu, &end, 10), 0u) << mtu;
  EXPECT_EQ(*end, 0) << mtu;
}

// These attributes say what a program can have and what it cannot.
// covers: semantics 12
TEST_P(QueriesTest, TheProviderKeepsToWhatItTells) {
  // ep_creator IFASKED: both kinds of PSP.
  for (const DAT_PSP_FLAGS kind : {DAT_PSP_CONSUMER_FLAG, DAT_PSP_PROVIDER_FLAG}) {
    DAT_CONN_QUAL qualifier = 0;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    ASSERT_OK(dat_psp_create_any(a_->ia, &qualifier, a_->cr_evd, kind, &psp));
    EXPECT_OK(dat_psp_free(psp));
  }
  // Windows of every scope.
  for (const auto create : kRmrCreators) {
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    if (!HasWindows(a_->ia)) {
      EXPECT_TYPE(create(a_->pz, &rmr), DAT_MODEL_NOT_SUPPORTED);
      continue;
    }
    ASSERT_OK(create(a_->pz, &rmr));
    EXPECT_OK(dat_rmr_free(rmr));
  }
  // srq_ep_pz_difference_supported FALSE.
  DAT_SRQ_ATTR few{};
  few.max_recv_dtos = 4;
  few.max_recv_iov = 1;
  DAT_PZ_HANDLE other = DAT_HANDLE_NULL;
  ASSERT_OK(dat_pz_create(a_->ia, &other));
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  ASSERT_OK(dat_srq_create(a_->ia, other, &few, &srq));
  DAT_EP_PARAM param{};
  ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, &param));
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_NE(dat_ep_create_with_srq(a_->ia, a_->pz, a_->recv_evd, a_->request_evd, a_->connect_evd,
                                   srq, &param.ep_attr, &ep),
            DAT_SUCCESS);
  EXPECT_OK(dat_srq_free(srq));
  EXPECT_OK(dat_pz_free(other));
}

// dtest asks for the named attributes only and then reads others.
// covers: semantics 12
TEST_P(QueriesTest, AnyProviderMaskFillsEverything) {
  DAT_PROVIDER_ATTR all{}, some{};
  std::memset(static_cast<void*>(&all), 0x11, sizeof all);
  std::memset(static_cast<void*>(&some), 0xEE, sizeof some);
  ASSERT_OK(dat_ia_query(a_->ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &all));
  ASSERT_OK(
      dat_ia_query(a_->ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR, &some));
  EXPECT_EQ(some.max_private_data_size, all.max_private_data_size);
  EXPECT_EQ(some.num_provider_specific_attr, all.num_provider_specific_attr);
  EXPECT_EQ(std::memcmp(&some, &all, sizeof all), 0);
}

// covers: semantics 12
TEST_P(QueriesTest, WhatTheAttributesPromiseCanBeHad) {
  DAT_IA_ATTR ia{};
  ASSERT_OK(dat_ia_query(a_->ia, nullptr, DAT_IA_FIELD_ALL, &ia, 0, nullptr));
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  ASSERT_OK(dat_evd_create(a_->ia, ia.max_evd_qlen, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd));
  DAT_EP_ATTR attr{};
  attr.max_recv_dtos = attr.max_request_dtos = ia.max_dto_per_ep;
  attr.max_recv_iov = attr.max_request_iov = ia.max_iov_segments_per_dto;
  attr.max_rdma_read_in = ia.max_rdma_read_per_ep_in;
  attr.max_rdma_read_out = ia.max_rdma_read_per_ep_out;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_OK(dat_ep_create(a_->ia, a_->pz, evd, evd, a_->connect_evd, &attr, &ep));
  EXPECT_OK(dat_ep_free(ep));
  attr.max_recv_dtos = ia.max_dto_per_ep + 1;
  EXPECT_NE(dat_ep_create(a_->ia, a_->pz, evd, evd, a_->connect_evd, &attr, &ep), DAT_SUCCESS);
  attr.max_recv_dtos = 4;
  attr.max_rdma_read_in = ia.max_rdma_read_per_ep_in + 1;
  EXPECT_RETURN(dat_ep_create(a_->ia, a_->pz, evd, evd, a_->connect_evd, &attr, &ep),
                BadArgument(6));
  EXPECT_OK(dat_evd_free(evd));
  EXPECT_TYPE(dat_evd_create(a_->ia, ia.max_evd_qlen + 1, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd),
              DAT_INSUFFICIENT_RESOURCES);
}

// covers: semantics 3.2, 17
TEST_P(QueriesTest, BadMasksAndNullResults) {
  DAT_IA_ATTR ia{};
  DAT_PROVIDER_ATTR provider{};
  const DAT_IA_ATTR_MASK bad_ia = DAT_IA_FIELD_ALL + 1;
  EXPECT_RETURN(dat_ia_query(a_->ia, nullptr, bad_ia, &ia, 0, nullptr), BadArgument(3));
  EXPECT_RETURN(dat_ia_query(a_->ia, nullptr, DAT_IA_FIELD_ALL, nullptr, 0, nullptr),
                BadArgument(4));
  EXPECT_RETURN(dat_ia_query(a_->ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL + 1, &provider),
                BadArgument(5));
  EXPECT_RETURN(dat_ia_query(a_->ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, nullptr),
                BadArgument(6));
  EXPECT_OK(dat_ia_query(a_->ia, nullptr, 0, nullptr, 0, nullptr));
  DAT_EP_PARAM ep{};
  EXPECT_RETURN(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL + 1, &ep), BadArgument(2));
  EXPECT_RETURN(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, nullptr), BadArgument(3));
  DAT_EVD_PARAM evd{};
  EXPECT_RETURN(dat_evd_query(a_->cr_evd, static_cast<DAT_EVD_PARAM_MASK>(0x20), &evd),
                BadArgument(2));
  EXPECT_RETURN(dat_evd_query(a_->cr_evd, DAT_EVD_FIELD_ALL, nullptr), BadArgument(3));
  DAT_PZ_PARAM pz{};
  EXPECT_RETURN(dat_pz_query(a_->pz, static_cast<DAT_PZ_PARAM_MASK>(2), &pz), BadArgument(2));
  EXPECT_RETURN(dat_pz_query(a_->pz, DAT_PZ_FIELD_ALL, nullptr), BadArgument(3));
  const auto memory = a_->MakeBuffer(8);
  DAT_LMR_PARAM lmr{};
  EXPECT_RETURN(dat_lmr_query(memory->lmr(), static_cast<DAT_LMR_PARAM_MASK>(0x800), &lmr),
                BadArgument(2));
  EXPECT_RETURN(dat_lmr_query(memory->lmr(), DAT_LMR_FIELD_ALL, nullptr), BadArgument(3));
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*a_, &qualifier);
  DAT_PSP_PARAM param{};
  EXPECT_RETURN(dat_psp_query(psp, static_cast<DAT_PSP_PARAM_MASK>(0x10), &param), BadArgument(2));
  EXPECT_RETURN(dat_psp_query(psp, DAT_PSP_FIELD_ALL, nullptr), BadArgument(3));
  EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 8.1
TEST_P(QueriesTest, AnEpTellsItsPartsAndGrantsAtLeastWhatWasAsked) {
  DAT_EP_ATTR attr{};
  attr.service_type = DAT_SERVICE_TYPE_RC;
  attr.max_message_size = 70000;
  attr.max_rdma_size = 80000;
  attr.max_recv_dtos = 5;
  attr.max_request_dtos = 7;
  attr.max_recv_iov = 2;
  attr.max_request_iov = 3;
  attr.max_rdma_read_in = 2;
  attr.max_rdma_read_out = 1;
  const DAT_EP_HANDLE ep = a_->MakeEp(&attr);
  DAT_EP_PARAM param{};
  ASSERT_OK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
  EXPECT_EQ(param.ia_handle, a_->ia);
  EXPECT_EQ(param.ep_state, DAT_EP_STATE_UNCONNECTED);
  EXPECT_EQ(param.pz_handle, a_->pz);
  EXPECT_EQ(param.recv_evd_handle, a_->recv_evd);
  EXPECT_EQ(param.request_evd_handle, a_->request_evd);
  EXPECT_EQ(param.connect_evd_handle, a_->connect_evd);
  EXPECT_EQ(param.srq_handle, DAT_HANDLE_NULL);
  EXPECT_EQ(param.ep_attr.max_message_size, 70000u);
  EXPECT_EQ(param.ep_attr.max_rdma_size, 80000u);
  EXPECT_GE(param.ep_attr.max_recv_dtos, 5);
  EXPECT_GE(param.ep_attr.max_request_dtos, 7);
  EXPECT_GE(param.ep_attr.max_recv_iov, 2);
  EXPECT_GE(param.ep_attr.max_request_iov, 3);
  EXPECT_EQ(param.ep_attr.max_rdma_read_in, 2);
  EXPECT_EQ(param.ep_attr.max_rdma_read_out, 1);
}

// This is the small integer that dat_ia_open returned, not the provider's own pointer.
// covers: semantics 2.4, 3.2
TEST_P(QueriesTest, EveryObjectNamesTheConsumersIa) {
  for (const Side* side : {a_.get(), b_.get()}) {
    DAT_PZ_PARAM pz{};
    ASSERT_OK(dat_pz_query(side->pz, DAT_PZ_FIELD_ALL, &pz));
    EXPECT_EQ(pz.ia_handle, side->ia);

    if (HasWindows(side->ia)) {
      DAT_RMR_HANDLE rmr_handle = DAT_HANDLE_NULL;
      ASSERT_OK(dat_rmr_create(side->pz, &rmr_handle));
      DAT_RMR_PARAM rmr{};
      EXPECT_OK(dat_rmr_query(rmr_handle, DAT_RMR_FIELD_ALL, &rmr));
      EXPECT_EQ(rmr.ia_handle, side->ia);
      EXPECT_EQ(rmr.pz_handle, side->pz);
      EXPECT_OK(dat_rmr_free(rmr_handle));
    }

    DAT_SRQ_ATTR few{};
    few.max_recv_dtos = 4;
    few.max_recv_iov = 1;
    DAT_SRQ_HANDLE srq_handle = DAT_HANDLE_NULL;
    ASSERT_OK(dat_srq_create(side->ia, side->pz, &few, &srq_handle));
    DAT_SRQ_PARAM srq{};
    EXPECT_OK(dat_srq_query(srq_handle, DAT_SRQ_FIELD_ALL, &srq));
    EXPECT_EQ(srq.ia_handle, side->ia);
    EXPECT_EQ(srq.pz_handle, side->pz);
    EXPECT_OK(dat_srq_free(srq_handle));

    DAT_CNO_HANDLE cno_handle = DAT_HANDLE_NULL;
    ASSERT_OK(dat_cno_create(side->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno_handle));
    DAT_CNO_PARAM cno{};
    EXPECT_OK(dat_cno_query(cno_handle, DAT_CNO_FIELD_ALL, &cno));
    EXPECT_EQ(cno.ia_handle, side->ia);
    EXPECT_OK(dat_cno_free(cno_handle));

    const Buffer memory(side->ia, side->pz, 8);
    DAT_LMR_PARAM lmr{};
    EXPECT_OK(dat_lmr_query(memory.lmr(), DAT_LMR_FIELD_ALL, &lmr));
    EXPECT_EQ(lmr.ia_handle, side->ia);
    EXPECT_EQ(lmr.pz_handle, side->pz);
  }
}

// covers: semantics 8.1
TEST_P(QueriesTest, QueriedAttributesAreFitForCreate) {
  DAT_EP_PARAM param{};
  ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, &param));
  const DAT_EP_HANDLE again = a_->MakeEp(&param.ep_attr);
  DAT_EP_PARAM second{};
  ASSERT_OK(dat_ep_query(again, DAT_EP_FIELD_ALL, &second));
  EXPECT_EQ(second.ep_attr.max_recv_dtos, param.ep_attr.max_recv_dtos);
  EXPECT_EQ(second.ep_attr.max_request_iov, param.ep_attr.max_request_iov);
}

// covers: semantics 5.1
TEST_P(QueriesTest, AnEvdIsAtLeastAsLongAsAsked) {
  for (const DAT_COUNT length : {1, 2, 3, 100, 1000}) {
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    ASSERT_OK(dat_evd_create(a_->ia, length, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &evd));
    DAT_EVD_PARAM param{};
    ASSERT_OK(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
    EXPECT_GE(param.evd_qlen, length);
    EXPECT_EQ(param.ia_handle, a_->ia);
    EXPECT_EQ(param.cno_handle, DAT_HANDLE_NULL);
    EXPECT_EQ(param.evd_flags, DAT_EVD_CONNECTION_FLAG);
    EXPECT_OK(dat_evd_free(evd));
  }
}

// covers: semantics 8.2
TEST_P(QueriesTest, ModifyIsAllOrNothing) {
  DAT_EP_PARAM before{};
  ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, &before));
  DAT_EP_PARAM change{};
  change.pz_handle = a_->pz;
  change.recv_evd_handle = a_->connect_evd;  // the wrong kind
  EXPECT_TYPE(dat_ep_modify(a_->ep, DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE, &change),
              DAT_INVALID_HANDLE);
  EXPECT_RETURN(dat_ep_modify(a_->ep, DAT_EP_FIELD_ALL + 1, &change), BadArgument(2));
  EXPECT_TYPE(dat_ep_modify(a_->ep, DAT_EP_FIELD_IA_HANDLE, &change), DAT_INVALID_PARAMETER);
  EXPECT_TYPE(dat_ep_modify(a_->ep, DAT_EP_FIELD_EP_STATE, &change), DAT_INVALID_PARAMETER);
  DAT_EP_PARAM after{};
  ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, &after));
  EXPECT_EQ(after.recv_evd_handle, before.recv_evd_handle);
  change.ep_attr.max_recv_dtos = 40;
  ASSERT_OK(dat_ep_modify(a_->ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &change));
  ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, &after));
  EXPECT_GE(after.ep_attr.max_recv_dtos, 40);
}

// covers: semantics 8.2
TEST_P(QueriesTest, TheFactsOfAnEpCannotBeModified) {
  DAT_EP_PARAM before{};
  ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, &before));
  for (const DAT_EP_PARAM_MASK fixed :
       {DAT_EP_FIELD_IA_HANDLE, DAT_EP_FIELD_EP_STATE, DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR,
        DAT_EP_FIELD_LOCAL_PORT_QUAL, DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR,
        DAT_EP_FIELD_REMOTE_PORT_QUAL, DAT_EP_FIELD_SRQ_HANDLE}) {
    SCOPED_TRACE(fixed);
    // The call is refused even if the value does not change, or if another member may change.
    DAT_EP_PARAM change = before;
    EXPECT_TYPE(dat_ep_modify(a_->ep, fixed, &change), DAT_INVALID_PARAMETER);
    change.ep_attr.max_recv_dtos = before.ep_attr.max_recv_dtos + 7;
    EXPECT_TYPE(dat_ep_modify(a_->ep, fixed | DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &change),
                DAT_INVALID_PARAMETER);
    DAT_EP_PARAM after{};
    ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, &after));
    EXPECT_EQ(after.ep_attr.max_recv_dtos, before.ep_attr.max_recv_dtos);
  }
}

// covers: semantics 2.1, 4, 17
TEST_P(QueriesTest, IaOpenChecksItsArguments) {
  std::string name = TheOptions().ia;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  EXPECT_RETURN(dat_ia_open(nullptr, 8, &async, &ia), BadArgument(1));
  EXPECT_RETURN(dat_ia_open(name.data(), 0, &async, &ia), BadArgument(2));
  EXPECT_RETURN(dat_ia_open(name.data(), -1, &async, &ia), BadArgument(2));
  EXPECT_RETURN(dat_ia_open(name.data(), 8, nullptr, &ia), BadArgument(3));
  EXPECT_RETURN(dat_ia_open(name.data(), 8, &async, nullptr), BadHandle(DAT_INVALID_HANDLE_IA));
  std::string unknown = "no-such-ia";
  EXPECT_TYPE(dat_ia_open(unknown.data(), 8, &async, &ia), DAT_PROVIDER_NOT_FOUND);
  async = a_->ep;
  EXPECT_RETURN(dat_ia_open(name.data(), 8, &async, &ia), BadHandle(DAT_INVALID_HANDLE_EVD_ASYNC));
  EXPECT_EQ(ia, DAT_HANDLE_NULL);
  EXPECT_RETURN(dat_ia_close(a_->ia, static_cast<DAT_CLOSE_FLAGS>(7)), BadArgument(2));
}

// covers: semantics 4
TEST_P(QueriesTest, TheAsyncEvdCanBeShared) {
  std::string name = TheOptions().ia;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async = DAT_EVD_ASYNC_EXISTS;
  ASSERT_OK(dat_ia_open(name.data(), 8, &async, &ia));
  DAT_EVD_HANDLE seen = DAT_HANDLE_NULL;
  ASSERT_OK(dat_ia_query(ia, &seen, 0, nullptr, 0, nullptr));
  EXPECT_EQ(seen, DAT_EVD_OUT_OF_SCOPE);
  EXPECT_OK(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
  async = a_->async_evd;
  ASSERT_OK(dat_ia_open(name.data(), 8, &async, &ia));
  EXPECT_EQ(async, a_->async_evd);
  ASSERT_OK(dat_ia_query(ia, &seen, 0, nullptr, 0, nullptr));
  EXPECT_EQ(seen, a_->async_evd);
  EXPECT_OK(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}

// covers: semantics 4
TEST_P(QueriesTest, ASharedAsyncEvdGoesWithItsMaker) {
  for (const DAT_CLOSE_FLAGS how : {DAT_CLOSE_GRACEFUL_FLAG, DAT_CLOSE_ABRUPT_FLAG}) {
    std::string name = TheOptions().ia;
    DAT_IA_HANDLE maker = DAT_HANDLE_NULL, other = DAT_HANDLE_NULL;
    DAT_EVD_HANDLE made = DAT_HANDLE_NULL;
    ASSERT_OK(dat_ia_open(name.data(), 8, &made, &maker));
    DAT_EVD_HANDLE shared = made;
    ASSERT_OK(dat_ia_open(name.data(), 8, &shared, &other));
    ASSERT_OK(dat_ia_close(maker, how));
    DAT_EVENT event{};
    EXPECT_TYPE(dat_evd_dequeue(made, &event), DAT_INVALID_HANDLE);
    DAT_EVD_HANDLE seen = made;
    ASSERT_OK(dat_ia_query(other, &seen, 0, nullptr, 0, nullptr));
    EXPECT_EQ(seen, DAT_HANDLE_NULL) << "it is gone";
    // The IA itself still works.
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    ASSERT_OK(dat_pz_create(other, &pz));
    EXPECT_OK(dat_pz_free(pz));
    EXPECT_OK(dat_ia_close(other, DAT_CLOSE_GRACEFUL_FLAG));
  }
}

}  // namespace
}  // namespace softdat::conformance
