// SPDX-License-Identifier: BSD-3-Clause
// How EPs for datagrams meet: the events, what they bring, and how the program gives that back
// (semantics 15.2).
#include <atomic>
#include <thread>
#include <vector>

#include "dat2/softdat.h"
#include "tests/conformance/datagram_fixture.h"

namespace softdat::conformance {
namespace {

class DatagramExchangeTest : public DatagramFixture {};
CONFORMANCE_ALL_VARIANTS(DatagramExchangeTest);

// covers: semantics 15.2
TEST_P(DatagramExchangeTest, EachIsToldWhereTheOtherIs) {
  EXPECT_EQ(StateOf(a_ud_), DAT_EP_STATE_UNCONNECTED);
  ASSERT_OK(Ask(a_ud_, "from a"));
  const DAT_CR_HANDLE cr = NextUdRequest();
  EXPECT_EQ(StateOf(a_ud_), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
  DAT_CR_PARAM param{};
  ASSERT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
  ASSERT_EQ(param.private_data_size, 6);
  EXPECT_EQ(std::memcmp(param.private_data, "from a", 6), 0);
  ASSERT_OK(Accept(cr, b_ud_, "from b"));
  const Met passive = NextMet(*b_, b_ud_, DAT_IB_UD_PASSIVE_REMOTE_AH);
  EXPECT_EQ(passive.text(), "from a");
  const Met active = NextMet(*a_, a_ud_, DAT_IB_UD_REMOTE_AH);
  EXPECT_EQ(active.text(), "from b");
  EXPECT_NE(active.to.qpn, passive.to.qpn);
  sockaddr_storage peer{};
  std::memcpy(&peer, &active.to.ia_addr, sizeof active.to.ia_addr);
  EXPECT_EQ(peer.ss_family, address()->sa_family);
  EXPECT_EQ(StateOf(a_ud_), DAT_EP_STATE_CONNECTED);
  EXPECT_EQ(StateOf(b_ud_), DAT_EP_STATE_CONNECTED);
}

// covers: semantics 15.2
TEST_P(DatagramExchangeTest, OneEpMeetsManyAndIsMet) {
  constexpr int kMany = 8;
  std::vector<DAT_EP_HANDLE> eps;
  for (int i = 0; i < kMany; ++i) eps.push_back(MakeUd(*b_));
  for (int i = 0; i < kMany; ++i) ASSERT_OK(Ask(a_ud_, std::string(1, static_cast<char>(i))));
  for (int i = 0; i < kMany; ++i) {
    const DAT_CR_HANDLE cr = NextUdRequest();
    DAT_CR_PARAM param{};
    ASSERT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
    const char index = *static_cast<const char*>(param.private_data);
    ASSERT_OK(Accept(cr, eps[static_cast<size_t>(index)], std::string(1, index)));
    NextMet(*b_, eps[static_cast<size_t>(index)], DAT_IB_UD_PASSIVE_REMOTE_AH);
  }
  // b's EP accepts its own request.
  ASSERT_OK(Ask(b_ud_, "self"));
  ASSERT_OK(Accept(NextUdRequest(), b_ud_));
  for (int i = 0; i < 2; ++i)
    b_->Expect(b_->connect_evd,
               static_cast<DAT_EVENT_NUMBER>(DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED));
  std::vector<bool> met(kMany);
  for (int i = 0; i < kMany; ++i) {
    const Met one = NextMet(*a_, a_ud_, DAT_IB_UD_REMOTE_AH);
    ASSERT_EQ(one.data.private_data_size, 1);
    met[static_cast<size_t>(one.text()[0])] = true;
  }
  EXPECT_EQ(met, std::vector<bool>(kMany, true));
}

// covers: semantics 15.2
TEST_P(DatagramExchangeTest, WhatItBroughtIsGivenBackOnce) {
  Both both = Meet();
  Met& met = both.active;
  const DAT_RETURN bad_ep = BadHandle(DAT_INVALID_HANDLE_EP);
  EXPECT_RETURN(dat_ib_ud_cm_free(b_ud_, both.active.context.as_64 == 1 ? DAT_CONTEXT{.as_64 = 1000}
                                                                        : met.context),
                bad_ep);
  EXPECT_OK(dat_ib_ud_cm_free(a_ud_, met.context));
  EXPECT_RETURN(dat_ib_ud_cm_free(a_ud_, met.context), bad_ep);
  EXPECT_RETURN(dat_ib_ud_cm_free(a_->ep, met.context), bad_ep);
  // Giving back the event's contents has not freed the handle.
  const auto source = a_->MakeBuffer(16);
  EXPECT_OK(SendUd(a_ud_, source->local(), met.to, 1, DAT_COMPLETION_SUPPRESS_FLAG));
  EXPECT_RETURN(dat_ib_ud_ah_free(a_->ep, &met.to), bad_ep);
  EXPECT_OK(dat_ib_ud_ah_free(a_ud_, &met.to));
  EXPECT_RETURN(dat_ib_ud_ah_free(a_ud_, &met.to), BadArgument(2));
  EXPECT_RETURN(SendUd(a_ud_, source->local(), met.to, 1), BadArgument(4));
  DAT_IB_ADDR_HANDLE* const none = nullptr;
  EXPECT_RETURN(dat_ib_ud_ah_free(a_ud_, none), BadArgument(2));
}

// covers: semantics 15.2
TEST_P(DatagramExchangeTest, OneOfTwoHandlesForTheSamePeerMayGo) {
  Both first = Meet();
  const Both second = Meet();
  EXPECT_EQ(first.active.to.qpn, second.active.to.qpn);
  ASSERT_OK(dat_ib_ud_ah_free(a_ud_, &first.active.to));
  const auto source = a_->MakeBuffer(16), target = b_->MakeBuffer(kHeader + 16);
  ASSERT_OK(PostRecv(b_ud_, {target->local()}, 3));
  ASSERT_OK(SendUd(a_ud_, source->local(), second.active.to, 1, DAT_COMPLETION_SUPPRESS_FLAG));
  ExpectReceived(*b_, b_ud_, 3);
}

// covers: semantics 14, 15.2
TEST_P(DatagramExchangeTest, AHandleMayBeFreedUnderAPost) {
  Both met = Meet();
  const auto source = a_->MakeBuffer(16);
  std::atomic<bool> posting{false};
  DAT_RETURN last = DAT_SUCCESS;
  std::thread poster([&] {
    while (last == DAT_SUCCESS) {
      last = SendUd(a_ud_, source->local(), met.active.to, 1, DAT_COMPLETION_SUPPRESS_FLAG);
      posting.store(true);
    }
  });
  while (!posting.load()) std::this_thread::yield();
  DAT_IB_ADDR_HANDLE to = met.active.to;
  EXPECT_OK(dat_ib_ud_ah_free(a_ud_, &to));
  poster.join();
  EXPECT_RETURN(last, BadArgument(4));
}

// covers: semantics 15.2
TEST_P(DatagramExchangeTest, ARejectBringsItsData) {
  ASSERT_OK(Ask(a_ud_, ""));
  char no[] = "no";
  ASSERT_OK(dat_cr_reject(NextUdRequest(), 2, no));
  const DAT_EVENT event =
      a_->Expect(a_->connect_evd, static_cast<DAT_EVENT_NUMBER>(DAT_IB_UD_CONNECTION_REJECT_EVENT));
  EXPECT_EQ(ExtensionOf(event).type, DAT_IB_UD_CONNECT_REJECT);
  EXPECT_EQ(ExtensionOf(event).remote_ah.ah, nullptr);
  const DAT_CONNECTION_EVENT_DATA& data = event.event_data.connect_event_data;
  EXPECT_EQ(data.ep_handle, a_ud_);
  ASSERT_EQ(data.private_data_size, 2);
  EXPECT_EQ(std::memcmp(data.private_data, no, 2), 0);
  EXPECT_EQ(StateOf(a_ud_), DAT_EP_STATE_UNCONNECTED);
  Meet();  // and nothing stands in the way of the next exchange
}

// covers: semantics 9.1, 15.2
TEST_P(DatagramExchangeTest, WithoutATakerItIsRefused) {
  const auto expect_refused = [&] {
    const DAT_EVENT event = a_->Expect(
        a_->connect_evd, static_cast<DAT_EVENT_NUMBER>(DAT_IB_UD_CONNECTION_REJECT_EVENT));
    EXPECT_EQ(event.event_data.connect_event_data.private_data_size, 0);
  };
  ASSERT_OK(Connect(a_ud_, FreeQualifier()));
  expect_refused();
  // At this service point the provider makes the EPs, and they are for connections.
  DAT_CONN_QUAL provided = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  ASSERT_OK(dat_psp_create_any(b_->ia, &provided, b_->cr_evd, DAT_PSP_PROVIDER_FLAG, &psp));
  ASSERT_OK(Connect(a_ud_, provided));
  expect_refused();
  EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 15.2
TEST_P(DatagramExchangeTest, WithoutAnAnswerTheTimeCounts) {
  // In a guest on a busy host it takes a tenth of a second to find the way to the peer.
  ASSERT_OK(Ask(a_ud_, "", 1'000'000));
  const DAT_CR_HANDLE cr = NextUdRequest();
  const DAT_EVENT event =
      a_->Expect(a_->connect_evd, static_cast<DAT_EVENT_NUMBER>(DAT_IB_UD_CONNECTION_ERROR_EVENT));
  EXPECT_EQ(ExtensionOf(event).type, DAT_IB_UD_CONNECT_ERROR);
  EXPECT_EQ(event.event_data.connect_event_data.ep_handle, a_ud_);
  EXPECT_OK(dat_cr_reject(cr, 0, nullptr));
}

// covers: semantics 9.3, 15.2
TEST_P(DatagramExchangeTest, AnEpAcceptsItsOwnServiceOnly) {
  const DAT_RETURN bad_ep = BadHandle(DAT_INVALID_HANDLE_EP);
  ASSERT_OK(Ask(a_ud_, ""));
  const DAT_CR_HANDLE datagrams = NextUdRequest();
  EXPECT_RETURN(Accept(datagrams, b_->ep), bad_ep);
  ASSERT_OK(Connect(a_->ep, qualifier_));  // through the same service point
  const DAT_CR_HANDLE connection = NextRequest(*b_);
  EXPECT_RETURN(Accept(connection, b_ud_), bad_ep);
  // Both requests have stayed as they were.
  ASSERT_OK(Accept(connection, b_->ep));
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  ASSERT_OK(Accept(datagrams, b_ud_));
  NextMet(*b_, b_ud_, DAT_IB_UD_PASSIVE_REMOTE_AH);
  NextMet(*a_, a_ud_, DAT_IB_UD_REMOTE_AH);
  Part();
}

// covers: semantics 8.2, 8.3, 15.2
TEST_P(DatagramExchangeTest, CallsOfConnectionsFindNone) {
  EXPECT_OK(dat_ep_disconnect(a_ud_, DAT_CLOSE_ABRUPT_FLAG));
  EXPECT_OK(dat_ep_reset(a_ud_));
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  EXPECT_RETURN(dat_rsp_create(b_->ia, FreeQualifier(), b_ud_, b_->cr_evd, &rsp),
                BadHandle(DAT_INVALID_HANDLE_EP));
  DAT_EP_PARAM param{};
  ASSERT_OK(dat_ep_query(a_ud_, DAT_EP_FIELD_ALL, &param));
  EXPECT_EQ(static_cast<int>(param.ep_attr.service_type), DAT_IB_SERVICE_TYPE_UD);
  param.ep_attr.service_type = DAT_SERVICE_TYPE_RC;
  EXPECT_RETURN(dat_ep_modify(a_ud_, DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, &param), BadArgument(3));
  param.ep_attr.max_recv_dtos = 70;
  EXPECT_OK(dat_ep_modify(a_ud_, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param));
  Meet();
  EXPECT_RETURN(dat_ep_modify(a_ud_, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param),
                BadState(DAT_INVALID_STATE_EP_CONNECTED));
  EXPECT_RETURN(dat_ep_reset(a_ud_), BadState(DAT_INVALID_STATE_EP_CONNECTED));
  EXPECT_OK(dat_ep_disconnect(a_ud_, DAT_CLOSE_GRACEFUL_FLAG));
  EXPECT_EQ(StateOf(a_ud_), DAT_EP_STATE_CONNECTED);
  EXPECT_TYPE(dat_ep_dup_connect(a_ud_, b_ud_, kPatienceUs, 0, nullptr, DAT_QOS_BEST_EFFORT),
              DAT_INVALID_STATE);
  EXPECT_TRUE(Side::Drain(a_->connect_evd).empty());
}

// covers: semantics 5.1, 9.2, 15.2
TEST_P(DatagramExchangeTest, ARequestThatNobodyReadGoesWithItsEvd) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  ASSERT_OK(dat_evd_create(b_->ia, 4, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &evd));
  DAT_CONN_QUAL qualifier = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  ASSERT_OK(dat_psp_create_any(b_->ia, &qualifier, evd, DAT_PSP_CONSUMER_FLAG, &psp));
  ASSERT_OK(Connect(a_ud_, qualifier));
  DAT_EVENT first{};
  DAT_COUNT nmore = 0;
  ASSERT_OK(dat_evd_wait(evd, kPatienceUs, 1, &first, &nmore));
  ASSERT_OK(dat_cr_reject(first.event_data.cr_arrival_event_data.cr_handle, 0, nullptr));
  a_->Expect(a_->connect_evd, static_cast<DAT_EVENT_NUMBER>(DAT_IB_UD_CONNECTION_REJECT_EVENT));
  ASSERT_OK(Connect(a_ud_, qualifier));
  ASSERT_OK(Ask(a_ud_, ""));  // waits behind it
  ASSERT_OK(Accept(NextUdRequest(), b_ud_));
  NextMet(*b_, b_ud_, DAT_IB_UD_PASSIVE_REMOTE_AH);
  ASSERT_OK(dat_psp_free(psp));
  ASSERT_OK(dat_evd_free(evd));
  int rejects = 0;
  for (int i = 0; i < 2; ++i) {
    const DAT_EVENT event = a_->Next(a_->connect_evd);
    if (static_cast<int>(event.event_number) == DAT_IB_UD_CONNECTION_REJECT_EVENT) ++rejects;
  }
  EXPECT_EQ(rejects, 1);
}

// covers: semantics 15.2
TEST_P(DatagramExchangeTest, AnEpGoesWithAllThatItHas) {
  Meet();  // nobody gives back these handles and contexts
  const DAT_EP_ATTR attr = DatagramAttributes();
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_OK(
      dat_ep_create(a_->ia, a_->pz, a_->recv_evd, a_->request_evd, a_->connect_evd, &attr, &ep));
  auto memory = a_->MakeBuffer(64);
  ASSERT_OK(PostRecv(ep, {memory->local()}, 1));
  EXPECT_OK(memory->Free());
  ASSERT_OK(Ask(ep, ""));
  ASSERT_OK(Accept(NextUdRequest(), b_ud_));
  NextMet(*b_, b_ud_, DAT_IB_UD_PASSIVE_REMOTE_AH);
  Met met = NextMet(*a_, ep, DAT_IB_UD_REMOTE_AH);
  ASSERT_OK(Ask(ep, ""));  // and one exchange under way
  const DAT_CR_HANDLE cr = NextUdRequest();
  ASSERT_OK(dat_ep_free(ep));
  EXPECT_OK(Accept(cr, b_ud_));
  NextMet(*b_, b_ud_, DAT_IB_UD_PASSIVE_REMOTE_AH);
  EXPECT_RETURN(dat_ib_ud_ah_free(a_ud_, &met.to), BadArgument(2));
}

}  // namespace
}  // namespace softdat::conformance
