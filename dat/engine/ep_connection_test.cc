// SPDX-License-Identifier: BSD-3-Clause
// Connections of endpoints: what reaches the back end, what events carry, and calls that cross
// upcalls.
#include <thread>

#include "dat/engine/testing/engine_test.h"

namespace softdat::engine::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using transport::EndReason;
using transport::RejectReason;

std::string TextOf(const DAT_EVENT& event) {
  const auto& data = event.event_data.connect_event_data;
  return std::string(static_cast<const char*>(data.private_data),
                     static_cast<size_t>(data.private_data_size));
}

std::span<const uint8_t> Bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

class EpConnectionTest : public EngineTest {};

// covers: semantics 9.2
TEST_F(EpConnectionTest, ConnectPassesWhatTheConsumerAskedFor) {
  const DAT_EP_HANDLE ep = MakeEp();
  ASSERT_EQ(Connect(ep, "hello"), DAT_SUCCESS);
  const FakeQueuePair& qp = adapter().last_qp();
  EXPECT_EQ(qp.connect.conn_qual, kQual);
  EXPECT_EQ(qp.connect.timeout, std::chrono::seconds(1));
  EXPECT_EQ(std::string(qp.connect_data.begin(), qp.connect_data.end()), "hello");
  EXPECT_EQ(qp.connect.remote.ss_family, AF_INET);
  EXPECT_EQ(qp.attributes.context, ep);
}

// covers: semantics 9.2
TEST_F(EpConnectionTest, InfiniteTimeoutHasNoLimit) {
  const DAT_EP_HANDLE ep = MakeEp();
  ASSERT_EQ(slots::EpConnect(ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&peer_), kQual,
                             DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT,
                             DAT_CONNECT_DEFAULT_FLAG),
            DAT_SUCCESS);
  EXPECT_EQ(adapter().last_qp().connect.timeout, std::chrono::microseconds::max());
}

// covers: semantics 5.7, 9.2, 9.3
TEST_F(EpConnectionTest, EstablishedCarriesTheAcceptorsDataToTheActiveSideOnly) {
  const DAT_EP_HANDLE ep = MakeEp();
  ASSERT_EQ(Connect(ep), DAT_SUCCESS);
  const std::string answer(256, 'x');
  adapter().last_qp().sink().OnEstablished(Bytes(answer));
  std::vector<DAT_EVENT> events = Take(connect_evd_);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(TextOf(events[0]), answer);

  MakeEpIn(DAT_EP_STATE_COMPLETION_PENDING);
  adapter().last_qp().sink().OnEstablished(Bytes(answer));
  events = Take(connect_evd_);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(TextOf(events[0]), "");
}

// covers: semantics 5.7, 9.2
TEST_F(EpConnectionTest, PeerRejectionCarriesPrivateData) {
  const DAT_EP_HANDLE ep = MakeEp();
  ASSERT_EQ(Connect(ep), DAT_SUCCESS);
  adapter().last_qp().sink().OnFailed(RejectReason::kPeer, Bytes("go away"), "test");
  const std::vector<DAT_EVENT> events = Take(connect_evd_);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(TextOf(events[0]), "go away");
}

// covers: semantics 9.2
TEST_F(EpConnectionTest, RefusedConnectLeavesTheEpUnconnected) {
  const DAT_EP_HANDLE ep = MakeEp();
  adapter().last_qp().next_status = Status(Code::kAddressUnsupported, "test");
  EXPECT_EQ(Connect(ep), Ret(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED));
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_UNCONNECTED);
  EXPECT_THAT(Take(connect_evd_), IsEmpty());
  EXPECT_EQ(Connect(ep), DAT_SUCCESS);
}

// covers: semantics 9.2
TEST_F(EpConnectionTest, OutcomeMayComeBeforeConnectReturns) {
  const DAT_EP_HANDLE ep = MakeEp();
  FakeQueuePair& qp = adapter().last_qp();
  qp.during = [&](const std::string&) { qp.sink().OnEstablished({}); };
  ASSERT_EQ(Connect(ep), DAT_SUCCESS);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_CONNECTED);
  EXPECT_THAT(Numbers(connect_evd_), ElementsAre(DAT_CONNECTION_EVENT_ESTABLISHED));
  EXPECT_THAT(qp.calls, ElementsAre("connect"));
}

// The disconnect finds a queue pair that does not know of the connection yet.
TEST_F(EpConnectionTest, DisconnectInsideConnectIsRepeated) {
  const DAT_EP_HANDLE ep = MakeEp();
  FakeQueuePair& qp = adapter().last_qp();
  qp.during = [&](const std::string& call) {
    if (call == "connect") {
      EXPECT_EQ(slots::EpDisconnect(ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    }
  };
  ASSERT_EQ(Connect(ep), DAT_SUCCESS);
  EXPECT_THAT(qp.calls, ElementsAre("connect", "disconnect abrupt", "disconnect abrupt"));
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_DISCONNECT_PENDING);
  qp.sink().OnEstablished({});  // too late to count
  qp.sink().OnEnded(EndReason::kDisconnected, "test");
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_DISCONNECTED);
  EXPECT_THAT(Numbers(connect_evd_), ElementsAre(DAT_CONNECTION_EVENT_DISCONNECTED));
}

TEST_F(EpConnectionTest, DisconnectInsideAConnectThatFails) {
  const DAT_EP_HANDLE ep = MakeEp();
  FakeQueuePair& qp = adapter().last_qp();
  qp.next_status = Status(Code::kNoResources, "test");
  qp.during = [&](const std::string& call) {
    if (call == "connect") {
      EXPECT_EQ(slots::EpDisconnect(ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    }
  };
  EXPECT_EQ(Connect(ep), Ret(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP));
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_UNCONNECTED);
  EXPECT_THAT(Take(connect_evd_), IsEmpty());
}

// A slow thread in Connect must not turn a later graceful disconnect into an abrupt one.
TEST_F(EpConnectionTest, GracefulDisconnectOfAConnectionThatConnectHasNotReturnedFrom) {
  const DAT_EP_HANDLE ep = MakeEp();
  FakeQueuePair& qp = adapter().last_qp();
  qp.during = [&](const std::string& call) {
    if (call != "connect") return;
    qp.sink().OnEstablished({});
    EXPECT_EQ(slots::EpDisconnect(ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
  };
  ASSERT_EQ(Connect(ep), DAT_SUCCESS);
  EXPECT_THAT(qp.calls, ElementsAre("connect", "disconnect graceful"));
}

// A whole life of a connection may pass before Connect returns. Connect must then leave the next
// connection alone.
TEST_F(EpConnectionTest, SecondConnectionInsideTheFirstConnect) {
  const DAT_EP_HANDLE ep = MakeEp();
  FakeQueuePair& qp = adapter().last_qp();
  bool first = true;
  qp.during = [&](const std::string& call) {
    if (call != "connect" || !first) return;
    first = false;
    qp.sink().OnFailed(RejectReason::kNonPeer, {}, "test");
    EXPECT_EQ(slots::EpReset(ep), DAT_SUCCESS);
    EXPECT_EQ(Connect(ep), DAT_SUCCESS);
    EXPECT_EQ(slots::EpDisconnect(ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
  };
  ASSERT_EQ(Connect(ep), DAT_SUCCESS);
  EXPECT_THAT(qp.calls, ElementsAre("connect", "reset", "connect", "disconnect abrupt"));
}

// covers: semantics 8.3
TEST_F(EpConnectionTest, BothSidesDisconnectAndThereIsOneEvent) {
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_CONNECTED);
  FakeQueuePair& qp = adapter().last_qp();
  EXPECT_EQ(slots::EpDisconnect(ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
  EXPECT_EQ(slots::EpDisconnect(ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
  EXPECT_EQ(slots::EpDisconnect(ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
  qp.sink().OnEnded(EndReason::kDisconnected, "the peer");
  qp.sink().OnEnded(EndReason::kBroken, "again");
  EXPECT_EQ(slots::EpDisconnect(ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
  EXPECT_THAT(Numbers(connect_evd_), ElementsAre(DAT_CONNECTION_EVENT_DISCONNECTED));
  EXPECT_THAT(qp.calls, ElementsAre("connect", "disconnect graceful", "disconnect abrupt"));
}

// covers: semantics 8.3, 8.4
TEST_F(EpConnectionTest, ResetAndReuse) {
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_DISCONNECTED);
  ASSERT_EQ(slots::EpReset(ep), DAT_SUCCESS);
  ASSERT_EQ(Connect(ep), DAT_SUCCESS);
  adapter().last_qp().sink().OnEstablished({});
  adapter().last_qp().sink().OnEnded(EndReason::kBroken, "test");
  EXPECT_THAT(Numbers(connect_evd_),
              ElementsAre(DAT_CONNECTION_EVENT_ESTABLISHED, DAT_CONNECTION_EVENT_BROKEN));
}

TEST_F(EpConnectionTest, FailedResetLeavesTheState) {
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_DISCONNECTED);
  adapter().last_qp().next_status = Status(Code::kNoResources, "test");
  EXPECT_EQ(slots::EpReset(ep), Ret(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP));
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_DISCONNECTED);
}

// covers: semantics 8.3, 19
TEST_F(EpConnectionTest, ResetOfAnUnconnectedEpKeepsReceives) {
  const DAT_EP_HANDLE ep = MakeEp();
  EXPECT_EQ(slots::EpReset(ep), DAT_SUCCESS);
  EXPECT_THAT(adapter().last_qp().calls, IsEmpty());
}

// Completions that were made before the end must come out before the event of the end, if one EVD
// has both.
// covers: semantics 5.5
TEST_F(EpConnectionTest, CompletionsPrecedeTheEnd) {
  const DAT_EVD_HANDLE all = MakeEvd(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
  recv_evd_ = request_evd_ = connect_evd_ = all;
  const DAT_EP_HANDLE ep = MakeEp();
  ASSERT_EQ(Connect(ep), DAT_SUCCESS);
  FakeQueuePair& qp = adapter().last_qp();
  auto* cq = static_cast<FakeCompletionQueue*>(qp.attributes.recv_cq);
  transport::Completion completion;
  completion.context = ep;
  completion.op = transport::Op::kReceive;
  qp.sink().OnEstablished({});
  cq->Add(completion);
  cq->Add(completion);
  qp.sink().OnEnded(EndReason::kDisconnected, "test");
  EXPECT_THAT(Numbers(all),
              ElementsAre(DAT_CONNECTION_EVENT_ESTABLISHED, DAT_DTO_COMPLETION_EVENT,
                          DAT_DTO_COMPLETION_EVENT, DAT_CONNECTION_EVENT_DISCONNECTED));
}

// covers: semantics 9.2
TEST_F(EpConnectionTest, DupConnectGoesWhereTheOtherLeads) {
  const DAT_EP_HANDLE like = MakeEpIn(DAT_EP_STATE_CONNECTED);
  const DAT_EP_HANDLE ep = MakeEp();
  char data[] = "again";
  ASSERT_EQ(slots::EpDupConnect(ep, like, 5, sizeof(data), data, DAT_QOS_BEST_EFFORT), DAT_SUCCESS);
  EXPECT_EQ(adapter().last_qp().connect.conn_qual, kQual);
  EXPECT_EQ(adapter().last_qp().connect.timeout, std::chrono::microseconds(5));
  EXPECT_EQ(adapter().last_qp().connect_data.size(), sizeof(data));
}

// covers: semantics 9.2
TEST_F(EpConnectionTest, DupConnectNeedsAConnectedActiveEp) {
  const DAT_EP_HANDLE ep = MakeEp();
  const DAT_EP_HANDLE unconnected = MakeEp();
  EXPECT_EQ(slots::EpDupConnect(ep, unconnected, 5, 0, nullptr, DAT_QOS_BEST_EFFORT),
            WrongState(DAT_EP_STATE_UNCONNECTED));
  const DAT_EP_HANDLE passive = MakeEpIn(DAT_EP_STATE_COMPLETION_PENDING);
  adapter().last_qp().sink().OnEstablished({});
  EXPECT_EQ(slots::EpDupConnect(ep, passive, 5, 0, nullptr, DAT_QOS_BEST_EFFORT),
            Ret(DAT_INVALID_STATE));
}

// covers: semantics 16.2
TEST_F(EpConnectionTest, CommonConnectTakesThePortAsQualifier) {
  const DAT_EP_HANDLE ep = MakeEp();
  peer_.sin_port = htons(7777);
  ASSERT_EQ(slots::EpCommonConnect(ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&peer_), 5, 0, nullptr),
            DAT_SUCCESS);
  EXPECT_EQ(adapter().last_qp().connect.conn_qual, 7777u);
}

// covers: semantics 8.1, 9.2
TEST_F(EpConnectionTest, MissingPartsAreNotReady) {
  DAT_EP_HANDLE ep;
  ASSERT_EQ(slots::EpCreate(ia_, pz_, recv_evd_, request_evd_, nullptr, nullptr, &ep), DAT_SUCCESS);
  EXPECT_EQ(Connect(ep), Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CONN));
  ASSERT_EQ(slots::EpCreate(ia_, nullptr, recv_evd_, request_evd_, connect_evd_, nullptr, &ep),
            DAT_SUCCESS);
  EXPECT_EQ(Connect(ep), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY));
  ASSERT_EQ(slots::EpCreate(ia_, pz_, nullptr, request_evd_, connect_evd_, nullptr, &ep),
            DAT_SUCCESS);
  EXPECT_EQ(Connect(ep), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY));
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_UNCONNECTED);
}

// covers: semantics 9.2, 17
TEST_F(EpConnectionTest, ArgumentsOfConnect) {
  const DAT_EP_HANDLE ep = MakeEp();
  const auto address = reinterpret_cast<DAT_IA_ADDRESS_PTR>(&peer_);
  char data[300] = {};
  const auto call = [&](DAT_EP_HANDLE e, DAT_IA_ADDRESS_PTR a, DAT_TIMEOUT t, DAT_COUNT n, void* d,
                        int qos, int flags) {
    return slots::EpConnect(e, a, kQual, t, n, d, static_cast<DAT_QOS>(qos),
                            static_cast<DAT_CONNECT_FLAGS>(flags));
  };
  EXPECT_EQ(call(nullptr, address, 1, 0, nullptr, 0, 0),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_EQ(call(pz_, address, 1, 0, nullptr, 0, 0),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_EQ(call(ep, nullptr, 1, 0, nullptr, 0, 0), Arg(2));
  EXPECT_EQ(call(ep, address, 0, 0, nullptr, 0, 0), Arg(4));
  EXPECT_EQ(call(ep, address, 1, 257, data, 0, 0), Arg(5));
  EXPECT_EQ(call(ep, address, 1, -1, data, 0, 0), Arg(5));
  EXPECT_EQ(call(ep, address, 1, 1, nullptr, 0, 0), Arg(6));
  EXPECT_EQ(call(ep, address, 1, 0, nullptr, DAT_QOS_PREMIUM, 0), Ret(DAT_MODEL_NOT_SUPPORTED));
  EXPECT_EQ(call(ep, address, 1, 0, nullptr, 0, DAT_CONNECT_MULTIPATH_FLAG),
            Ret(DAT_MODEL_NOT_SUPPORTED));
  peer_.sin_family = AF_UNIX;
  EXPECT_EQ(call(ep, address, 1, 0, nullptr, 0, 0),
            Ret(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED));
  peer_.sin_family = AF_UNSPEC;
  EXPECT_EQ(call(ep, address, 1, 0, nullptr, 0, 0),
            Ret(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_MALFORMED));
  EXPECT_THAT(adapter().last_qp().calls, IsEmpty());
  EXPECT_EQ(slots::EpDisconnect(ep, static_cast<DAT_CLOSE_FLAGS>(2)), Arg(2));
  EXPECT_EQ(slots::EpDupConnect(ep, nullptr, 1, 0, nullptr, DAT_QOS_BEST_EFFORT),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE2));
  EXPECT_EQ(slots::EpDupConnect(ep, ep, 0, 0, nullptr, DAT_QOS_BEST_EFFORT), Arg(3));
  EXPECT_EQ(slots::EpDupConnect(ep, ep, 1, 257, data, DAT_QOS_BEST_EFFORT), Arg(4));
  EXPECT_EQ(slots::EpDupConnect(ep, ep, 1, 1, nullptr, DAT_QOS_BEST_EFFORT), Arg(5));
}

// Upcalls on one thread, and disconnect, reset and reconnect on others. Every attempt that was
// accepted must have exactly one final event.
// covers: semantics 8.3
TEST_F(EpConnectionTest, StormKeepsOneFinalEventPerAttempt) {
  connect_evd_ = MakeEvd(DAT_EVD_CONNECTION_FLAG, 4096);
  const DAT_EP_HANDLE ep = MakeEp();
  FakeQueuePair& qp = adapter().last_qp();
  // A small model of a well-behaved back end: one connection at a time, upcalls from one thread.
  struct Model {
    std::mutex mu;
    bool connecting = false;
    bool disconnect = false;
  } model;
  std::atomic<bool> stop{false};
  std::atomic<int> accepted{0};
  qp.during = [&](const std::string& call) {
    std::lock_guard<std::mutex> lock(model.mu);
    if (call == "connect") {
      model.connecting = true;
      model.disconnect = false;
      ++accepted;
    } else if (call != "reset" && model.connecting) {
      model.disconnect = true;
    }
  };
  std::thread wire([&] {
    int n = 0;
    for (;;) {
      bool connecting = false;
      bool disconnect = false;
      {
        std::lock_guard<std::mutex> lock(model.mu);
        connecting = std::exchange(model.connecting, false);
        disconnect = std::exchange(model.disconnect, false);
      }
      if (!connecting) {
        if (stop) return;
        std::this_thread::yield();
        continue;
      }
      if (disconnect) {
        qp.sink().OnEnded(EndReason::kDisconnected, "aborted");
      } else if (++n % 3 == 0) {
        qp.sink().OnFailed(RejectReason::kNonPeer, {}, "test");
      } else {
        qp.sink().OnEstablished({});
        qp.sink().OnEnded(n % 2 == 0 ? EndReason::kBroken : EndReason::kDisconnected, "test");
      }
    }
  });
  std::mutex calls_mu;  // the fake records calls in a plain vector
  int wanted = 200;
  std::thread disconnector([&] {
    while (!stop) {
      {
        std::lock_guard<std::mutex> lock(calls_mu);
        slots::EpDisconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
      }
      std::this_thread::yield();
    }
  });
  while (accepted < wanted) {
    {
      std::lock_guard<std::mutex> lock(calls_mu);
      slots::EpReset(ep);
      Connect(ep);
    }
    std::this_thread::yield();
  }
  stop = true;
  disconnector.join();
  wire.join();
  int finals = 0;
  int established = 0;
  for (const DAT_EVENT_NUMBER number : Numbers(connect_evd_)) {
    if (number == DAT_CONNECTION_EVENT_ESTABLISHED) {
      ++established;
    } else {
      ++finals;
    }
    EXPECT_LE(established, finals + 1);
  }
  EXPECT_EQ(finals, accepted);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_DISCONNECTED);
}

}  // namespace
}  // namespace softdat::engine::testing
