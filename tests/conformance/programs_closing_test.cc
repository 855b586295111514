// SPDX-License-Identifier: BSD-3-Clause
// Programs that free their objects in another order than the text's, or do not free them
// (docs/porting.md, "What programs do"). The free of an object in use is refused, and the object
// works on. The abrupt close ends everything.
#include "tests/conformance/party.h"

namespace softdat::conformance {
namespace {

class ProgramsClosingTest : public ConformanceTest {
 protected:
  void SetUp() override {
    ConformanceTest::SetUp();
    if (HasFatalFailure()) return;
    evd_a_ = active_.MakeEvd(DAT_EVD_DTO_FLAG, 64);
    evd_b_ = passive_.MakeEvd(DAT_EVD_DTO_FLAG, 64);
    connect_a_ = active_.MakeEvd(kConnections, 8);
    connect_b_ = passive_.MakeEvd(kConnections, 8);
    ping_ = active_.MakeEp(evd_a_, connect_a_);
    pong_ = passive_.MakeEp(evd_b_, connect_b_);
    JoinParties({active_, ping_, connect_a_, passive_, pong_, connect_b_, connect_b_}, address());
  }
  void ExpectUsable() {
    ASSERT_OK(PostRecv(pong_, {}, 1));
    ASSERT_OK(PostSend(ping_, {}, 2));
    EXPECT_EQ(WaitFor(evd_b_).event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
    EXPECT_EQ(WaitFor(evd_a_).event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
  }
  void ExpectPeerTold() {
    EXPECT_EQ(WaitFor(connect_b_).event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
  }

  Party active_, passive_;
  DAT_EVD_HANDLE evd_a_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE evd_b_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE connect_a_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE connect_b_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE ping_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE pong_ = DAT_HANDLE_NULL;
};
CONFORMANCE_FAMILIES(ProgramsClosingTest);

// covers: semantics 3.1
TEST_P(ProgramsClosingTest, WhatIsUsedIsRefusedAndWorksOn) {
  EXPECT_TYPE(dat_evd_free(evd_a_), DAT_INVALID_STATE);
  EXPECT_TYPE(dat_pz_free(active_.pz), DAT_INVALID_STATE);
  EXPECT_TYPE(active_.Close(DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE);
  ExpectUsable();
}

// Everything is alive: connections, receives, a service point, a request that nobody answered, a
// CNO.
// covers: semantics 3.1
TEST_P(ProgramsClosingTest, AbruptlyWithAllAlive) {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_OK(dat_cno_create(active_.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  const DAT_EVD_HANDLE cr = active_.MakeEvd(DAT_EVD_CR_FLAG, 4, cno);
  DAT_CONN_QUAL qualifier = 0;
  active_.Listen(cr, &qualifier);
  const DAT_EP_HANDLE asking = passive_.MakeEp(evd_b_, connect_b_);
  ASSERT_OK(Connect(asking, qualifier));
  DAT_EVD_HANDLE told = DAT_HANDLE_NULL;
  ASSERT_OK(dat_cno_wait(cno, kPatienceUs, &told));
  for (uint64_t i = 0; i < 8; ++i) ASSERT_OK(PostRecv(ping_, {active_.Local(64 * i, 64)}, i));
  EXPECT_OK(active_.Close());
  // One connection ends and one attempt fails, in any order.
  int disconnected = 0, rejected = 0;
  for (int i = 0; i < 2; ++i) {
    const DAT_EVENT event = WaitFor(connect_b_);
    disconnected += event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED;
    rejected += event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
  }
  EXPECT_EQ(disconnected, 1);
  EXPECT_EQ(rejected, 1);
}

// The end of a benchmark that ignores the results: EP, PZ, dispatchers, CNO, service point.
TEST_P(ProgramsClosingTest, TheServicePointLast) {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_OK(dat_cno_create(active_.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  const DAT_EVD_HANDLE cr = active_.MakeEvd(DAT_EVD_CR_FLAG, 4, cno);
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = active_.Listen(cr, &qualifier);
  EXPECT_OK(dat_ep_free(ping_));
  EXPECT_TYPE(dat_pz_free(active_.pz), DAT_INVALID_STATE);  // the memory is still registered
  EXPECT_OK(dat_evd_free(evd_a_));
  EXPECT_TYPE(dat_evd_free(cr), DAT_INVALID_STATE);
  EXPECT_TYPE(dat_cno_free(cno), DAT_INVALID_STATE);
  EXPECT_OK(dat_psp_free(psp));
  EXPECT_OK(active_.Close());
  ExpectPeerTold();
}

// The memory is freed first, and then the receives that name it.
// covers: semantics 3.1, 19
TEST_P(ProgramsClosingTest, MemoryBeforeTheReceivesInIt) {
  ASSERT_OK(PostRecv(ping_, {active_.Local(0, 64)}, 1));
  EXPECT_OK(dat_lmr_free(active_.lmr));
  EXPECT_OK(dat_ep_free(ping_));
  ExpectPeerTold();
  EXPECT_OK(dat_evd_free(evd_a_));
  EXPECT_OK(dat_evd_free(connect_a_));
  EXPECT_OK(dat_pz_free(active_.pz));
  EXPECT_OK(active_.Close(DAT_CLOSE_GRACEFUL_FLAG));
}

// covers: semantics 3.1
TEST_P(ProgramsClosingTest, GracefullyAndThenAbruptly) {
  EXPECT_TYPE(active_.Close(DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE);
  EXPECT_OK(active_.Close(DAT_CLOSE_ABRUPT_FLAG));
  ExpectPeerTold();
}

// covers: semantics 3.2
TEST_P(ProgramsClosingTest, TwiceEverything) {
  const DAT_IA_HANDLE ia = active_.ia;
  EXPECT_OK(dat_ep_free(ping_));
  EXPECT_RETURN(dat_ep_free(ping_), BadHandle(DAT_INVALID_HANDLE_EP));
  EXPECT_OK(dat_evd_free(evd_a_));
  EXPECT_TYPE(dat_evd_free(evd_a_), DAT_INVALID_HANDLE);
  EXPECT_OK(active_.Close());
  EXPECT_RETURN(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), BadHandle(DAT_INVALID_HANDLE_IA));
  ExpectPeerTold();
}

// MPI is finalized in a program that goes on: the IA is closed, and opened again.
TEST_P(ProgramsClosingTest, ClosedAndOpenedAgain) {
  EXPECT_OK(active_.Close());
  ExpectPeerTold();
  Party again;
  const DAT_EVD_HANDLE connections = again.MakeEvd(kConnections, 8);
  const DAT_EP_HANDLE ep = again.MakeEp(again.MakeEvd(DAT_EVD_DTO_FLAG, 64), connections);
  EXPECT_OK(dat_ep_reset(pong_));
  JoinParties({again, ep, connections, passive_, pong_, connect_b_, connect_b_}, address());
}

}  // namespace
}  // namespace softdat::conformance
