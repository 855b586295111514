// SPDX-License-Identifier: BSD-3-Clause
// Connecting: events, states, and every way it can fail (semantics 8.3, 9.2, 9.3, 9.7).
#include <netinet/in.h>

#include <cstring>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class ConnectTest : public ConformanceTest {};
CONFORMANCE_ALL_VARIANTS(ConnectTest);

// covers: semantics 8.3, 9.2, 9.3, 9.7
TEST_P(ConnectTest, BothSidesAreEstablishedAndPassThroughTheirStates) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_UNCONNECTED);
  ASSERT_OK(Connect(a_->ep, qualifier));
  const DAT_EVENT event = b_->Expect(b_->cr_evd, DAT_CONNECTION_REQUEST_EVENT);
  const DAT_CR_ARRIVAL_EVENT_DATA& arrival = event.event_data.cr_arrival_event_data;
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
  EXPECT_EQ(arrival.sp_handle.psp_handle, psp);
  EXPECT_EQ(arrival.conn_qual, qualifier);
  ASSERT_NE(arrival.local_ia_address_ptr, nullptr);
  // This is the IA's own address. Its family does not depend on how the request came.
  EXPECT_TRUE(arrival.local_ia_address_ptr->sa_family == AF_INET ||
              arrival.local_ia_address_ptr->sa_family == AF_INET6);
  ASSERT_OK(dat_cr_accept(arrival.cr_handle, b_->ep, 0, nullptr));
  const DAT_CONNECTION_EVENT_DATA active =
      a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  const DAT_CONNECTION_EVENT_DATA passive =
      b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_EQ(active.private_data_size, 0);
  EXPECT_EQ(passive.private_data_size, 0);
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_CONNECTED);
  EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_CONNECTED);
  EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 9.2
TEST_P(ConnectTest, OneThreadConnectsToItselfOverOneIa) {
  const DAT_EP_HANDLE other = a_->MakeEp();
  Join(*a_, a_->ep, *a_, other);
  const auto from = a_->MakeBuffer(16, 0x42), to = a_->MakeBuffer(16);
  ASSERT_OK(PostRecv(other, {to->local()}, 1));
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 2));
  a_->ExpectDto(a_->recv_evd, other, 1);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  EXPECT_EQ(to->data()[15], 0x42);
}

// covers: semantics 9.2
TEST_P(ConnectTest, TheAddressIsCopied) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  auto copy = std::make_unique<sockaddr_storage>();
  std::memcpy(copy.get(), address(), sizeof(sockaddr_storage));
  ASSERT_OK(dat_ep_connect(a_->ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(copy.get()), qualifier,
                           DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT,
                           DAT_CONNECT_DEFAULT_FLAG));
  std::memset(copy.get(), 0xFF, sizeof(sockaddr_storage));
  copy.reset();
  ASSERT_OK(dat_cr_accept(NextRequest(*b_), b_->ep, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 9.2
TEST_P(ConnectTest, NobodyListening) {
  const auto memory = a_->MakeBuffer(8);
  ASSERT_OK(PostRecv(a_->ep, {memory->local()}, 7));
  ASSERT_OK(Connect(a_->ep, FreeQualifier()));
  const DAT_CONNECTION_EVENT_DATA rejected =
      a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  EXPECT_EQ(rejected.private_data_size, 0);
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_DISCONNECTED);
  // The posted receive was flushed; only a reset makes the EP fit for another attempt.
  a_->ExpectDto(a_->recv_evd, a_->ep, 7, DAT_DTO_ERR_FLUSHED);
  EXPECT_RETURN(Connect(a_->ep, 1), BadState(DAT_INVALID_STATE_EP_DISCONNECTED));
  ASSERT_OK(dat_ep_reset(a_->ep));
  Join();
}

// covers: semantics 9.2, 9.3
TEST_P(ConnectTest, NoAnswerTimesOutAndALateAcceptFails) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  // On a busy machine the timeout may expire before the request has left.
  DAT_CR_HANDLE cr = DAT_HANDLE_NULL;
  for (DAT_TIMEOUT timeout_us = 100'000; cr == DAT_HANDLE_NULL; timeout_us *= 4) {
    ASSERT_LT(timeout_us, kPatienceUs) << "no request came";
    if (StateOf(a_->ep) == DAT_EP_STATE_DISCONNECTED) {
      ASSERT_OK(dat_ep_reset(a_->ep));
    }
    ASSERT_OK(Connect(a_->ep, qualifier, {}, timeout_us));
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_TIMED_OUT);
    EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_DISCONNECTED);
    const std::vector<DAT_EVENT> requests = Side::Drain(b_->cr_evd);
    if (!requests.empty()) cr = requests[0].event_data.cr_arrival_event_data.cr_handle;
    for (size_t i = 1; i < requests.size(); ++i) {
      EXPECT_OK(Reject(requests[i].event_data.cr_arrival_event_data.cr_handle));
    }
  }
  ASSERT_OK(dat_cr_accept(cr, b_->ep, 0, nullptr));
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
  EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_DISCONNECTED);
  EXPECT_OK(dat_psp_free(psp));
  ExpectNothingMore();
}

// covers: semantics 8.3
TEST_P(ConnectTest, DisconnectAbortsAPendingConnectWithOneEvent) {
  for (const DAT_CLOSE_FLAGS flags : {DAT_CLOSE_ABRUPT_FLAG, DAT_CLOSE_GRACEFUL_FLAG}) {
    DAT_CONN_QUAL qualifier = 0;
    const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
    ASSERT_OK(Connect(a_->ep, qualifier));
    const DAT_CR_HANDLE cr = NextRequest(*b_);
    ASSERT_OK(dat_ep_disconnect(a_->ep, flags));
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_DISCONNECTED);
    ASSERT_OK(Reject(cr));
    EXPECT_OK(dat_psp_free(psp));
    ExpectNothingMore();
    ResetBoth();
  }
}

// covers: semantics 3.1, 8.3
TEST_P(ConnectTest, FreeingAConnectingEpIsSilent) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  const DAT_EP_HANDLE ep = a_->MakeEp();
  ASSERT_OK(Connect(ep, qualifier));
  const DAT_CR_HANDLE cr = NextRequest(*b_);
  a_->FreeEp(ep);
  ASSERT_OK(dat_cr_accept(cr, b_->ep, 0, nullptr));
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
  EXPECT_OK(dat_psp_free(psp));
  ExpectNothingMore();
}

// covers: semantics 9.2
TEST_P(ConnectTest, AnUnreachableAddressIsAnEvent) {
  // The limited broadcast address and a multicast group. No host has them, and nothing is sent.
  sockaddr_storage storage{};
  if (GetParam().family == AF_INET6) {
    sockaddr_in6 group{};
    group.sin6_family = AF_INET6;
    group.sin6_addr.s6_addr[0] = 0xFF;
    group.sin6_addr.s6_addr[1] = 0x01;
    group.sin6_addr.s6_addr[15] = 0x99;
    std::memcpy(&storage, &group, sizeof group);
  } else {
    sockaddr_in broadcast{};
    broadcast.sin_family = AF_INET;
    broadcast.sin_addr.s_addr = INADDR_BROADCAST;
    std::memcpy(&storage, &broadcast, sizeof broadcast);
  }
  const DAT_RETURN ret =
      dat_ep_connect(a_->ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&storage), 4711, kPatienceUs, 0,
                     nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
  if (ret == DAT_SUCCESS) {
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_UNREACHABLE);
    EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_DISCONNECTED);
  } else {
    EXPECT_TYPE(ret, DAT_INVALID_ADDRESS);
    EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_UNCONNECTED);
  }
}

class ConnectArgumentsTest : public ConformanceTest {
 protected:
  DAT_RETURN ConnectWith(DAT_IA_ADDRESS_PTR to, DAT_TIMEOUT timeout_us, DAT_COUNT size, void* data,
                         DAT_QOS qos = DAT_QOS_BEST_EFFORT,
                         DAT_CONNECT_FLAGS flags = DAT_CONNECT_DEFAULT_FLAG) {
    return dat_ep_connect(a_->ep, to, 4711, timeout_us, size, data, qos, flags);
  }
};
CONFORMANCE_FAMILIES(ConnectArgumentsTest);

// covers: semantics 9.2, 17
TEST_P(ConnectArgumentsTest, EachBadArgumentIsNamedAndChangesNothing) {
  uint8_t data[300] = {};
  EXPECT_RETURN(ConnectWith(nullptr, kPatienceUs, 0, nullptr), BadArgument(2));
  EXPECT_RETURN(ConnectWith(address(), 0, 0, nullptr), BadArgument(4));
  EXPECT_RETURN(ConnectWith(address(), kPatienceUs, 257, data), BadArgument(5));
  EXPECT_RETURN(ConnectWith(address(), kPatienceUs, -1, data), BadArgument(5));
  EXPECT_RETURN(ConnectWith(address(), kPatienceUs, 4, nullptr), BadArgument(6));
  EXPECT_TYPE(ConnectWith(address(), kPatienceUs, 0, nullptr, DAT_QOS_PREMIUM),
              DAT_MODEL_NOT_SUPPORTED);
#if DAT_VERSION_MAJOR >= 2
  EXPECT_TYPE(ConnectWith(address(), kPatienceUs, 0, nullptr, DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_MULTIPATH_REQUIRED_FLAG),
              DAT_MODEL_NOT_SUPPORTED);
#endif
  sockaddr_storage unix_address{};
  unix_address.ss_family = AF_UNIX;
  EXPECT_TYPE(
      ConnectWith(reinterpret_cast<DAT_IA_ADDRESS_PTR>(&unix_address), kPatienceUs, 0, nullptr),
      DAT_INVALID_ADDRESS);
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_UNCONNECTED);
  ExpectNothingMore();
}

// covers: semantics 8.1, 9.2
TEST_P(ConnectArgumentsTest, AnEpWithoutItsPartsIsNotReady) {
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_OK(dat_ep_create(a_->ia, DAT_HANDLE_NULL, a_->recv_evd, a_->request_evd, a_->connect_evd,
                          nullptr, &ep));
  EXPECT_RETURN(Connect(ep, 4711), BadState(DAT_INVALID_STATE_EP_NOTREADY));
  EXPECT_OK(dat_ep_free(ep));
  ASSERT_OK(
      dat_ep_create(a_->ia, a_->pz, a_->recv_evd, a_->request_evd, DAT_HANDLE_NULL, nullptr, &ep));
  EXPECT_RETURN(Connect(ep, 4711), BadHandle(DAT_INVALID_HANDLE_EVD_CONN));
  EXPECT_OK(dat_ep_free(ep));
}

// covers: semantics 9.3, 17
TEST_P(ConnectArgumentsTest, AcceptChecksItsArgumentsAndLeavesTheRequest) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  ASSERT_OK(Connect(a_->ep, qualifier));
  const DAT_CR_HANDLE cr = NextRequest(*b_);
  uint8_t data[300] = {};
  EXPECT_RETURN(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, nullptr), BadHandle(DAT_INVALID_HANDLE_EP));
  EXPECT_RETURN(dat_cr_accept(cr, b_->ep, 257, data), BadArgument(3));
  EXPECT_RETURN(dat_cr_accept(cr, b_->ep, -1, data), BadArgument(3));
  EXPECT_RETURN(dat_cr_accept(cr, b_->ep, 4, nullptr), BadArgument(4));
  // An EP of another open of the IA, and one in the wrong state.
  EXPECT_RETURN(dat_cr_accept(cr, a_->ep, 0, nullptr), BadHandle(DAT_INVALID_HANDLE_EP));
  const DAT_EP_HANDLE busy = b_->MakeEp();
  ASSERT_OK(Connect(busy, qualifier));
  EXPECT_RETURN(dat_cr_accept(cr, busy, 0, nullptr), BadState(DAT_INVALID_STATE_EP_ACTCONNPENDING));
  ASSERT_OK(Reject(NextRequest(*b_)));
  b_->ExpectConnection(busy, DAT_CONNECTION_EVENT_PEER_REJECTED);
  EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_UNCONNECTED);
  ASSERT_OK(dat_cr_accept(cr, b_->ep, 0, nullptr));
  EXPECT_RETURN(dat_cr_accept(cr, b_->ep, 0, nullptr), BadHandle(DAT_INVALID_HANDLE_CR));
  EXPECT_RETURN(Reject(cr), BadHandle(DAT_INVALID_HANDLE_CR));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 8.1
TEST_P(ConnectArgumentsTest, TheEpNamesBothEndsOnceConnected) {
  Join();
  DAT_EP_PARAM param{};
  ASSERT_OK(dat_ep_query(a_->ep, DAT_EP_FIELD_ALL, &param));
  ASSERT_NE(param.local_ia_address_ptr, nullptr);
  ASSERT_NE(param.remote_ia_address_ptr, nullptr);
  EXPECT_EQ(param.local_ia_address_ptr->sa_family, GetParam().family);
  EXPECT_EQ(param.remote_ia_address_ptr->sa_family, GetParam().family);
  EXPECT_EQ(param.ep_state, DAT_EP_STATE_CONNECTED);
  DAT_EP_PARAM other{};
  ASSERT_OK(dat_ep_query(b_->ep, DAT_EP_FIELD_ALL, &other));
  EXPECT_EQ(param.local_port_qual, other.remote_port_qual);
  EXPECT_EQ(param.remote_port_qual, other.local_port_qual);
}

// covers: semantics 9.2
TEST_P(ConnectArgumentsTest, DupConnectGoesWhereItsModelWent) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  ASSERT_OK(Connect(a_->ep, qualifier));
  ASSERT_OK(dat_cr_accept(NextRequest(*b_), b_->ep, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  const DAT_EP_HANDLE second = a_->MakeEp(), target = b_->MakeEp(), idle = a_->MakeEp();
  EXPECT_RETURN(dat_ep_dup_connect(second, a_->ep, 0, 0, nullptr, DAT_QOS_BEST_EFFORT),
                BadArgument(3));
  EXPECT_TYPE(dat_ep_dup_connect(second, idle, kPatienceUs, 0, nullptr, DAT_QOS_BEST_EFFORT),
              DAT_INVALID_STATE);
  ASSERT_OK(dat_ep_dup_connect(second, a_->ep, kPatienceUs, 0, nullptr, DAT_QOS_BEST_EFFORT));
  ASSERT_OK(dat_cr_accept(NextRequest(*b_), target, 0, nullptr));
  a_->ExpectConnection(second, DAT_CONNECTION_EVENT_ESTABLISHED);
  b_->ExpectConnection(target, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_OK(dat_psp_free(psp));
}

}  // namespace
}  // namespace softdat::conformance
