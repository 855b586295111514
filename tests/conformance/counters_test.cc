// SPDX-License-Identifier: BSD-3-Clause
// The counters of the InfiniBand extension, through a connection's life (dat2/api/ib_counters.h,
// semantics 15.2).
#include <array>
#include <cstring>

#include "dat2/dat_ib_extensions.h"
#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class CountersTest : public ConformanceTest {
 protected:
  static DAT_UINT64 Read(DAT_HANDLE handle, int counter) {
    DAT_UINT64 value = ~DAT_UINT64{0};
    EXPECT_OK(dat_query_counters(handle, counter, &value, 0));
    return value;
  }
};
CONFORMANCE_ALL_VARIANTS(CountersTest);

// covers: semantics 15.2
TEST_P(CountersTest, AConnectionFromBothSides) {
  Join();
  EXPECT_EQ(Read(a_->ep, DCNT_EP_CONNECT), 1u);
  EXPECT_EQ(Read(b_->ep, DCNT_EP_CONNECT), 0u);
  const auto expect = [](Side& side, std::initializer_list<int> ones) {
    std::array<DAT_UINT64, DCNT_IA_ALL_COUNTERS> all;
    std::array<DAT_UINT64, DCNT_IA_ALL_COUNTERS> expected{};
    ASSERT_OK(dat_query_counters(side.ia, DCNT_IA_ALL_COUNTERS, all.data(), 0));
    for (const int i : ones) expected[static_cast<size_t>(i)] = 1;
    for (size_t i = DCNT_IA_SP_CR; i < DCNT_IA_ALL_COUNTERS; ++i)
      EXPECT_EQ(all[i], expected[i]) << "counter " << i;
  };
  {
    SCOPED_TRACE("active");
    expect(*a_, {DCNT_IA_CM_REQ_TX, DCNT_IA_CM_REP_RX, DCNT_IA_CM_ACTIVE_EST});
  }
  {
    SCOPED_TRACE("passive");
    expect(*b_, {DCNT_IA_CM_LISTEN, DCNT_IA_CM_REQ_RX, DCNT_IA_SP_CR, DCNT_IA_SP_CR_ACCEPTED,
                 DCNT_IA_CM_REP_TX, DCNT_IA_CM_PASSIVE_EST});
  }
  Part();
  EXPECT_EQ(Read(a_->ia, DCNT_IA_CM_DREQ_TX), 1u);
  EXPECT_EQ(Read(b_->ia, DCNT_IA_CM_DREQ_RX), 1u);
  EXPECT_EQ(Read(a_->ep, DCNT_EP_DISCONNECT), 1u);
  EXPECT_EQ(Read(b_->ep, DCNT_EP_DISCONNECT), 0u);
  EXPECT_EQ(Read(b_->connect_evd, DCNT_EVD_CONN_CALLBACK), 2u);
}

// covers: semantics 15.2
TEST_P(CountersTest, RefusalsAndWhoseTheyWere) {
  ASSERT_OK(Connect(a_->ep, FreeQualifier()));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  EXPECT_EQ(Read(a_->ia, DCNT_IA_CM_ERR_REFUSED), 1u);
  EXPECT_EQ(Read(a_->ia, DCNT_IA_CM_ERR), 1u);
  ASSERT_OK(dat_ep_reset(a_->ep));
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  ASSERT_OK(Connect(a_->ep, qualifier));
  ASSERT_OK(dat_cr_reject(NextRequest(*b_), 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_PEER_REJECTED);
  EXPECT_EQ(Read(a_->ia, DCNT_IA_CM_USER_REJ_RX), 1u);
  EXPECT_EQ(Read(b_->ia, DCNT_IA_CM_USER_REJ_TX), 1u);
  EXPECT_EQ(Read(b_->ia, DCNT_IA_SP_CR_REJECTED), 1u);
  EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 15.2
TEST_P(CountersTest, WhatWasPostedAndWhatWasReceived) {
  Join();
  const auto from = a_->MakeBuffer(64), to = b_->MakeBuffer(64);
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_OK(PostRecv(b_->ep, {to->local()}, i));
    ASSERT_OK(PostSend(a_->ep, {from->local(0, 20), from->local(20, 12)}, i));
    a_->ExpectDto(a_->request_evd, a_->ep, i);
    b_->ExpectDto(b_->recv_evd, b_->ep, i);
  }
  ASSERT_OK(PostRecv(b_->ep, {}, 9));
  DAT_LMR_TRIPLET local = from->local();
  DAT_RMR_TRIPLET remote = to->remote();
  ASSERT_OK(dat_ib_post_rdma_write_immed(a_->ep, 1, &local, Cookie(9), &remote, 1,
                                         DAT_COMPLETION_DEFAULT_FLAG));
  a_->Next(a_->request_evd);
  b_->Next(b_->recv_evd);

  std::array<DAT_UINT64, DCNT_EP_ALL_COUNTERS> all, sender{}, receiver{};
  sender[DCNT_EP_CONNECT] = 1;
  sender[DCNT_EP_POST_SEND] = 3;
  sender[DCNT_EP_POST_SEND_DATA] = 96;
  sender[DCNT_EP_POST_WRITE_IMM] = 1;
  sender[DCNT_EP_POST_WRITE_IMM_DATA] = 64;
  ASSERT_OK(dat_query_counters(a_->ep, DCNT_EP_ALL_COUNTERS, all.data(), 0));
  EXPECT_EQ(all, sender);
  receiver[DCNT_EP_POST_RECV] = 4;
  receiver[DCNT_EP_POST_RECV_DATA] = 192;
  receiver[DCNT_EP_RECV] = 3;
  receiver[DCNT_EP_RECV_DATA] = 96;
  receiver[DCNT_EP_RECV_RDMA_IMM] = 1;
  receiver[DCNT_EP_RECV_RDMA_IMM_DATA] = 64;
  ASSERT_OK(dat_query_counters(b_->ep, DCNT_EP_ALL_COUNTERS, all.data(), 1));
  EXPECT_EQ(all, receiver);
  ASSERT_OK(dat_query_counters(b_->ep, DCNT_EP_ALL_COUNTERS, all.data(), 0));
  EXPECT_EQ(all, decltype(all){}) << "reset";
}

TEST_P(CountersTest, AnotherEpBeginsAtZero) {
  Join();
  const auto to = a_->MakeBuffer(8);
  for (int i = 0; i < 3; ++i) {
    const DAT_EP_HANDLE ep = a_->MakeEp();
    EXPECT_EQ(Read(ep, DCNT_EP_POST_RECV), 0u);
    ASSERT_OK(PostRecv(ep, {to->local()}, 1));
    EXPECT_EQ(Read(ep, DCNT_EP_POST_RECV), 1u);
    a_->FreeEp(ep);
    a_->Drain(a_->recv_evd);
  }
}

// covers: semantics 12
TEST_P(CountersTest, TheyAreAnnounced) {
  DAT_PROVIDER_ATTR provider{};
  ASSERT_OK(dat_ia_query(a_->ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider));
  int found = 0;
  for (DAT_COUNT i = 0; i < provider.num_provider_specific_attr; ++i) {
    if (std::strcmp(provider.provider_specific_attr[i].name, DAT_IB_ATTR_COUNTERS) == 0) ++found;
  }
  EXPECT_EQ(found, 1);
}

// Only on IAs that can hand a request to another IA, as in the fixture of handoff_test.
class HandoffToAnotherIaCountersTest : public CountersTest {};
CONFORMANCE_FAMILIES(HandoffToAnotherIaCountersTest);

// A request counts once, at the IA that its requester asked.
TEST_P(HandoffToAnotherIaCountersTest, ARequestCountsWhereItCameFirst) {
  Side c(variant().mode);
  c.MakeEp();
  DAT_CONN_QUAL here = 0, there = 0;
  const DAT_PSP_HANDLE first = Listen(*b_, &here), second = Listen(c, &there);
  ASSERT_OK(Connect(a_->ep, here));
  ASSERT_OK(dat_cr_handoff(NextRequest(*b_), there));
  ASSERT_OK(dat_cr_accept(NextRequest(c), c.ep, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  c.ExpectConnection(c.ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_EQ(Read(b_->ia, DCNT_IA_CM_REQ_RX), 1u);
  EXPECT_EQ(Read(c.ia, DCNT_IA_CM_REQ_RX), 0u);
  EXPECT_EQ(Read(c.ia, DCNT_IA_SP_CR), 1u);
  EXPECT_EQ(Read(c.ia, DCNT_IA_CM_REP_TX), 1u);
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_ABRUPT_FLAG));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
  c.ExpectConnection(c.ep, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_OK(dat_psp_free(first));
  EXPECT_OK(dat_psp_free(second));
}

}  // namespace
}  // namespace softdat::conformance
