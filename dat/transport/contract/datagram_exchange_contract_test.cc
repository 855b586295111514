// SPDX-License-Identifier: BSD-3-Clause
// Contract: how queue pairs for datagrams meet.
#include <string>

#include "dat/transport/contract/datagram_fixture.h"

namespace softdat::transport {
namespace {

std::vector<uint8_t> Bytes(const std::string& text) { return {text.begin(), text.end()}; }

// covers: semantics 15.2
TEST_F(DatagramContractTest, EachIsToldWhereTheOtherIs) {
  ASSERT_TRUE(Resolve(*a_, 77, Bytes("from a")).ok());
  const auto request = NextRequest();
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(request->service(), Service::kDatagram);
  EXPECT_EQ(request->conn_qual(), listener_->listener->conn_qual());
  const std::span<uint8_t> data = request->private_data();
  EXPECT_EQ(std::vector<uint8_t>(data.begin(), data.begin() + 6), Bytes("from a"));
  EXPECT_EQ(a_->told(), 0u);
  auto requester = request->AcceptDatagrams(*b_->qp, Bytes("from b"));
  ASSERT_TRUE(requester.ok()) << requester.status().reason();
  EXPECT_NE(requester.value().handle, nullptr);
  EXPECT_NE(requester.value().number, 0u);
  EXPECT_EQ(requester.value().address.ss_family, adapter_->attributes().address.ss_family);
  const TestDatagramPair::Outcome outcome = NextOutcome(*a_);
  EXPECT_TRUE(outcome.resolved);
  EXPECT_EQ(outcome.token, 77u);
  ASSERT_GE(outcome.private_data.size(), 6u);
  EXPECT_EQ(std::vector<uint8_t>(outcome.private_data.begin(), outcome.private_data.begin() + 6),
            Bytes("from b"));
  EXPECT_NE(outcome.peer.handle, nullptr);
  EXPECT_NE(outcome.peer.number, 0u);
  EXPECT_NE(outcome.peer.number, requester.value().number);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, ManyAreUnderWayAtOnce) {
  constexpr uint64_t kMany = 20;
  for (uint64_t i = 1; i <= kMany; ++i)
    ASSERT_TRUE(Resolve(*a_, i, Bytes(std::to_string(100 + i))).ok());
  std::vector<std::unique_ptr<ConnectionRequest>> requests;
  for (uint64_t i = 1; i <= kMany; ++i) requests.push_back(NextRequest());
  // The requests are answered in another order. Each answer returns the data of its request.
  for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
    ASSERT_NE(*request, nullptr);
    ASSERT_TRUE((*request)->AcceptDatagrams(*b_->qp, (*request)->private_data()).ok());
  }
  uint64_t sum = 0;
  for (uint64_t i = 1; i <= kMany; ++i) {
    const TestDatagramPair::Outcome outcome = NextOutcome(*a_);
    ASSERT_TRUE(outcome.resolved);
    ASSERT_GE(outcome.private_data.size(), 3u);
    EXPECT_EQ(std::string(outcome.private_data.begin(), outcome.private_data.begin() + 3),
              std::to_string(100 + outcome.token));
    sum += outcome.token;
  }
  EXPECT_EQ(sum, kMany * (kMany + 1) / 2);
  Settle();
  EXPECT_EQ(a_->told(), 0u);
  EXPECT_EQ(b_->told(), 0u);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, ARejectBringsItsData) {
  ASSERT_TRUE(Resolve(*a_, 5).ok());
  const auto request = NextRequest();
  ASSERT_NE(request, nullptr);
  ASSERT_TRUE(request->Reject(Bytes("no")).ok());
  const TestDatagramPair::Outcome outcome = NextOutcome(*a_);
  EXPECT_FALSE(outcome.resolved);
  EXPECT_EQ(outcome.token, 5u);
  EXPECT_EQ(outcome.reason, RejectReason::kPeer);
  ASSERT_GE(outcome.private_data.size(), 2u);
  EXPECT_EQ(outcome.private_data[0], 'n');
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, ARequestThatNobodyTakesIsRefused) {
  listener_->refuse = true;
  ASSERT_TRUE(Resolve(*a_, 1).ok());
  EXPECT_EQ(NextOutcome(*a_).reason, RejectReason::kNonPeer);
  // A request that is destroyed unanswered is refused, too.
  listener_->refuse = false;
  ASSERT_TRUE(Resolve(*a_, 2).ok());
  NextRequest().reset();
  EXPECT_EQ(NextOutcome(*a_).reason, RejectReason::kNonPeer);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, WhereNobodyListensNobodyAccepts) {
  ConnectParameters p;
  p.remote = adapter_->attributes().address;
  p.conn_qual = FreeQualifier();
  p.timeout = std::chrono::seconds(10);
  ASSERT_TRUE(a_->qp->Resolve(p, 1).ok());
  const TestDatagramPair::Outcome outcome = NextOutcome(*a_);
  EXPECT_FALSE(outcome.resolved);
  EXPECT_EQ(outcome.reason, RejectReason::kNonPeer);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, WithoutAnAnswerTheTimeCounts) {
  ASSERT_TRUE(Resolve(*a_, 9, {}, std::chrono::milliseconds(30)).ok());
  const auto request = NextRequest();
  const TestDatagramPair::Outcome outcome = NextOutcome(*a_);
  EXPECT_EQ(outcome.token, 9u);
  EXPECT_EQ(outcome.reason, RejectReason::kTimedOut);
  // A later accept succeeds, since nobody tells the acceptor. The requester is not told twice.
  ASSERT_NE(request, nullptr);
  EXPECT_TRUE(request->AcceptDatagrams(*b_->qp, {}).ok());
  Settle();
  EXPECT_EQ(a_->told(), 0u);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, ASpentRequestIsNotAnsweredAgain) {
  ASSERT_TRUE(Resolve(*a_, 1).ok());
  const auto request = NextRequest();
  ASSERT_NE(request, nullptr);
  const std::vector<uint8_t> too_much(adapter_->attributes().max_private_data + 1);
  EXPECT_FALSE(request->AcceptDatagrams(*b_->qp, too_much).ok());  // and it is unchanged
  ASSERT_TRUE(request->AcceptDatagrams(*b_->qp, {}).ok());
  EXPECT_EQ(request->AcceptDatagrams(*b_->qp, {}).status().code(), Code::kInvalidState);
  EXPECT_EQ(request->Reject({}).code(), Code::kInvalidState);
  EXPECT_TRUE(NextOutcome(*a_).resolved);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, APairThatIsGoneIsToldNothing) {
  ASSERT_TRUE(Resolve(*a_, 1).ok());
  const auto request = NextRequest();
  ASSERT_NE(request, nullptr);
  a_->qp.reset();
  EXPECT_TRUE(request->AcceptDatagrams(*b_->qp, {}).ok());
  Settle();
  EXPECT_EQ(a_->told(), 0u);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, OneListenerServesBothServices) {
  auto reliable = MakePair(pd_.get());
  ASSERT_TRUE(Connect(*reliable, listener_->listener->conn_qual()).ok());
  const auto connection = NextRequest();
  ASSERT_NE(connection, nullptr);
  EXPECT_EQ(connection->service(), Service::kReliable);
  ASSERT_TRUE(Resolve(*a_, 1).ok());
  const auto request = NextRequest();
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(request->service(), Service::kDatagram);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, WithoutAProtectionDomainItMeetsNobody) {
  QueuePairAttributes attributes = DatagramAttributes(*a_);
  attributes.pd = nullptr;
  ASSERT_TRUE(a_->qp->Configure(attributes).ok());
  EXPECT_EQ(Resolve(*a_, 1).code(), Code::kInvalidState);
  ASSERT_TRUE(a_->qp->Configure(DatagramAttributes(*a_)).ok());
  Meet(*a_, *b_);
  // Other pairs know it now.
  EXPECT_EQ(a_->qp->Configure(DatagramAttributes(*a_)).code(), Code::kInvalidState);
  EXPECT_EQ(b_->qp->Configure(DatagramAttributes(*b_)).code(), Code::kInvalidState);
}

}  // namespace
}  // namespace softdat::transport
