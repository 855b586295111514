// SPDX-License-Identifier: BSD-3-Clause
// Many connects and disconnects, from several threads at once. Every attempt has its outcome, every
// connection has its one final event, and thousands of them leave nothing behind.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kCycles = 200;
constexpr int kStorm = 40;
#else
constexpr int kCycles = 2'000;
constexpr int kStorm = 200;
#endif

// Accepts requests and forgets them until it is told to stop. The accepted endpoints disconnect
// when the peer does.
class Acceptor {
 public:
  explicit Acceptor(const Ia& ia) : ia_(ia), listener_(ia) {
    EXPECT_DAT_OK(psp_.ListenAny(ia, listener_.cr_evd));
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }
  ~Acceptor() {
    thread_.request_stop();
    EXPECT_DAT_OK(dat_evd_set_unwaitable(listener_.cr_evd));
    thread_.join();
    EXPECT_DAT_OK(psp_.Free());
  }
  DAT_CONN_QUAL qualifier() const { return psp_.qualifier(); }
  int accepted() const { return accepted_; }

 private:
  void Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      DAT_EVENT event{};
      if (client::WaitEvent(listener_.cr_evd, DAT_TIMEOUT_INFINITE, &event) != DAT_SUCCESS) break;
      auto end = std::make_unique<End>(ia_);
      // The requester may be gone already.
      dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, end->ep, 0, nullptr);
      ends_.push_back(std::move(end));
      ++accepted_;
      if (ends_.size() > 16) ends_.erase(ends_.begin());  // connected ones too: their peers see it
    }
  }

  const Ia& ia_;
  End listener_;
  client::ServicePoint psp_;
  std::vector<std::unique_ptr<End>> ends_;
  std::atomic<int> accepted_{0};
  std::jthread thread_;
};

// One endpoint is connected, disconnected by either side, and reset, over and over.
TEST(ConnectStormTest, ThousandsOfCyclesOfTwoEndpoints) {
  Ia ia;
  End a(ia);
  End b(ia);
  client::ServicePoint psp;
  ASSERT_DAT_OK(psp.ListenAny(ia, b.cr_evd));
  const DAT_CONN_QUAL qualifier = psp.qualifier();
  std::set<int> fds;
  for (int i = 0; i < kCycles; ++i) {
    ASSERT_DAT_OK(StartConnect(a.ep, ia.address(), qualifier));
    ASSERT_TRUE(AcceptNext(b.cr_evd, b.ep));
    ASSERT_TRUE(Expect(a.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
    ASSERT_TRUE(Expect(b.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
    const DAT_CLOSE_FLAGS how = i % 2 == 0 ? DAT_CLOSE_ABRUPT_FLAG : DAT_CLOSE_GRACEFUL_FLAG;
    switch (i % 3) {
      case 0:
        ASSERT_DAT_OK(dat_ep_disconnect(a.ep, how));
        break;
      case 1:
        ASSERT_DAT_OK(dat_ep_disconnect(b.ep, how));
        break;
      default:
        ASSERT_DAT_OK(dat_ep_disconnect(a.ep, how));
        ASSERT_DAT_OK(dat_ep_disconnect(b.ep, how));
    }
    ASSERT_TRUE(Expect(a.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
    ASSERT_TRUE(Expect(b.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
    DAT_EVENT more{};
    ASSERT_EQ(DAT_GET_TYPE(dat_evd_dequeue(a.connect_evd, &more)), DAT_RETURN{DAT_QUEUE_EMPTY});
    ASSERT_EQ(DAT_GET_TYPE(dat_evd_dequeue(b.connect_evd, &more)), DAT_RETURN{DAT_QUEUE_EMPTY});
    ASSERT_DAT_OK(dat_ep_reset(a.ep));
    ASSERT_DAT_OK(dat_ep_reset(b.ep));
    if (i == kCycles / 10) fds = OpenDescriptors();
  }
  // Descriptors of closed connections may take a moment to close.
  EXPECT_TRUE(Eventually([&] { return OpenDescriptors().size() <= fds.size(); }))
      << OpenDescriptors().size() << " descriptors, " << fds.size() << " early on";
  EXPECT_DAT_OK(psp.Free());
}

// Several threads connect their own endpoints to one service point, and give up at every stage.
TEST(ConnectStormTest, GivenUpAtEveryStage) {
  Ia server_ia;
  Ia ia;
  {
    Acceptor acceptor(server_ia);
    std::atomic<int> established{0};
    std::vector<std::jthread> clients;
    for (int t = 0; t < 3; ++t) {
      clients.emplace_back([&, t] {
        for (int i = 0; i < kStorm; ++i) {
          End end(ia);
          EXPECT_DAT_OK(StartConnect(end.ep, ia.address(), acceptor.qualifier()));
          switch ((i + t) % 4) {
            case 0:
              break;  // freed in ACTIVE_CONNECTION_PENDING, or just established
            case 1:
              EXPECT_DAT_OK(dat_ep_disconnect(end.ep, DAT_CLOSE_ABRUPT_FLAG));
              break;
            default: {
              DAT_EVENT event{};
              if (!Await(end.connect_evd, &event)) return;
              EXPECT_EQ(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
              ++established;
              EXPECT_DAT_OK(dat_ep_disconnect(end.ep, DAT_CLOSE_GRACEFUL_FLAG));
              EXPECT_TRUE(Expect(end.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
            }
          }
        }
      });
    }
    clients.clear();
    EXPECT_EQ(established.load(), 3 * kStorm / 2);
  }
  // A connection works after the storm.
  End a(ia);
  End b(server_ia);
  EXPECT_TRUE(Join(a, b));
}

// There are more requests than the CR EVD has room for. The rest are refused, and none is lost or
// answered twice.
TEST(ConnectStormTest, MoreRequestsThanTheBacklog) {
  constexpr int kRequests = 24;
  Ia server_ia;
  Ia ia;
  const DAT_EVD_HANDLE cr_evd = server_ia.NewEvd(DAT_EVD_CR_FLAG, 4);
  DAT_EVD_PARAM param{};
  ASSERT_DAT_OK(dat_evd_query(cr_evd, DAT_EVD_FIELD_ALL, &param));
  client::ServicePoint psp;
  ASSERT_DAT_OK(psp.ListenAny(server_ia, cr_evd));
  const DAT_CONN_QUAL qualifier = psp.qualifier();
  std::vector<std::unique_ptr<End>> ends;
  for (int i = 0; i < kRequests; ++i) {
    ends.push_back(std::make_unique<End>(ia));
    ASSERT_DAT_OK(StartConnect(ends.back()->ep, ia.address(), qualifier));
  }
  // All requests but those in the backlog are refused, without anybody looking at the CR EVD.
  int refused = 0;
  for (auto& end : ends) {
    if (refused == kRequests - param.evd_qlen) break;
    DAT_EVENT event{};
    const DAT_RETURN ret = client::WaitEvent(end->connect_evd, 200'000, &event);
    if (ret == DAT_SUCCESS) {
      EXPECT_EQ(event.event_number, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
      ++refused;
    }
  }
  EXPECT_EQ(refused, kRequests - param.evd_qlen);
  int pending = 0;
  DAT_EVENT event{};
  while (dat_evd_dequeue(cr_evd, &event) == DAT_SUCCESS) {
    ++pending;
    EXPECT_DAT_OK(dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle, 0, nullptr));
  }
  EXPECT_EQ(pending, param.evd_qlen);
  EXPECT_DAT_TYPE(dat_evd_dequeue(server_ia.async_evd(), &event), DAT_QUEUE_EMPTY);
  EXPECT_DAT_OK(psp.Free());
  EXPECT_DAT_OK(dat_evd_free(cr_evd));
}

}  // namespace
}  // namespace softdat::field
