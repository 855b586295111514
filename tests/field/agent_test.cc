// SPDX-License-Identifier: BSD-3-Clause
// Proxy agents that call back into DAT, even on the objects that the call below them uses
// (semantics 6, 14: calls from an agent must not deadlock).
#include "tests/field/agent.h"

#include <atomic>
#include <functional>
#include <thread>
#include <tuple>
#include <utility>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

// covers: semantics 6, 14
TEST(AgentTest, ReapsReportsAndAsksAgain) {
  Ia ia;
  Agent agent(ia);
  const DAT_EVD_HANDLE evd = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG, 16, agent.cno());
  const DAT_EVD_HANDLE report = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG, 64);
  agent.Set([&](DAT_EVD_HANDLE hint) {
    EXPECT_EQ(hint, evd);
    agent.Again();
    DAT_EVENT event{};
    while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS) {
      EXPECT_DAT_OK(PostNumber(report, NumberOf(event) + 1000));
    }
  });
  for (uint64_t i = 0; i < 40; ++i) EXPECT_DAT_OK(PostNumber(evd, i));
  EXPECT_EQ(agent.calls(), 40);
  for (uint64_t i = 0; i < 40; ++i) {
    DAT_EVENT event{};
    ASSERT_TRUE(Await(report, &event));
    EXPECT_EQ(NumberOf(event), i + 1000);
  }
  agent.Remove();
  EXPECT_DAT_OK(dat_evd_free(report));
  EXPECT_DAT_OK(dat_evd_free(evd));
}

// The agent behaves like a signal handler: it first installs itself again, and then leaves the work
// to somebody else. It must be called neither from within itself nor again and again for events
// that are already queued.
TEST(AgentTest, PutsItselfBackFirstAndReapsNothing) {
  constexpr int kMessages = 15;  // a default EP has room for 16
  Ia ia;
  Agent agent(ia);
  Memory memory(ia, 4096);
  End a(ia);
  End b(ia);
  ASSERT_TRUE(Join(a, b));
  std::atomic<int> depth{0};
  agent.Set([&](DAT_EVD_HANDLE) {
    EXPECT_EQ(++depth, 1);
    agent.Again();
    --depth;
  });
  EXPECT_DAT_OK(dat_evd_modify_cno(b.recv_evd, agent.cno()));
  for (uint64_t i = 0; i < kMessages; ++i) {
    ASSERT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), i));
  }
  for (uint64_t i = 0; i < kMessages; ++i) {
    const int before = agent.calls();
    ASSERT_DAT_OK(PostSend(a.ep, memory.Local(8, 8), i));
    ASSERT_TRUE(ExpectDto(a.request_evd, i, 8));
    ASSERT_TRUE(Called(agent, before + 1, a.request_evd))
        << "message " << i << " was not announced";
  }
  EXPECT_LE(agent.calls(), 2 * kMessages);  // one needless call each is allowed, no more
  for (uint64_t i = 0; i < kMessages; ++i) ASSERT_TRUE(ExpectDto(b.recv_evd, i, 8));
  agent.Remove();
}

// A wait on the EVD itself, between calls of the agent, uses a notification up. The agent gets the
// next one.
TEST(AgentTest, IsCalledAgainAfterAWaitOnItsEvd) {
  Ia ia;
  Agent agent(ia);
  Memory memory(ia, 4096);
  End a(ia);
  End b(ia);
  ASSERT_TRUE(Join(a, b));
  EXPECT_DAT_OK(dat_evd_modify_cno(b.recv_evd, agent.cno()));
  agent.Set([](DAT_EVD_HANDLE) {});
  for (uint64_t i = 0; i < 3; ++i) ASSERT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), i));
  std::jthread sender([&] { EXPECT_DAT_OK(PostSend(a.ep, memory.Local(8, 8), 0)); });
  EXPECT_TRUE(ExpectDto(b.recv_evd, 0, 8));
  sender.join();
  agent.Set([](DAT_EVD_HANDLE) {});
  DAT_EVENT event{};
  EXPECT_DAT_TYPE(client::WaitEvent(b.recv_evd, 1000, &event), DAT_TIMEOUT_EXPIRED);
  const int before = agent.calls();
  EXPECT_DAT_OK(PostSend(a.ep, memory.Local(8, 8), 1));
  EXPECT_TRUE(Called(agent, before + 1, a.request_evd));
  agent.Remove();
}

// An echo server that consists only of its agent, which reaps, posts a new receive and answers.
// covers: semantics 14
TEST(AgentTest, AnswersMessages) {
  constexpr uint64_t kMessages = 200;
  Ia ia;
  Agent agent(ia);
  {
    Memory memory(ia, 4096);
    End client(ia);
    End server(ia);
    ASSERT_TRUE(Join(client, server));
    ASSERT_DAT_OK(PostReceive(server.ep, memory.Local(0, 8), 0));
    const auto serve = [&](DAT_EVD_HANDLE) {
      agent.Again();
      DAT_EVENT event{};
      while (dat_evd_dequeue(server.recv_evd, &event) == DAT_SUCCESS) {
        const uint64_t n = event.event_data.dto_completion_event_data.user_cookie.as_64;
        if (event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS) return;
        EXPECT_DAT_OK(PostReceive(server.ep, memory.Local(0, 8), n + 1));
        EXPECT_DAT_OK(PostSend(server.ep, memory.Local(0, 8), n, DAT_COMPLETION_SUPPRESS_FLAG));
      }
    };
    agent.Set(serve);
    EXPECT_DAT_OK(dat_evd_modify_cno(server.recv_evd, agent.cno()));
    for (uint64_t i = 0; i < kMessages; ++i) {
      ASSERT_DAT_OK(PostReceive(client.ep, memory.Local(64, 8), i));
      memory.data()[128] = static_cast<uint8_t>(i);
      ASSERT_DAT_OK(PostSend(client.ep, memory.Local(128, 8), i));
      ASSERT_TRUE(ExpectDto(client.request_evd, i, 8));
      ASSERT_TRUE(ExpectDto(client.recv_evd, i, 8));
      ASSERT_EQ(memory.data()[64], static_cast<uint8_t>(i));
    }
    agent.Remove();
  }
}

// The agent is called from inside a post, and frees the endpoint that the post is on.
TEST(AgentTest, FreesTheEndpointOfThePostBelow) {
  Ia ia;
  Agent agent(ia);
  {
    Memory memory(ia, 4096);
    End a(ia);
    End b(ia);
    ASSERT_TRUE(Join(a, b));
    ASSERT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), 1));
    const DAT_EP_HANDLE doomed = a.ep;
    DAT_RETURN freed = DAT_CLASS_ERROR;
    agent.Set([&](DAT_EVD_HANDLE) { freed = dat_ep_free(doomed); });
    EXPECT_DAT_OK(dat_evd_modify_cno(a.request_evd, agent.cno()));
    a.ep.Release();
    const DAT_RETURN posted = PostSend(doomed, memory.Local(64, 8), 1);
    EXPECT_TRUE(posted == DAT_SUCCESS || DAT_GET_TYPE(posted) == DAT_INVALID_HANDLE)
        << Text(posted);
    ASSERT_TRUE(Called(agent, 1, DAT_HANDLE_NULL));
    EXPECT_DAT_OK(freed);
    EXPECT_TRUE(Expect(b.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
    EXPECT_DAT_TYPE(dat_ep_free(doomed), DAT_INVALID_HANDLE);
    EXPECT_DAT_TYPE(dat_ep_get_status(doomed, nullptr, nullptr, nullptr), DAT_INVALID_HANDLE);
    // Nothing of the endpoint is left, so its EVDs can be freed.
    EXPECT_TRUE(Eventually([&] { return dat_evd_free(a.request_evd) == DAT_SUCCESS; }));
    a.request_evd.Release();
  }
}

// The end of a connection is reported from inside the endpoint's own upcall, and the agent frees
// everything.
TEST(AgentTest, FreesTheEndpointOfTheEvent) {
  Ia ia;
  Agent agent(ia);
  End other(ia);
  auto* const dying = new End(ia);
  ASSERT_TRUE(Join(other, *dying));
  agent.Set([&](DAT_EVD_HANDLE evd) {
    DAT_EVENT event{};
    EXPECT_EQ(evd, dying->connect_evd);
    EXPECT_DAT_OK(dat_evd_dequeue(evd, &event));
    EXPECT_EQ(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
    delete dying;  // the endpoint and then its EVDs, which need it to be gone
  });
  EXPECT_DAT_OK(dat_evd_modify_cno(dying->connect_evd, agent.cno()));
  EXPECT_DAT_OK(dat_ep_disconnect(other.ep, DAT_CLOSE_ABRUPT_FLAG));
  ASSERT_TRUE(Expect(other.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
  ASSERT_TRUE(Called(agent, 1, other.connect_evd));
}

TEST(AgentTest, FreesTheEvdOfTheSoftwareEvent) {
  Ia ia;
  Agent agent(ia);
  const DAT_EVD_HANDLE evd = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG, 16, agent.cno());
  DAT_RETURN freed = DAT_CLASS_ERROR;
  agent.Set([&](DAT_EVD_HANDLE hint) { freed = dat_evd_free(hint); });
  EXPECT_DAT_OK(PostNumber(evd, 1));
  EXPECT_EQ(agent.calls(), 1);
  EXPECT_DAT_OK(freed);
  EXPECT_DAT_TYPE(PostNumber(evd, 2), DAT_INVALID_HANDLE);
  EXPECT_DAT_OK(dat_cno_free(agent.Release()));  // nothing names it any more
}

// The agent frees the service point and answers the request from inside the upcall that brought the
// request.
TEST(AgentTest, AcceptsAndStopsListening) {
  Ia ia;
  Agent agent(ia);
  {
    End active(ia);
    End passive(ia);
    client::ServicePoint psp;
    ASSERT_DAT_OK(psp.ListenAny(ia, passive.cr_evd));
    const DAT_CONN_QUAL qualifier = psp.qualifier();
    agent.Set([&](DAT_EVD_HANDLE evd) {
      DAT_EVENT event{};
      EXPECT_DAT_OK(dat_evd_dequeue(evd, &event));
      EXPECT_DAT_OK(psp.Free());
      EXPECT_DAT_OK(
          dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, passive.ep, 0, nullptr));
    });
    EXPECT_DAT_OK(dat_evd_modify_cno(passive.cr_evd, agent.cno()));
    ASSERT_DAT_OK(StartConnect(active.ep, ia.address(), qualifier));
    EXPECT_TRUE(Expect(active.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
    EXPECT_TRUE(Expect(passive.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
    EXPECT_EQ(agent.calls(), 1);
  }
}

// Two threads are each inside a post whose agent frees the endpoint that the other thread is
// posting on.
TEST(AgentTest, TwoAgentsFreeEachOthersEndpoints) {
  for (int round = 0; round < 50; ++round) {
    Ia ia;
    Agent agents[2] = {Agent(ia), Agent(ia)};
    Memory memory(ia, 4096);
    End a0(ia), a1(ia), b0(ia), b1(ia);
    ASSERT_TRUE(Join(a0, b0));
    ASSERT_TRUE(Join(a1, b1));
    ASSERT_DAT_OK(PostReceive(b0.ep, memory.Local(0, 8), 1));
    ASSERT_DAT_OK(PostReceive(b1.ep, memory.Local(8, 8), 1));
    const DAT_EP_HANDLE eps[2] = {a0.ep, a1.ep};
    std::atomic<int> inside{0};
    for (int i : {0, 1}) {
      agents[i].Set([&, i](DAT_EVD_HANDLE) {
        ++inside;
        // Waits a little until both threads are inside. The other one may not get there, if only
        // this thread could serve it.
        for (int spins = 0; spins < 20000 && inside.load() < 2; ++spins) std::this_thread::yield();
        const DAT_RETURN ret = dat_ep_free(eps[1 - i]);
        EXPECT_EQ(ret, DAT_SUCCESS) << Text(ret);
      });
    }
    EXPECT_DAT_OK(dat_evd_modify_cno(a0.request_evd, agents[0].cno()));
    EXPECT_DAT_OK(dat_evd_modify_cno(a1.request_evd, agents[1].cno()));
    a0.ep.Release();
    a1.ep.Release();
    std::jthread first([&] { std::ignore = PostSend(eps[0], memory.Local(64, 8), 1); });
    std::jthread second([&] { std::ignore = PostSend(eps[1], memory.Local(64, 8), 1); });
    first.join();
    second.join();
    // An endpoint that was freed before its own post completed never calls its agent.
    ASSERT_TRUE(Eventually([&] {
      DAT_EVENT ignored{};
      dat_evd_dequeue(b0.connect_evd, &ignored);
      return agents[0].calls() + agents[1].calls() >= 1 &&
             (dat_ep_get_status(eps[0], nullptr, nullptr, nullptr) != DAT_SUCCESS ||
              dat_ep_get_status(eps[1], nullptr, nullptr, nullptr) != DAT_SUCCESS);
    }));
    EXPECT_DAT_OK(ia.Close(DAT_CLOSE_ABRUPT_FLAG));
  }
}

// When the last EVD of a CNO goes, the agent is released with a NULL EVD. The agent makes calls
// itself.
// covers: semantics 6
TEST(AgentTest, ReleasedWhenTheLastEvdGoes) {
  Ia ia;
  Agent agent(ia);
  const DAT_EVD_HANDLE evd = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG, 16, agent.cno());
  agent.Set([&](DAT_EVD_HANDLE hint) {
    EXPECT_EQ(hint, DAT_HANDLE_NULL);
    EXPECT_DAT_TYPE(dat_evd_free(evd), DAT_INVALID_HANDLE);
    const DAT_EVD_HANDLE other = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG);
    EXPECT_DAT_OK(dat_evd_free(other));
  });
  EXPECT_DAT_OK(dat_evd_free(evd));
  EXPECT_EQ(agent.calls(), 1);
}

}  // namespace
}  // namespace softdat::field
