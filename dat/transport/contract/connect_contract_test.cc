// SPDX-License-Identifier: BSD-3-Clause
// Contract: Listen, Connect, requests, Accept, Reject, and what the connection sinks are told.
#include <netinet/in.h>

#include <cstring>
#include <set>

#include "dat/transport/contract/contract_test_suite.h"

namespace softdat::transport {
namespace {

std::vector<uint8_t> Bytes(size_t n, uint8_t seed) {
  std::vector<uint8_t> bytes(n);
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<uint8_t>(seed + i);
  return bytes;
}

// covers: semantics 9.5
TEST_F(ContractTest, PrivateDataArrivesWholeInBothDirections) {
  const size_t most = adapter_->attributes().max_private_data;
  ASSERT_GE(most, 48u);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{48}, most - 1, most}) {
    SCOPED_TRACE(size);
    const auto a = MakePair(pd_.get()), b = MakePair(pd_.get());
    const auto listener = MakeListener();
    const std::vector<uint8_t> question = Bytes(size, 1), answer = Bytes(size, 101);
    ASSERT_TRUE(Connect(*a, listener->listener->conn_qual(), question).ok());
    ASSERT_TRUE(Until([&] { return listener->has_request(); }));
    const auto request = listener->TakeRequest();
    const std::span<uint8_t> got = request->private_data();
    EXPECT_EQ(std::vector<uint8_t>(got.begin(), got.end()), question);
    EXPECT_EQ(request->conn_qual(), listener->listener->conn_qual());
    ASSERT_TRUE(request->Accept(*b->qp, answer).ok());
    ASSERT_TRUE(Until([&] { return a->established() && b->established(); }));
    EXPECT_EQ(a->received_data(), answer);
    EXPECT_EQ(b->received_data(), std::vector<uint8_t>());
  }
}

// covers: semantics 9.3
TEST_F(ContractTest, PrivateDataOfTheRequestIsWritableAndMayBeTheAnswer) {
  const auto a = MakePair(pd_.get()), b = MakePair(pd_.get());
  const auto listener = MakeListener();
  ASSERT_TRUE(Connect(*a, listener->listener->conn_qual(), Bytes(48, 1)).ok());
  ASSERT_TRUE(Until([&] { return listener->has_request(); }));
  const auto request = listener->TakeRequest();
  for (uint8_t& byte : request->private_data()) ++byte;
  ASSERT_TRUE(request->Accept(*b->qp, request->private_data()).ok());
  ASSERT_TRUE(Until([&] { return a->established(); }));
  EXPECT_EQ(a->received_data(), Bytes(48, 2));
}

// covers: semantics 9.5
TEST_F(ContractTest, TooMuchPrivateDataIsRefusedAndLeavesThePairIdle) {
  const auto a = MakePair(pd_.get()), b = MakePair(pd_.get());
  const auto listener = MakeListener();
  const std::vector<uint8_t> much = Bytes(adapter_->attributes().max_private_data + 1, 0);
  EXPECT_EQ(Connect(*a, listener->listener->conn_qual(), much).code(), Code::kInvalidArgument);
  ASSERT_TRUE(Connect(*a, listener->listener->conn_qual()).ok());
  ASSERT_TRUE(Until([&] { return listener->has_request(); }));
  const auto request = listener->TakeRequest();
  EXPECT_EQ(request->Accept(*b->qp, much).code(), Code::kInvalidArgument);
  EXPECT_EQ(request->Reject(much).code(), Code::kInvalidArgument);
  ASSERT_TRUE(request->Accept(*b->qp, {}).ok());
  EXPECT_TRUE(Until([&] { return a->established() && b->established(); }));
}

// covers: semantics 9.3
TEST_F(ContractTest, RejectCarriesData) {
  const size_t most = adapter_->attributes().max_private_data;
  for (const size_t size : {size_t{0}, size_t{1}, most}) {
    SCOPED_TRACE(size);
    const auto a = MakePair(pd_.get());
    const auto listener = MakeListener();
    ASSERT_TRUE(Connect(*a, listener->listener->conn_qual()).ok());
    ASSERT_TRUE(Until([&] { return listener->has_request(); }));
    ASSERT_TRUE(listener->TakeRequest()->Reject(Bytes(size, 7)).ok());
    ASSERT_TRUE(Until([&] { return a->over(); }));
    EXPECT_TRUE(a->failed(RejectReason::kPeer));
    EXPECT_EQ(a->received_data(), Bytes(size, 7));
  }
}

// covers: semantics 9.1, 9.2
TEST_F(ContractTest, NobodyListensIsANonPeerReject) {
  const uint64_t qualifier = FreeQualifier();
  MakeListener(qualifier).reset();
  const auto a = MakePair(pd_.get());
  ASSERT_TRUE(Connect(*a, qualifier).ok());
  ASSERT_TRUE(Until([&] { return a->over(); }));
  EXPECT_TRUE(a->failed(RejectReason::kNonPeer));
}

// covers: semantics 9.1
TEST_F(ContractTest, ARequestLeftInPlaceIsRejected) {
  const auto a = MakePair(pd_.get());
  const auto listener = MakeListener();
  listener->refuse = true;
  ASSERT_TRUE(Connect(*a, listener->listener->conn_qual()).ok());
  ASSERT_TRUE(Until([&] { return a->over(); }));
  EXPECT_TRUE(a->failed(RejectReason::kNonPeer));
}

TEST_F(ContractTest, ADestroyedRequestIsRejected) {
  const auto a = MakePair(pd_.get());
  const auto listener = MakeListener();
  ASSERT_TRUE(Connect(*a, listener->listener->conn_qual()).ok());
  ASSERT_TRUE(Until([&] { return listener->has_request(); }));
  listener->TakeRequest().reset();
  ASSERT_TRUE(Until([&] { return a->over(); }));
  EXPECT_TRUE(a->failed(RejectReason::kNonPeer));
}

// covers: semantics 9.3
TEST_F(ContractTest, AHandoffToNobodyLeavesTheRequest) {
  const uint64_t nobody = FreeQualifier();
  const auto a = MakePair(pd_.get()), b = MakePair(pd_.get());
  const auto listener = MakeListener();
  ASSERT_TRUE(Connect(*a, listener->listener->conn_qual(), Bytes(5, 1)).ok());
  ASSERT_TRUE(Until([&] { return listener->has_request(); }));
  const auto request = listener->TakeRequest();
  EXPECT_EQ(request->Handoff(nobody).code(), Code::kNotFound);
  EXPECT_EQ(request->conn_qual(), listener->listener->conn_qual());
  EXPECT_EQ(request->private_data().size(), 5u);
  ASSERT_TRUE(request->Accept(*b->qp, {}).ok());
  EXPECT_TRUE(Until([&] { return a->established() && b->established(); }));
}

// covers: semantics 9.1
TEST_F(ContractTest, ARequestOutlivesItsListener) {
  const auto a = MakePair(pd_.get()), b = MakePair(pd_.get());
  auto listener = MakeListener();
  ASSERT_TRUE(Connect(*a, listener->listener->conn_qual()).ok());
  ASSERT_TRUE(Until([&] { return listener->has_request(); }));
  const auto request = listener->TakeRequest();
  listener.reset();
  ASSERT_TRUE(request->Accept(*b->qp, {}).ok());
  EXPECT_TRUE(Until([&] { return a->established() && b->established(); }));
}

// covers: semantics 9.2
TEST_F(ContractTest, NoAnswerTimesOut) {
  const auto a = MakePair(pd_.get()), b = MakePair(pd_.get());
  const auto listener = MakeListener();
  const Clock::time_point before = Clock::now();
  ASSERT_TRUE(Connect(*a, listener->listener->conn_qual(), {}, std::chrono::milliseconds(50)).ok());
  ASSERT_TRUE(Until([&] { return a->over(); }));
  EXPECT_TRUE(a->failed(RejectReason::kTimedOut));
  const Clock::duration waited = Clock::now() - before;
  EXPECT_GE(waited, std::chrono::milliseconds(50));
  EXPECT_LT(waited, std::chrono::seconds(8)) << "later than on any machine, however busy";
  // The call of a late accept succeeds, but its handshake does not finish.
  ASSERT_TRUE(listener->has_request());
  ASSERT_TRUE(listener->TakeRequest()->Accept(*b->qp, {}).ok());
  ASSERT_TRUE(Until([&] { return b->over(); }));
  EXPECT_TRUE(b->failed(RejectReason::kAborted));
  EXPECT_EQ(a->log.all().size(), 1u);
}

// covers: semantics 8.3
TEST_F(ContractTest, DisconnectBeforeEstablishedEndsOnce) {
  const auto a = MakePair(pd_.get()), b = MakePair(pd_.get());
  const auto listener = MakeListener();
  ASSERT_TRUE(Connect(*a, listener->listener->conn_qual()).ok());
  ASSERT_TRUE(Until([&] { return listener->has_request(); }));
  a->qp->Disconnect(DisconnectMode::kGraceful);
  ASSERT_TRUE(Until([&] { return a->over(); }));
  EXPECT_EQ(a->log.all(), std::vector<std::string>{"ended:0"});
  ASSERT_TRUE(listener->TakeRequest()->Accept(*b->qp, {}).ok());
  ASSERT_TRUE(Until([&] { return b->over(); }));
  EXPECT_TRUE(b->failed(RejectReason::kAborted));
  Settle();
  EXPECT_EQ(a->log.all().size(), 1u);
}

// covers: semantics 8.3
TEST_F(ContractTest, DisconnectInIdleOrEndedDoesNothing) {
  const auto a = MakePair(pd_.get());
  a->qp->Disconnect(DisconnectMode::kAbrupt);
  a->qp->Disconnect(DisconnectMode::kGraceful);
  Settle();
  EXPECT_TRUE(a->log.all().empty());
}

// covers: semantics 9.1
TEST_F(ContractTest, AQualifierIsTakenOnce) {
  const auto first = MakeListener();
  TestListener second;
  ListenParameters p;
  p.conn_qual = first->listener->conn_qual();
  p.sink = &second;
  EXPECT_EQ(adapter_->Listen(p).status().code(), Code::kInUse);
  // The refused listener has not disturbed the first one.
  const auto a = MakePair(pd_.get());
  ASSERT_TRUE(Connect(*a, p.conn_qual).ok());
  EXPECT_TRUE(Until([&] { return first->has_request(); }));
}

// covers: semantics 9.1
TEST_F(ContractTest, AnyGivesDifferentQualifiers) {
  std::vector<std::unique_ptr<TestListener>> listeners;
  std::set<uint64_t> qualifiers;
  for (int i = 0; i < 20; ++i) {
    listeners.push_back(MakeListener());
    qualifiers.insert(listeners.back()->listener->conn_qual());
  }
  EXPECT_EQ(qualifiers.size(), 20u);
  EXPECT_EQ(qualifiers.count(0), 0u);
}

// covers: semantics 8.1
TEST_F(ContractTest, AddressesNameBothEnds) {
  const auto a = MakePair(pd_.get()), b = MakePair(pd_.get());
  EXPECT_EQ(a->qp->Addresses().remote.ss_family, AF_UNSPEC);
  Join(*a, *b);
  const ConnectionAddresses at_a = a->qp->Addresses(), at_b = b->qp->Addresses();
  EXPECT_EQ(at_a.remote.ss_family, adapter_->attributes().address.ss_family);
  EXPECT_EQ(at_b.remote.ss_family, adapter_->attributes().address.ss_family);
  EXPECT_EQ(at_a.local_port, at_b.remote_port);
  EXPECT_EQ(at_a.remote_port, at_b.local_port);
}

// covers: semantics 8.3
TEST_F(ContractTest, ConnectAndAcceptWantAnIdlePair) {
  const auto a = MakePair(pd_.get()), b = MakePair(pd_.get());
  Join(*a, *b);
  const auto c = MakePair(pd_.get());
  const auto listener = MakeListener();
  EXPECT_EQ(Connect(*a, listener->listener->conn_qual()).code(), Code::kInvalidState);
  ASSERT_TRUE(Connect(*c, listener->listener->conn_qual()).ok());
  ASSERT_TRUE(Until([&] { return listener->has_request(); }));
  const auto request = listener->TakeRequest();
  EXPECT_EQ(request->Accept(*a->qp, {}).code(), Code::kInvalidState);
  ASSERT_TRUE(request->Reject({}).ok());
  ASSERT_TRUE(Until([&] { return c->over(); }));
}

// covers: semantics 9.2
TEST_F(ContractTest, AnAddressOfAnotherFamilyIsRefusedAtOnce) {
  const auto a = MakePair(pd_.get());
  ConnectParameters p;
  p.remote.ss_family = AF_UNIX;
  p.conn_qual = 1;
  p.timeout = std::chrono::seconds(1);
  EXPECT_EQ(a->qp->Connect(p).code(), Code::kAddressUnsupported);
  Settle();
  EXPECT_TRUE(a->log.all().empty());
}

TEST_F(ContractTest, ConnectsByIpv6) {
  const auto a = MakePair(pd_.get()), b = MakePair(pd_.get());
  const auto listener = MakeListener();
  ConnectParameters p;
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  std::memcpy(&p.remote, &loopback, sizeof loopback);
  p.conn_qual = listener->listener->conn_qual();
  p.timeout = std::chrono::seconds(10);
  ASSERT_TRUE(a->qp->Connect(p).ok());
  ASSERT_TRUE(Until([&] { return listener->has_request() || a->over(); }));
  ASSERT_TRUE(listener->has_request());
  const auto request = listener->TakeRequest();
  EXPECT_EQ(request->addresses().remote.ss_family, AF_INET6);
  ASSERT_TRUE(request->Accept(*b->qp, {}).ok());
  EXPECT_TRUE(Until([&] { return a->established() && b->established(); }));
}

// covers: semantics 8.3
TEST_F(ContractTest, AFailedConnectFlushesReceivesBeforeItIsReported) {
  const auto a = MakePair(pd_.get());
  const auto memory = MakeMemory(*pd_, 16);
  ASSERT_EQ(PostReceive(*a, {memory->local()}, 5), Code::kOk);
  const auto listener = MakeListener();
  listener->refuse = true;
  size_t in_queue = 0;
  Completion completion;
  a->on_ended = [&] { in_queue = a->recv_queue->cq->Poll({&completion, 1}); };
  ASSERT_TRUE(Connect(*a, listener->listener->conn_qual()).ok());
  ASSERT_TRUE(Until([&] { return a->over(); }));
  ASSERT_EQ(in_queue, 1u);
  EXPECT_EQ(completion.cookie, 5u);
  EXPECT_EQ(completion.status, WorkStatus::kFlushed);
}

}  // namespace
}  // namespace softdat::transport
