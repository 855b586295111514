// SPDX-License-Identifier: BSD-3-Clause
// The fixture of engine tests.
#include "dat/engine/testing/engine_test.h"

#include "dat/engine/object/dat_error.h"

namespace softdat::engine::testing {

std::string StateName(DAT_EP_STATE state) {
  switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
      return "Unconnected";
    case DAT_EP_STATE_RESERVED:
      return "Reserved";
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
      return "PassivePending";
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
      return "TentativePending";
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
      return "ActivePending";
    case DAT_EP_STATE_COMPLETION_PENDING:
      return "CompletionPending";
    case DAT_EP_STATE_CONNECTED:
      return "Connected";
    case DAT_EP_STATE_DISCONNECT_PENDING:
      return "DisconnectPending";
    case DAT_EP_STATE_DISCONNECTED:
      return "Disconnected";
    default:
      return "Unknown";
  }
}

// From the numbers of the interface, not from the engine's own table.
DAT_RETURN WrongState(DAT_EP_STATE state) {
  switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
      return 0x8007002f;
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
      return 0x80070030;
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
      return 0x80070031;
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
      return 0x80070032;
    case DAT_EP_STATE_CONNECTED:
      return 0x80070033;
    case DAT_EP_STATE_DISCONNECTED:
      return 0x80070034;
    case DAT_EP_STATE_RESERVED:
      return 0x80070035;
    case DAT_EP_STATE_COMPLETION_PENDING:
      return 0x80070036;
    case DAT_EP_STATE_DISCONNECT_PENDING:
      return 0x80070037;
    default:
      return 0;
  }
}

void EngineTest::SetUp() {
  char name[] = "fake-0";
  ASSERT_EQ(slots::IaOpen(name, 16, &async_evd_, &ia_), DAT_SUCCESS);
  ASSERT_EQ(slots::PzCreate(ia_, &pz_), DAT_SUCCESS);
  recv_evd_ = MakeEvd(DAT_EVD_DTO_FLAG);
  request_evd_ = MakeEvd(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
  connect_evd_ = MakeEvd(DAT_EVD_CONNECTION_FLAG);
  cr_evd_ = MakeEvd(DAT_EVD_CR_FLAG);
  peer_.sin_family = AF_INET;
  peer_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

void EngineTest::TearDown() { EXPECT_EQ(slots::IaClose(ia_, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS); }

DAT_EVD_HANDLE EngineTest::MakeEvd(int flags, DAT_COUNT qlen) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  EXPECT_EQ(slots::EvdCreate(ia_, qlen, DAT_HANDLE_NULL, static_cast<DAT_EVD_FLAGS>(flags), &evd),
            DAT_SUCCESS);
  return evd;
}

DAT_EP_HANDLE EngineTest::MakeEp(const DAT_EP_ATTR* attr) {
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_EQ(slots::EpCreate(ia_, pz_, recv_evd_, request_evd_, connect_evd_, attr, &ep),
            DAT_SUCCESS);
  return ep;
}

DAT_RETURN EngineTest::Connect(DAT_EP_HANDLE ep, const std::string& private_data) {
  std::string data = private_data;
  return slots::EpConnect(ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&peer_), kQual, 1000000,
                          static_cast<DAT_COUNT>(data.size()), data.data(), DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_DEFAULT_FLAG);
}

DAT_EP_STATE EngineTest::StateOf(DAT_EP_HANDLE ep) {
  DAT_EP_STATE state{};
  EXPECT_EQ(slots::EpGetStatus(ep, &state, nullptr, nullptr), DAT_SUCCESS);
  return state;
}

std::vector<DAT_EVENT> EngineTest::Take(DAT_EVD_HANDLE evd) {
  std::vector<DAT_EVENT> events;
  DAT_EVENT event;
  while (slots::EvdDequeue(evd, &event) == DAT_SUCCESS) events.push_back(event);
  return events;
}

std::vector<DAT_EVENT_NUMBER> EngineTest::Numbers(DAT_EVD_HANDLE evd) {
  std::vector<DAT_EVENT_NUMBER> numbers;
  for (const DAT_EVENT& event : Take(evd)) numbers.push_back(event.event_number);
  return numbers;
}

DAT_CR_HANDLE EngineTest::TakeRequest(DAT_CONN_QUAL qual, std::vector<uint8_t> private_data) {
  fate_ = adapter().Request(qual, std::move(private_data));
  const std::vector<DAT_EVENT> events = Take(cr_evd_);
  if (events.size() != 1 || events[0].event_number != DAT_CONNECTION_REQUEST_EVENT) {
    ADD_FAILURE() << "expected one connection request, got " << events.size() << " events";
    return DAT_HANDLE_NULL;
  }
  return events[0].event_data.cr_arrival_event_data.cr_handle;
}

DAT_EP_HANDLE EngineTest::MakeEpIn(DAT_EP_STATE state) {
  const bool provider_creates = state == DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING;
  DAT_EP_HANDLE ep = provider_creates ? DAT_HANDLE_NULL : MakeEp();
  FakeQueuePair* qp = provider_creates ? nullptr : &adapter().last_qp();
  switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
      break;
    case DAT_EP_STATE_RESERVED:
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
      EXPECT_EQ(slots::RspCreate(ia_, kQual, ep, cr_evd_, &rsp_), DAT_SUCCESS);
      if (state == DAT_EP_STATE_PASSIVE_CONNECTION_PENDING) cr_ = TakeRequest(kQual);
      break;
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING: {
      EXPECT_EQ(slots::PspCreate(ia_, kQual, cr_evd_, DAT_PSP_PROVIDER_FLAG, &psp_), DAT_SUCCESS);
      cr_ = TakeRequest(kQual);
      DAT_CR_PARAM param;
      EXPECT_EQ(slots::CrQuery(cr_, DAT_CR_FIELD_ALL, &param), DAT_SUCCESS);
      ep = param.local_ep_handle;
      break;
    }
    case DAT_EP_STATE_COMPLETION_PENDING:
      EXPECT_EQ(slots::PspCreate(ia_, kQual, cr_evd_, DAT_PSP_CONSUMER_FLAG, &psp_), DAT_SUCCESS);
      EXPECT_EQ(slots::CrAccept(TakeRequest(kQual), ep, 0, nullptr), DAT_SUCCESS);
      break;
    default:
      EXPECT_EQ(Connect(ep), DAT_SUCCESS);
      if (state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING) break;
      qp->sink().OnEstablished({});
      if (state == DAT_EP_STATE_CONNECTED) break;
      EXPECT_EQ(slots::EpDisconnect(ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
      if (state == DAT_EP_STATE_DISCONNECT_PENDING) break;
      qp->sink().OnEnded(transport::EndReason::kDisconnected, "test");
      break;
  }
  Take(connect_evd_);
  EXPECT_EQ(StateOf(ep), state);
  return ep;
}

}  // namespace softdat::engine::testing
