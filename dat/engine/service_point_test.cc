// SPDX-License-Identifier: BSD-3-Clause
// Service points and connection requests (semantics 9.1, 9.3, 9.4).
#include "dat/engine/testing/engine_test.h"

namespace softdat::engine::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ServicePointTest : public EngineTest {
 protected:
  DAT_PSP_HANDLE MakePsp(DAT_CONN_QUAL qual, DAT_PSP_FLAGS flags = DAT_PSP_CONSUMER_FLAG) {
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    EXPECT_EQ(slots::PspCreate(ia_, qual, cr_evd_, flags, &psp), DAT_SUCCESS);
    return psp;
  }
  DAT_CR_PARAM Query(DAT_CR_HANDLE cr) {
    DAT_CR_PARAM param{};
    EXPECT_EQ(slots::CrQuery(cr, DAT_CR_FIELD_ALL, &param), DAT_SUCCESS);
    return param;
  }
  // Completes a provider-created EP with the parts that it lacks.
  DAT_RETURN Complete(DAT_EP_HANDLE ep) {
    DAT_EP_PARAM param{};
    param.pz_handle = pz_;
    param.recv_evd_handle = recv_evd_;
    param.request_evd_handle = request_evd_;
    param.connect_evd_handle = connect_evd_;
    return slots::EpModify(ep,
                           DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE |
                               DAT_EP_FIELD_REQUEST_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE,
                           &param);
  }

  static constexpr DAT_RETURN kDeadCr = Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR);
};

// covers: semantics 5.7, 9.3
TEST_F(ServicePointTest, RequestIsAnnouncedWithAllItsFacts) {
  const DAT_PSP_HANDLE psp = MakePsp(kQual);
  adapter().Request(kQual, {1, 2, 3});
  const std::vector<DAT_EVENT> events = Take(cr_evd_);
  ASSERT_EQ(events.size(), 1u);
  const auto& data = events[0].event_data.cr_arrival_event_data;
  EXPECT_EQ(events[0].event_number, DAT_CONNECTION_REQUEST_EVENT);
  EXPECT_EQ(data.sp_handle.psp_handle, psp);
  EXPECT_EQ(data.conn_qual, kQual);
  EXPECT_EQ(data.truncate_flag, DAT_FALSE);
  EXPECT_EQ(data.local_ia_address_ptr->sa_family, AF_INET);
  const DAT_CR_PARAM param = Query(data.cr_handle);
  EXPECT_EQ(param.private_data_size, 3);
  EXPECT_EQ(static_cast<uint8_t*>(param.private_data)[2], 3);
  EXPECT_EQ(param.remote_port_qual, 4711u);
  EXPECT_EQ(param.remote_ia_address_ptr->sa_family, AF_INET);
  EXPECT_EQ(param.local_ep_handle, nullptr);
}

// covers: semantics 9.3, 19
TEST_F(ServicePointTest, AcceptMayReturnTheRequestsOwnDataChangedInPlace) {
  MakePsp(kQual);
  const DAT_CR_HANDLE cr = TakeRequest(kQual, {1, 2});
  const DAT_CR_PARAM param = Query(cr);
  for (int i = 0; i < 2; ++i) ++static_cast<uint8_t*>(param.private_data)[i];
  const DAT_EP_HANDLE ep = MakeEp();
  ASSERT_EQ(slots::CrAccept(cr, ep, param.private_data_size, param.private_data), DAT_SUCCESS);
  EXPECT_THAT(fate_->answer, ElementsAre(2, 3));
  EXPECT_EQ(fate_->accepted_with, &adapter().last_qp());
  EXPECT_TRUE(fate_->destroyed);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_COMPLETION_PENDING);
  EXPECT_EQ(slots::CrAccept(cr, ep, 0, nullptr), kDeadCr);
}

// covers: semantics 9.3
TEST_F(ServicePointTest, RefusedAcceptLeavesBothUnchanged) {
  MakePsp(kQual);
  const DAT_CR_HANDLE cr = TakeRequest(kQual);
  const DAT_EP_HANDLE ep = MakeEp();
  adapter().last_qp().next_status = Status(Code::kNoResources, "test");
  EXPECT_EQ(slots::CrAccept(cr, ep, 0, nullptr), Ret(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP));
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_UNCONNECTED);
  EXPECT_FALSE(fate_->destroyed);
  EXPECT_EQ(slots::CrAccept(cr, ep, 0, nullptr), DAT_SUCCESS);
}

// covers: semantics 8.1, 9.3
TEST_F(ServicePointTest, AcceptNeedsReadyEp) {
  MakePsp(kQual);
  const DAT_CR_HANDLE cr = TakeRequest(kQual);
  DAT_EP_HANDLE ep;
  ASSERT_EQ(slots::EpCreate(ia_, pz_, recv_evd_, request_evd_, nullptr, nullptr, &ep), DAT_SUCCESS);
  EXPECT_EQ(slots::CrAccept(cr, ep, 0, nullptr),
            Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY));
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_UNCONNECTED);
}

// covers: semantics 9.3, 17
TEST_F(ServicePointTest, ArgumentsOfAcceptAndReject) {
  MakePsp(kQual);
  const DAT_CR_HANDLE cr = TakeRequest(kQual);
  const DAT_EP_HANDLE ep = MakeEp();
  char data[300] = {};
  EXPECT_EQ(slots::CrAccept(nullptr, ep, 0, nullptr), kDeadCr);
  EXPECT_EQ(slots::CrAccept(cr, nullptr, 0, nullptr),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_EQ(slots::CrAccept(cr, pz_, 0, nullptr), Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_EQ(slots::CrAccept(cr, ep, 257, data), Arg(3));
  EXPECT_EQ(slots::CrAccept(cr, ep, -1, data), Arg(3));
  EXPECT_EQ(slots::CrAccept(cr, ep, 1, nullptr), Arg(4));
  EXPECT_EQ(slots::CrReject(cr, 257, data), Arg(2));
  EXPECT_EQ(slots::CrReject(cr, 1, nullptr), Arg(3));
  EXPECT_EQ(slots::CrQuery(cr, static_cast<DAT_CR_PARAM_MASK>(0x20), nullptr), Arg(2));
  EXPECT_EQ(slots::CrQuery(cr, DAT_CR_FIELD_ALL, nullptr), Arg(3));
  fate_->next_handoff = Status(Code::kNotFound, "test");
  EXPECT_EQ(slots::CrHandoff(cr, 5), Arg(2));
  EXPECT_FALSE(fate_->destroyed);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_UNCONNECTED);
}

// covers: semantics 9.3
TEST_F(ServicePointTest, RejectCarriesData) {
  MakePsp(kQual);
  const DAT_CR_HANDLE cr = TakeRequest(kQual);
  char data[] = {7};
  ASSERT_EQ(slots::CrReject(cr, 1, data), DAT_SUCCESS);
  EXPECT_TRUE(fate_->rejected);
  EXPECT_THAT(fate_->answer, ElementsAre(7));
  EXPECT_EQ(slots::CrReject(cr, 0, nullptr), kDeadCr);
}

// covers: semantics 5.8, 9.1
TEST_F(ServicePointTest, BacklogIsTheFreeRoomOfTheEvd) {
  cr_evd_ = MakeEvd(DAT_EVD_CR_FLAG, 2);
  MakePsp(kQual);
  const auto first = adapter().Request(kQual);
  const auto second = adapter().Request(kQual);
  const auto third = adapter().Request(kQual);
  EXPECT_FALSE(first->destroyed);
  EXPECT_FALSE(second->destroyed);
  EXPECT_TRUE(third->destroyed);  // rejected by the back end
  EXPECT_EQ(Take(cr_evd_).size(), 2u);
  EXPECT_THAT(Take(async_evd_), IsEmpty());
  EXPECT_FALSE(adapter().Request(kQual)->destroyed);
}

// covers: semantics 3.1, 9.1
TEST_F(ServicePointTest, FreedPspNoLongerListensAndItsRequestsStayValid) {
  const DAT_PSP_HANDLE psp = MakePsp(kQual);
  const DAT_CR_HANDLE cr = TakeRequest(kQual);
  ASSERT_EQ(slots::PspFree(psp), DAT_SUCCESS);
  EXPECT_TRUE(adapter().Request(kQual)->destroyed);
  EXPECT_THAT(Take(cr_evd_), IsEmpty());
  EXPECT_EQ(slots::CrAccept(cr, MakeEp(), 0, nullptr), DAT_SUCCESS);
  EXPECT_EQ(slots::PspFree(psp), Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PSP));
  MakePsp(kQual);
}

// covers: semantics 9.1
TEST_F(ServicePointTest, QualifierInUse) {
  MakePsp(kQual);
  DAT_PSP_HANDLE psp;
  EXPECT_EQ(slots::PspCreate(ia_, kQual, cr_evd_, DAT_PSP_CONSUMER_FLAG, &psp),
            Ret(DAT_CONN_QUAL_IN_USE));
  const DAT_EP_HANDLE ep = MakeEp();
  DAT_RSP_HANDLE rsp;
  EXPECT_EQ(slots::RspCreate(ia_, kQual, ep, cr_evd_, &rsp), Ret(DAT_CONN_QUAL_IN_USE));
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_UNCONNECTED);
}

// covers: semantics 9.1
TEST_F(ServicePointTest, PspCreateAny) {
  DAT_CONN_QUAL qual = 0;
  DAT_PSP_HANDLE psp;
  ASSERT_EQ(slots::PspCreateAny(ia_, &qual, cr_evd_, DAT_PSP_CONSUMER_FLAG, &psp), DAT_SUCCESS);
  EXPECT_NE(qual, 0u);
  adapter().Request(qual);
  const std::vector<DAT_EVENT> events = Take(cr_evd_);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event_data.cr_arrival_event_data.conn_qual, qual);
  DAT_PSP_PARAM param;
  ASSERT_EQ(slots::PspQuery(psp, DAT_PSP_FIELD_ALL, &param), DAT_SUCCESS);
  EXPECT_EQ(param.conn_qual, qual);
  EXPECT_EQ(param.evd_handle, cr_evd_);
  EXPECT_EQ(param.psp_flags, DAT_PSP_CONSUMER_FLAG);
  adapter().next_status = Status(Code::kNoFreeQualifier, "test");
  EXPECT_EQ(slots::PspCreateAny(ia_, &qual, cr_evd_, DAT_PSP_CONSUMER_FLAG, &psp),
            Ret(DAT_CONN_QUAL_UNAVAILABLE));
}

// covers: semantics 9.1, 17
TEST_F(ServicePointTest, ArgumentsOfPsp) {
  DAT_PSP_HANDLE psp = nullptr;
  DAT_CONN_QUAL qual = 1;
  const auto flags = DAT_PSP_CONSUMER_FLAG;
  EXPECT_EQ(slots::PspCreate(pz_, 1, cr_evd_, flags, &psp),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
  EXPECT_EQ(slots::PspCreate(ia_, 1, nullptr, flags, &psp),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR));
  EXPECT_EQ(slots::PspCreate(ia_, 1, recv_evd_, flags, &psp),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR));
  EXPECT_EQ(slots::PspCreate(ia_, 0, cr_evd_, flags, &psp), Arg(2));
  EXPECT_EQ(slots::PspCreate(ia_, 1, cr_evd_, static_cast<DAT_PSP_FLAGS>(2), &psp), Arg(4));
  EXPECT_EQ(slots::PspCreate(ia_, 1, cr_evd_, flags, nullptr), Arg(5));
  EXPECT_EQ(slots::PspCreateAny(ia_, nullptr, cr_evd_, flags, &psp), Arg(2));
  EXPECT_EQ(slots::PspCreateAny(ia_, &qual, cr_evd_, flags, nullptr), Arg(5));
  EXPECT_EQ(psp, nullptr);
  psp = MakePsp(1);
  EXPECT_EQ(slots::PspQuery(psp, static_cast<DAT_PSP_PARAM_MASK>(0x10), nullptr), Arg(2));
  EXPECT_EQ(slots::PspQuery(psp, DAT_PSP_FIELD_ALL, nullptr), Arg(3));
  EXPECT_EQ(slots::PspQuery(cr_evd_, DAT_PSP_FIELD_ALL, nullptr),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PSP));
}

// covers: semantics 3.1, 9.1, 19
TEST_F(ServicePointTest, RspTakesOneRequestAndLivesOn) {
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_RESERVED);
  adapter().Request(kQual);
  const std::vector<DAT_EVENT> events = Take(cr_evd_);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event_data.cr_arrival_event_data.sp_handle.rsp_handle, rsp_);
  const DAT_CR_HANDLE cr = events[0].event_data.cr_arrival_event_data.cr_handle;
  EXPECT_EQ(Query(cr).local_ep_handle, ep);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
  EXPECT_TRUE(adapter().Request(kQual)->destroyed);
  EXPECT_THAT(adapter().listeners, IsEmpty());
  EXPECT_EQ(slots::CrAccept(cr, MakeEp(), 0, nullptr),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  ASSERT_EQ(slots::CrAccept(cr, nullptr, 0, nullptr), DAT_SUCCESS);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_COMPLETION_PENDING);
  DAT_RSP_PARAM param;
  ASSERT_EQ(slots::RspQuery(rsp_, DAT_RSP_FIELD_ALL, &param), DAT_SUCCESS);
  EXPECT_EQ(param.ep_handle, ep);
  EXPECT_EQ(param.conn_qual, kQual);
  ASSERT_EQ(slots::RspFree(rsp_), DAT_SUCCESS);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_COMPLETION_PENDING);
}

// covers: semantics 3.1, 8.3
TEST_F(ServicePointTest, RspFreedBeforeARequestGivesTheEpBack) {
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_RESERVED);
  ASSERT_EQ(slots::RspFree(rsp_), DAT_SUCCESS);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_UNCONNECTED);
}

// covers: semantics 8.3
TEST_F(ServicePointTest, RejectAtAnRspGivesTheEpBack) {
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
  ASSERT_EQ(slots::CrReject(cr_, 0, nullptr), DAT_SUCCESS);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_UNCONNECTED);
}

// covers: semantics 3.1
TEST_F(ServicePointTest, EpMayBeFreedBeforeItsUsedRsp) {
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
  ASSERT_EQ(slots::CrReject(cr_, 0, nullptr), DAT_SUCCESS);
  ASSERT_EQ(slots::EpFree(ep), DAT_SUCCESS);
  EXPECT_EQ(slots::RspFree(rsp_), DAT_SUCCESS);
}

TEST_F(ServicePointTest, RspThatFindsItsEvdFullWaitsForTheNextRequest) {
  cr_evd_ = MakeEvd(DAT_EVD_CR_FLAG, 1);
  MakePsp(55);
  adapter().Request(55);
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_RESERVED);
  EXPECT_TRUE(adapter().Request(kQual)->destroyed);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_RESERVED);
  Take(cr_evd_);
  TakeRequest(kQual);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
}

// covers: semantics 9.4
TEST_F(ServicePointTest, ProviderCreatedEpIsCompletedAndAccepted) {
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING);
  EXPECT_EQ(slots::CrAccept(cr_, nullptr, 0, nullptr),
            Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY));
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING);
  ASSERT_EQ(Complete(ep), DAT_SUCCESS);
  EXPECT_NE(adapter().last_qp().attributes.pd, nullptr);
  ASSERT_EQ(slots::CrAccept(cr_, nullptr, 0, nullptr), DAT_SUCCESS);
  adapter().last_qp().sink().OnEstablished({});
  EXPECT_THAT(Numbers(connect_evd_), ElementsAre(DAT_CONNECTION_EVENT_ESTABLISHED));
  EXPECT_EQ(slots::EpFree(ep), DAT_SUCCESS);
}

// covers: semantics 9.4
TEST_F(ServicePointTest, ProviderCreatedEpGoesBackAtReject) {
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING);
  ASSERT_EQ(slots::CrReject(cr_, 0, nullptr), DAT_SUCCESS);
  EXPECT_EQ(slots::EpFree(ep), Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_THAT(adapter().qps, IsEmpty());
}

// covers: semantics 9.4
TEST_F(ServicePointTest, ProviderCreatedEpThatCannotBeMadeRejects) {
  MakePsp(kQual, DAT_PSP_PROVIDER_FLAG);
  adapter().next_status = Status(Code::kNoResources, "test");
  EXPECT_TRUE(adapter().Request(kQual)->destroyed);
  EXPECT_THAT(Take(cr_evd_), IsEmpty());
}

// covers: semantics 9.1, 9.4
TEST_F(ServicePointTest, RspWithoutEpCreatesOne) {
  DAT_RSP_HANDLE rsp;
  ASSERT_EQ(slots::RspCreate(ia_, kQual, nullptr, cr_evd_, &rsp), DAT_SUCCESS);
  const DAT_CR_HANDLE cr = TakeRequest(kQual);
  EXPECT_EQ(StateOf(Query(cr).local_ep_handle), DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING);
}

// covers: semantics 9.3
TEST_F(ServicePointTest, HandoffToAnotherPsp) {
  MakePsp(kQual);
  const DAT_PSP_HANDLE other = MakePsp(99);
  const DAT_CR_HANDLE cr = TakeRequest(kQual, {5});
  ASSERT_EQ(slots::CrHandoff(cr, 99), DAT_SUCCESS);
  EXPECT_EQ(slots::CrReject(cr, 0, nullptr), kDeadCr);
  const std::vector<DAT_EVENT> events = Take(cr_evd_);
  ASSERT_EQ(events.size(), 1u);
  const auto& data = events[0].event_data.cr_arrival_event_data;
  EXPECT_EQ(data.sp_handle.psp_handle, other);
  EXPECT_EQ(data.conn_qual, 99u);
  EXPECT_EQ(Query(data.cr_handle).private_data_size, 1);
  ASSERT_EQ(slots::CrAccept(data.cr_handle, MakeEp(), 0, nullptr), DAT_SUCCESS);
  EXPECT_NE(fate_->accepted_with, nullptr);
}

// covers: semantics 8.3, 9.3
TEST_F(ServicePointTest, HandoffGivesTheRspsEpBackAndTakesTheOthers) {
  MakePsp(99, DAT_PSP_PROVIDER_FLAG);
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
  ASSERT_EQ(slots::CrHandoff(cr_, 99), DAT_SUCCESS);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_UNCONNECTED);
  const std::vector<DAT_EVENT> events = Take(cr_evd_);
  ASSERT_EQ(events.size(), 1u);
  const DAT_CR_PARAM param = Query(events[0].event_data.cr_arrival_event_data.cr_handle);
  EXPECT_EQ(StateOf(param.local_ep_handle), DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING);
}

// covers: semantics 9.3
TEST_F(ServicePointTest, HandoffThatFindsNoRoomChangesNothing) {
  const DAT_EVD_HANDLE full = MakeEvd(DAT_EVD_CR_FLAG, 1);
  DAT_PSP_HANDLE psp;
  ASSERT_EQ(slots::PspCreate(ia_, 99, full, DAT_PSP_CONSUMER_FLAG, &psp), DAT_SUCCESS);
  adapter().Request(99);
  MakePsp(kQual);
  const DAT_CR_HANDLE cr = TakeRequest(kQual);
  EXPECT_EQ(slots::CrHandoff(cr, 99), Ret(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD));
  EXPECT_FALSE(fate_->destroyed);
  EXPECT_EQ(slots::CrAccept(cr, MakeEp(), 0, nullptr), DAT_SUCCESS);
}

// covers: semantics 9.3
TEST_F(ServicePointTest, HandoffBeyondTheIaIsTheBackEnds) {
  MakePsp(kQual);
  const DAT_CR_HANDLE cr = TakeRequest(kQual);
  fate_->next_handoff = Status(Code::kNotFound, "test");
  EXPECT_EQ(slots::CrHandoff(cr, 99), Arg(2));
  fate_->next_handoff = Status(Code::kNoFreeQualifier, "test");
  EXPECT_EQ(slots::CrHandoff(cr, 99), Ret(DAT_CONN_QUAL_UNAVAILABLE));
  fate_->next_handoff = Status(Code::kNoResources, "test");
  EXPECT_EQ(slots::CrHandoff(cr, 99), Ret(DAT_INSUFFICIENT_RESOURCES));
  EXPECT_FALSE(fate_->destroyed);
  ASSERT_EQ(slots::CrHandoff(cr, 99), DAT_SUCCESS);
  EXPECT_EQ(fate_->handed_to, 99u);
  EXPECT_TRUE(fate_->destroyed);
  EXPECT_EQ(slots::CrReject(cr, 0, nullptr), kDeadCr);
}

// covers: semantics 16.1
TEST_F(ServicePointTest, Csp) {
  DAT_COMM comm{AF_INET, SOCK_STREAM, 0};
  peer_.sin_port = htons(7000);
  const auto address = reinterpret_cast<DAT_IA_ADDRESS_PTR>(&peer_);
  DAT_CSP_HANDLE csp;
  ASSERT_EQ(slots::CspCreate(ia_, &comm, address, cr_evd_, &csp), DAT_SUCCESS);
  adapter().Request(7000);
  const std::vector<DAT_EVENT> events = Take(cr_evd_);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event_data.cr_arrival_event_data.sp_handle.csp_handle, csp);
  DAT_CSP_PARAM param;
  ASSERT_EQ(slots::CspQuery(csp, DAT_CSP_FIELD_ALL, &param), DAT_SUCCESS);
  EXPECT_EQ(param.comm->type, SOCK_STREAM);
  EXPECT_EQ(reinterpret_cast<sockaddr_in*>(param.address_ptr)->sin_port, htons(7000));
  DAT_CSP_HANDLE second = nullptr;
  EXPECT_EQ(slots::CspCreate(ia_, &comm, address, cr_evd_, &second), Ret(DAT_PORT_IN_USE));
  comm.type = SOCK_DGRAM;
  EXPECT_EQ(slots::CspCreate(ia_, &comm, address, cr_evd_, &second), Ret(DAT_COMM_NOT_SUPPORTED));
  comm = {AF_INET6, SOCK_STREAM, 0};
  EXPECT_EQ(slots::CspCreate(ia_, &comm, address, cr_evd_, &second), Arg(3));
  EXPECT_EQ(slots::CspCreate(ia_, nullptr, address, cr_evd_, &second), Arg(2));
  EXPECT_EQ(slots::CspCreate(ia_, &comm, nullptr, cr_evd_, &second), Arg(3));
  EXPECT_EQ(slots::CspCreate(ia_, &comm, address, cr_evd_, nullptr), Arg(5));
  EXPECT_EQ(slots::CspFree(csp), DAT_SUCCESS);
  EXPECT_EQ(slots::CspFree(csp), Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CSP));
}

// covers: semantics 16.1
TEST_F(ServicePointTest, CspWithPortZeroTellsWhichItGot) {
  DAT_COMM comm{AF_INET, SOCK_STREAM, IPPROTO_TCP};
  DAT_CSP_HANDLE csp;
  ASSERT_EQ(
      slots::CspCreate(ia_, &comm, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&peer_), cr_evd_, &csp),
      DAT_SUCCESS);
  DAT_CSP_PARAM param;
  ASSERT_EQ(slots::CspQuery(csp, DAT_CSP_FIELD_ALL, &param), DAT_SUCCESS);
  EXPECT_EQ(adapter().listeners.front()->conn_qual(),
            ntohs(reinterpret_cast<sockaddr_in*>(param.address_ptr)->sin_port));
}

// covers: semantics 3.1
TEST_F(ServicePointTest, EvdStaysInUseUntilTheServicePointGoes) {
  const DAT_PSP_HANDLE psp = MakePsp(kQual);
  EXPECT_EQ(slots::EvdFree(cr_evd_), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
  ASSERT_EQ(slots::PspFree(psp), DAT_SUCCESS);
  EXPECT_EQ(slots::EvdFree(cr_evd_), DAT_SUCCESS);
}

// Requests, RSPs and provider-created EPs in every stage. The fixture's abrupt close must take them
// down.
// covers: semantics 3.1
TEST_F(ServicePointTest, AbruptCloseWithEverythingPending) {
  MakeEpIn(DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
  const auto first = fate_;
  MakeEp();
  DAT_RSP_HANDLE rsp;
  ASSERT_EQ(slots::RspCreate(ia_, 77, MakeEp(), cr_evd_, &rsp), DAT_SUCCESS);
  MakePsp(99, DAT_PSP_PROVIDER_FLAG);
  TakeRequest(99);
  ASSERT_EQ(slots::IaClose(ia_, DAT_CLOSE_GRACEFUL_FLAG),
            Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
  ASSERT_EQ(slots::IaClose(ia_, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
  EXPECT_TRUE(first->destroyed);
  EXPECT_TRUE(fate_->destroyed);
  char name[] = "fake-0";
  async_evd_ = DAT_HANDLE_NULL;
  ASSERT_EQ(slots::IaOpen(name, 16, &async_evd_, &ia_), DAT_SUCCESS);  // for TearDown
}

}  // namespace
}  // namespace softdat::engine::testing
