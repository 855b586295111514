// SPDX-License-Identifier: BSD-3-Clause
// The order in which programs connect, and connect again (docs/porting.md, "What programs do").
#include <sched.h>

#include <chrono>
#include <set>

#include "tests/conformance/party.h"

namespace softdat::conformance {
namespace {

class ProgramsConnectingTest : public ConformanceTest {
 protected:
  // Looks at an EP's state until it is `wanted`. No event is taken.
  static void AwaitState(DAT_EP_HANDLE ep, DAT_EP_STATE wanted) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(kPatienceUs);
    while (StateOf(ep) != wanted) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << StateOf(ep);
      sched_yield();
    }
  }
  // Sends a message from one EP to the other.
  static void Pass(Side& sender, DAT_EP_HANDLE from, Side& receiver, DAT_EP_HANDLE to) {
    ASSERT_OK(PostRecv(to, {}, 5));
    ASSERT_OK(PostSend(from, {}, 6));
    receiver.ExpectDto(receiver.recv_evd, to, 5);
    sender.ExpectDto(sender.request_evd, from, 6);
  }
};
CONFORMANCE_FAMILIES(ProgramsConnectingTest);

// While the listening program computes, all the others connect.
// covers: semantics 9.1
TEST_P(ProgramsConnectingTest, ManyConnectBeforeTheListenerLooks) {
  constexpr int kPeers = 20;
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  std::set<DAT_EP_HANDLE> connecting;
  for (int i = 0; i < kPeers; ++i) {
    const DAT_EP_HANDLE ep = a_->MakeEp();
    ASSERT_OK(Connect(ep, qualifier, {}, DAT_TIMEOUT_INFINITE));
    connecting.insert(ep);
  }
  a_->ExpectSilence(a_->connect_evd);
  std::vector<DAT_EP_HANDLE> accepted;
  for (int i = 0; i < kPeers; ++i) {
    accepted.push_back(b_->MakeEp());
    ASSERT_OK(dat_cr_accept(NextRequest(*b_), accepted.back(), 0, nullptr));
  }
  for (int i = 0; i < kPeers; ++i) {
    const DAT_EVENT event = a_->Expect(a_->connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EQ(connecting.erase(event.event_data.connect_event_data.ep_handle), 1u);
    b_->Expect(b_->connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  }
  EXPECT_OK(dat_psp_free(psp));
}

// The active program sends at once. The passive one posts its receives when it has seen that it is
// connected.
// covers: semantics 10.5
TEST_P(ProgramsConnectingTest, ReceivesBehindTheEstablishment) {
  const auto from = a_->MakeBuffer(4096, 0x3C), to = b_->MakeBuffer(4096);
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  ASSERT_OK(Connect(a_->ep, qualifier));
  ASSERT_OK(dat_cr_accept(NextRequest(*b_), b_->ep, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  for (uint64_t i = 0; i < 4; ++i) ASSERT_OK(PostSend(a_->ep, {from->local()}, i));
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  for (uint64_t i = 0; i < 4; ++i) ASSERT_OK(PostRecv(b_->ep, {to->local()}, i));
  for (uint64_t i = 0; i < 4; ++i) b_->ExpectDto(b_->recv_evd, b_->ep, i);
  for (uint64_t i = 0; i < 4; ++i) a_->ExpectDto(a_->request_evd, a_->ep, i);
  EXPECT_EQ(to->data()[4095], 0x3C);
  EXPECT_OK(dat_psp_free(psp));
}

// A rank connects to every rank, including itself, over one dispatcher. It disconnects each of its
// own two endpoints.
// covers: semantics 5.1
TEST_P(ProgramsConnectingTest, ToItselfOnOneDispatcher) {
  Party party;
  const DAT_EVD_HANDLE evd = party.MakeEvd(kEveryStream, 64);
  const DAT_EP_HANDLE client = party.MakeEp(evd, evd), server = party.MakeEp(evd, evd);
  JoinParties({party, client, evd, party, server, evd, evd}, address());
  EXPECT_OK(dat_ep_disconnect(client, DAT_CLOSE_ABRUPT_FLAG));
  EXPECT_OK(dat_ep_disconnect(server, DAT_CLOSE_ABRUPT_FLAG));
  std::set<DAT_EP_HANDLE> ended;
  for (int i = 0; i < 2; ++i) {
    const DAT_EVENT event = WaitFor(evd);
    EXPECT_EQ(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
    ended.insert(event.event_data.connect_event_data.ep_handle);
  }
  EXPECT_EQ(ended, (std::set<DAT_EP_HANDLE>{client, server}));
  EXPECT_OK(dat_ep_free(client));
  EXPECT_OK(dat_ep_free(server));
  EXPECT_OK(dat_evd_free(evd));
}

// Each side connects to the other at the same time, so that there are two connections.
TEST_P(ProgramsConnectingTest, BothConnectAtOnce) {
  DAT_CONN_QUAL to_a = 0, to_b = 0;
  const DAT_PSP_HANDLE psp_a = Listen(*a_, &to_a), psp_b = Listen(*b_, &to_b);
  const DAT_EP_HANDLE accepting_a = a_->MakeEp(), accepting_b = b_->MakeEp();
  ASSERT_OK(Connect(a_->ep, to_b));
  ASSERT_OK(Connect(b_->ep, to_a));
  ASSERT_OK(dat_cr_accept(NextRequest(*a_), accepting_a, 0, nullptr));
  ASSERT_OK(dat_cr_accept(NextRequest(*b_), accepting_b, 0, nullptr));
  for (Side* side : {a_.get(), b_.get()}) {
    for (int i = 0; i < 2; ++i) side->Expect(side->connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  }
  Pass(*a_, a_->ep, *b_, accepting_b);
  Pass(*b_, b_->ep, *a_, accepting_a);
  EXPECT_OK(dat_psp_free(psp_a));
  EXPECT_OK(dat_psp_free(psp_b));
}

// No event is taken before the end.
TEST_P(ProgramsConnectingTest, StatusInsteadOfEvents) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  ASSERT_OK(PostRecv(b_->ep, {}, 1));
  ASSERT_OK(Connect(a_->ep, qualifier));
  ASSERT_OK(dat_cr_accept(NextRequest(*b_), b_->ep, 0, nullptr));
  AwaitState(a_->ep, DAT_EP_STATE_CONNECTED);
  AwaitState(b_->ep, DAT_EP_STATE_CONNECTED);
  ASSERT_OK(PostSend(a_->ep, {}, 2));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(kPatienceUs);
  DAT_BOOLEAN sent = DAT_FALSE, received = DAT_FALSE;
  while (sent == DAT_FALSE || received == DAT_FALSE) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    EXPECT_OK(dat_ep_get_status(a_->ep, nullptr, nullptr, &sent));
    EXPECT_OK(dat_ep_get_status(b_->ep, nullptr, &received, nullptr));
    sched_yield();
  }
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_ABRUPT_FLAG));
  AwaitState(a_->ep, DAT_EP_STATE_DISCONNECTED);
  AwaitState(b_->ep, DAT_EP_STATE_DISCONNECTED);
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  EXPECT_OK(dat_psp_free(psp));
}

// A server uses the same EP for one client after the other. Both sides disconnect, each twice.
// covers: semantics 8.3, 19
TEST_P(ProgramsConnectingTest, TheSameEpForOneClientAfterTheOther) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  for (uint64_t client = 0; client < 10; ++client) {
    const DAT_EP_HANDLE ep = a_->MakeEp();
    ASSERT_OK(Connect(ep, qualifier));
    ASSERT_OK(dat_cr_accept(NextRequest(*b_), b_->ep, 0, nullptr));
    a_->ExpectConnection(ep, DAT_CONNECTION_EVENT_ESTABLISHED);
    b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
    Pass(*a_, ep, *b_, b_->ep);
    EXPECT_OK(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_OK(dat_ep_disconnect(b_->ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_OK(dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG));
    a_->ExpectConnection(ep, DAT_CONNECTION_EVENT_DISCONNECTED);
    b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_OK(dat_ep_disconnect(b_->ep, DAT_CLOSE_GRACEFUL_FLAG));
    ASSERT_OK(dat_ep_reset(b_->ep));
    a_->FreeEp(ep);
    if (HasFailure()) break;
  }
  EXPECT_OK(dat_psp_free(psp));
  ExpectNothingMore();
}

// A client that comes too early is rejected. It resets, takes its flushed receives, and tries
// again.
// covers: semantics 9.2
TEST_P(ProgramsConnectingTest, RejectedAndAgain) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  for (int attempt = 0; attempt < 3; ++attempt) {
    ASSERT_OK(PostRecv(a_->ep, {}, 1));
    ASSERT_OK(Connect(a_->ep, qualifier));
    ASSERT_OK(Reject(NextRequest(*b_)));
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_PEER_REJECTED);
    a_->ExpectDto(a_->recv_evd, a_->ep, 1, DAT_DTO_ERR_FLUSHED);
    ASSERT_OK(dat_ep_reset(a_->ep));
  }
  ASSERT_OK(Connect(a_->ep, qualifier));
  ASSERT_OK(dat_cr_accept(NextRequest(*b_), b_->ep, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  Pass(*a_, a_->ep, *b_, b_->ep);
  EXPECT_OK(dat_psp_free(psp));
}

// Ranks take a number that they derive from their process, and count up until one is free.
// covers: semantics 9.1
TEST_P(ProgramsConnectingTest, QualifiersByCountingUp) {
  DAT_CONN_QUAL next = FreeQualifier();
  const DAT_CONN_QUAL first = next;
  DAT_PSP_HANDLE taken = DAT_HANDLE_NULL;
  ASSERT_OK(dat_psp_create(b_->ia, first, b_->cr_evd, DAT_PSP_CONSUMER_FLAG, &taken));
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  DAT_RETURN ret = DAT_SUCCESS;
  do {
    ret = dat_psp_create(a_->ia, next++, a_->cr_evd, DAT_PSP_CONSUMER_FLAG, &psp);
    ASSERT_TRUE(ret == DAT_SUCCESS || DAT_GET_TYPE(ret) == DAT_CONN_QUAL_IN_USE) << Name(ret);
  } while (ret != DAT_SUCCESS && next < first + 100);
  ASSERT_OK(ret);
  EXPECT_GT(next, first + 1);
  EXPECT_OK(dat_psp_free(psp));
  EXPECT_OK(dat_psp_free(taken));
}

// A wait with timeout 0 looks once. A connect with timeout 0 is a mistake, and the EP stays as it
// was.
// covers: semantics 5.3, 9.2
TEST_P(ProgramsConnectingTest, TimeoutsOfZero) {
  DAT_EVENT event{};
  DAT_COUNT nmore = 0;
  EXPECT_TYPE(dat_evd_wait(a_->connect_evd, 0, 1, &event, &nmore), DAT_TIMEOUT_EXPIRED);
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  EXPECT_RETURN(Connect(a_->ep, qualifier, {}, 0), BadArgument(4));
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_UNCONNECTED);
  EXPECT_OK(dat_psp_free(psp));
  Join();
}

}  // namespace
}  // namespace softdat::conformance
