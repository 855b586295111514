// SPDX-License-Identifier: BSD-3-Clause
// Events as programs collect them (docs/porting.md, "What programs do").
#include <thread>

#include "tests/conformance/party.h"

namespace softdat::conformance {
namespace {

class ProgramsEventsTest : public ConformanceTest {
 protected:
  // Sends `rounds` messages there and back, one at a time.
  static void PingPong(DAT_EP_HANDLE ping, DAT_EVD_HANDLE ping_dto, DAT_EP_HANDLE pong,
                       DAT_EVD_HANDLE pong_dto, const Party& at, const Party& back, int rounds,
                       NextEvent next) {
    for (int round = 0; round < rounds; ++round) {
      ASSERT_OK(PostRecv(pong, {back.Local(0, 64)}, 1));
      ASSERT_OK(PostSend(ping, {at.Local(0, 64)}, 2));
      ExpectDto(next(ping_dto), ping, 2);
      ExpectDto(next(pong_dto), pong, 1);
      ASSERT_OK(PostRecv(ping, {at.Local(64, 64)}, 3));
      ASSERT_OK(PostSend(pong, {back.Local(64, 64)}, 4));
      ExpectDto(next(pong_dto), pong, 4);
      ExpectDto(next(ping_dto), ping, 3);
    }
  }
  static void ExpectDto(const DAT_EVENT& event, DAT_EP_HANDLE ep, uint64_t cookie) {
    ASSERT_EQ(event.event_number, DAT_DTO_COMPLETION_EVENT) << EventName(event.event_number);
    const auto& data = event.event_data.dto_completion_event_data;
    EXPECT_EQ(data.ep_handle, ep);
    EXPECT_EQ(data.user_cookie.as_64, cookie);
    EXPECT_EQ(data.status, DAT_DTO_SUCCESS);
  }
  Party active_, passive_;
};
CONFORMANCE_FAMILIES(ProgramsEventsTest);

// A program has one queue for requests, receives, connections and connection requests.
// covers: semantics 5.1, 19
TEST_P(ProgramsEventsTest, OneDispatcherForEverything) {
  const DAT_EVD_HANDLE a = active_.MakeEvd(kEveryStream, 32);
  const DAT_EVD_HANDLE b = passive_.MakeEvd(kEveryStream, 32);
  const DAT_EP_HANDLE ping = active_.MakeEp(a, a), pong = passive_.MakeEp(b, b);
  JoinParties({active_, ping, a, passive_, pong, b, b}, address());
  PingPong(ping, a, pong, b, active_, passive_, 20, WaitFor);
  ASSERT_OK(dat_ep_disconnect(ping, DAT_CLOSE_ABRUPT_FLAG));
  EXPECT_EQ(WaitFor(a).event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_EQ(WaitFor(b).event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
}

// Each dispatcher has room for one event, and there is never more than one on its way.
// covers: semantics 5.1
TEST_P(ProgramsEventsTest, DispatchersOfOneEvent) {
  const auto make = [](Party& party, DAT_EVD_HANDLE* recv, DAT_EVD_HANDLE* request,
                       DAT_EVD_HANDLE* connect) {
    *recv = party.MakeEvd(DAT_EVD_DTO_FLAG, 1);
    *request = party.MakeEvd(DAT_EVD_DTO_FLAG, 1);
    *connect = party.MakeEvd(DAT_EVD_CONNECTION_FLAG, 1);
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    EXPECT_OK(dat_ep_create(party.ia, party.pz, *recv, *request, *connect, nullptr, &ep));
    return ep;
  };
  DAT_EVD_HANDLE recv_a, request_a, connect_a, recv_b, request_b, connect_b;
  const DAT_EP_HANDLE a = make(active_, &recv_a, &request_a, &connect_a);
  const DAT_EP_HANDLE b = make(passive_, &recv_b, &request_b, &connect_b);
  JoinParties({active_, a, connect_a, passive_, b, connect_b, passive_.MakeEvd(DAT_EVD_CR_FLAG, 1)},
              address());
  for (uint64_t i = 0; i < 50; ++i) {
    ASSERT_OK(PostRecv(b, {passive_.Local(0, 64)}, i));
    ASSERT_OK(PostSend(a, {active_.Local(0, 64)}, i));
    ExpectDto(WaitFor(request_a), a, i);
    ExpectDto(WaitFor(recv_b), b, i);
  }
  EXPECT_TRUE(Side::Drain(active_.async_evd).empty());
  EXPECT_TRUE(Side::Drain(passive_.async_evd).empty());
}

// The queue of an EP may be longer than that of its dispatcher, as long as the program reaps.
// covers: semantics 5.1, 19
TEST_P(ProgramsEventsTest, ADispatcherShorterThanTheEp) {
  const DAT_EVD_HANDLE a = active_.MakeEvd(DAT_EVD_DTO_FLAG, 8);
  const DAT_EVD_HANDLE b = passive_.MakeEvd(DAT_EVD_DTO_FLAG, 8);
  const DAT_EVD_HANDLE connect_a = active_.MakeEvd(kConnections, 8),
                       connect_b = passive_.MakeEvd(kConnections, 8);
  const DAT_EP_HANDLE ping = active_.MakeEp(a, connect_a), pong = passive_.MakeEp(b, connect_b);
  JoinParties({active_, ping, connect_a, passive_, pong, connect_b, connect_b}, address());
  PingPong(ping, a, pong, b, active_, passive_, 20, WaitFor);
}

// From the connection request to the disconnection, no call waits.
TEST_P(ProgramsEventsTest, DequeueAlone) {
  const DAT_EVD_HANDLE a = active_.MakeEvd(DAT_EVD_DTO_FLAG, 32);
  const DAT_EVD_HANDLE b = passive_.MakeEvd(DAT_EVD_DTO_FLAG, 32);
  const DAT_EVD_HANDLE connect_a = active_.MakeEvd(kConnections, 8),
                       connect_b = passive_.MakeEvd(kConnections, 8);
  const DAT_EP_HANDLE ping = active_.MakeEp(a, connect_a), pong = passive_.MakeEp(b, connect_b);
  JoinParties({active_, ping, connect_a, passive_, pong, connect_b, connect_b}, address(), PollFor);
  PingPong(ping, a, pong, b, active_, passive_, 50, PollFor);
  ASSERT_OK(dat_ep_disconnect(ping, DAT_CLOSE_ABRUPT_FLAG));
  EXPECT_EQ(PollFor(connect_a).event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_EQ(PollFor(connect_b).event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
}

// A thread sleeps on one CNO for all dispatchers, including that of asynchronous errors. A software
// event ends it. Whichever dispatcher the CNO names, the thread empties them all, because a CNO
// that is already triggered does not remember a second one.
// covers: semantics 6
TEST_P(ProgramsEventsTest, OneCnoForEverything) {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_OK(dat_cno_create(passive_.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  ASSERT_OK(dat_evd_modify_cno(passive_.async_evd, cno));
  const DAT_EVD_HANDLE dto = passive_.MakeEvd(DAT_EVD_DTO_FLAG, 64, cno);
  const DAT_EVD_HANDLE connect = passive_.MakeEvd(DAT_EVD_CONNECTION_FLAG, 10, cno);
  const DAT_EVD_HANDLE cr = passive_.MakeEvd(DAT_EVD_CR_FLAG, 10, cno);
  const DAT_EVD_HANDLE stop = passive_.MakeEvd(DAT_EVD_SOFTWARE_FLAG, 1, cno);
  const DAT_EP_HANDLE pong = passive_.MakeEp(dto, connect);
  constexpr uint64_t kMessages = 15;
  for (uint64_t i = 0; i < kMessages; ++i) ASSERT_OK(PostRecv(pong, {}, i));
  uint64_t received = 0;
  const auto serve = [&](const DAT_EVENT& event) {
    if (event.event_number == DAT_CONNECTION_REQUEST_EVENT) {
      EXPECT_OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, pong, 0, nullptr));
    } else if (event.event_number == DAT_DTO_COMPLETION_EVENT) {
      ExpectDto(event, pong, received++);
      if (received < kMessages) return;
      DAT_EVENT end{};
      end.event_number = DAT_SOFTWARE_EVENT;
      EXPECT_OK(dat_evd_post_se(stop, &end));
    }
  };
  std::thread server([&] {
    bool stopped = false;
    while (!stopped) {
      DAT_EVD_HANDLE told = DAT_HANDLE_NULL;
      ASSERT_OK(dat_cno_wait(cno, kPatienceUs, &told));
      for (const DAT_EVD_HANDLE evd : {passive_.async_evd, cr, connect, dto, stop}) {
        DAT_EVENT event{};
        DAT_COUNT nmore = 0;
        while (dat_evd_wait(evd, 0, 1, &event, &nmore) == DAT_SUCCESS) {
          if (evd == stop) stopped = true;
          serve(event);
        }
      }
    }
  });
  DAT_CONN_QUAL qualifier = 0;
  passive_.Listen(cr, &qualifier);
  const DAT_EVD_HANDLE a = active_.MakeEvd(DAT_EVD_DTO_FLAG, 32);
  const DAT_EVD_HANDLE connect_a = active_.MakeEvd(kConnections, 8);
  const DAT_EP_HANDLE ping = active_.MakeEp(a, connect_a);
  ASSERT_OK(Connect(ping, qualifier));
  EXPECT_EQ(WaitFor(connect_a).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
  for (uint64_t i = 0; i < kMessages; ++i) ASSERT_OK(PostSend(ping, {}, i));
  for (uint64_t i = 0; i < kMessages; ++i) ExpectDto(WaitFor(a), ping, i);
  server.join();
  EXPECT_EQ(received, kMessages);
  // Such programs end like this: the dispatchers leave the CNO, its trigger is taken, and it is
  // freed.
  for (const DAT_EVD_HANDLE evd : {passive_.async_evd, dto, connect, cr, stop}) {
    EXPECT_OK(dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
  }
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  while (dat_cno_wait(cno, 0, &evd) == DAT_SUCCESS) {
  }
  EXPECT_OK(dat_cno_free(cno));
}

// A program that closes its dispatchers with care, one call after the other.
// covers: semantics 5.2
TEST_P(ProgramsEventsTest, DisableUnwaitableDrainAndFree) {
  const DAT_EVD_HANDLE evd = active_.MakeEvd(DAT_EVD_SOFTWARE_FLAG, 4);
  DAT_EVENT event{};
  event.event_number = DAT_SOFTWARE_EVENT;
  ASSERT_OK(dat_evd_post_se(evd, &event));
  EXPECT_OK(dat_evd_disable(evd));
  EXPECT_OK(dat_evd_set_unwaitable(evd));
  EXPECT_EQ(Side::Drain(evd).size(), 1u);
  EXPECT_OK(dat_evd_free(evd));
}

// A program resizes its queue for each new peer, while work is under way.
// covers: semantics 5.2
TEST_P(ProgramsEventsTest, AQueueThatGrowsWithThePeers) {
  const DAT_EVD_HANDLE a = active_.MakeEvd(DAT_EVD_DTO_FLAG, 8);
  const DAT_EVD_HANDLE connect_a = active_.MakeEvd(kConnections, 8);
  const DAT_EVD_HANDLE b = passive_.MakeEvd(DAT_EVD_DTO_FLAG, 256);
  const DAT_EVD_HANDLE connect_b = passive_.MakeEvd(kConnections, 8);
  for (DAT_COUNT peers = 1; peers <= 5; ++peers) {
    ASSERT_OK(dat_evd_resize(a, 8 * peers));
    const DAT_EP_HANDLE ping = active_.MakeEp(a, connect_a), pong = passive_.MakeEp(b, connect_b);
    JoinParties({active_, ping, connect_a, passive_, pong, connect_b, connect_b}, address());
    PingPong(ping, a, pong, b, active_, passive_, 2, WaitFor);
  }
}

}  // namespace
}  // namespace softdat::conformance
