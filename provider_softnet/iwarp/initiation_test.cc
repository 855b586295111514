// SPDX-License-Identifier: BSD-3-Clause
// The decisions of connecting, in virtual time: what is tried again, what is not, and who is told
// what.
#include "provider_softnet/iwarp/initiation.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace softdat::softnet {
namespace {

using transport::RejectReason;
using Need = Initiation::Need;
using Outcome = Initiation::Outcome;
using std::chrono::milliseconds;

constexpr uint64_t kQualifier = 5000;

class InitiationTest : public testing::Test {
 protected:
  void Begin(bool same_host = true, Initiation::Time limit = Initiation::kNever) {
    Initiation::Parameters p;
    p.mpa.conn_qual = kQualifier;
    p.private_data = {1, 2, 3};
    p.where = "connect to there";
    p.same_host = same_host;
    p.grace = milliseconds(300);
    p.limit = limit;
    active_.emplace(std::move(p));
    active_->Begin(now_);
    EXPECT_EQ(active_->need(), Need::kLink);
  }
  // Lets time pass until the next deadline.
  void Wait() {
    ASSERT_NE(active_->deadline(), Initiation::kNever);
    now_ = std::max(now_, active_->deadline());
    active_->OnTime(now_);
  }
  MpaResponder Responder() const {
    MpaConfig config;
    config.conn_qual = kQualifier;
    return MpaResponder(config);
  }
  // Sends the request over the link, and returns the answer that `answer` makes of it.
  template <typename Answer>
  void Exchange(MpaResponder* passive, Answer answer) {
    while (!active_->output().empty()) {
      const uint8_t byte = active_->output()[0];
      active_->OnSent(1, now_);
      passive->OnReceived(&byte, 1);
    }
    ASSERT_EQ(passive->state(), MpaState::kRequest);
    answer(passive);
    while (!passive->output().empty() && active_->bytes_wanted() > 0) {
      active_->OnReceived(passive->output().data(), 1, now_);
      passive->OnSent(1);
    }
  }
  void ExpectFailure(RejectReason reason, const std::string& words) {
    EXPECT_EQ(active_->need(), Need::kOver);
    EXPECT_EQ(active_->outcome(), Outcome::kFailed);
    EXPECT_EQ(active_->reason(), reason);
    EXPECT_NE(active_->why().find("connect to there"), std::string::npos) << active_->why();
    EXPECT_NE(active_->why().find(words), std::string::npos) << active_->why();
  }

  std::optional<Initiation> active_;
  Initiation::Time now_ = std::chrono::hours(5);
};

TEST_F(InitiationTest, AnAcceptedOneIsEstablishedWithThePeersData) {
  Begin();
  EXPECT_EQ(active_->attempt(), 1u);
  active_->OnConnected(false, now_);
  EXPECT_EQ(active_->need(), Need::kBytes);
  MpaResponder passive = Responder();
  const std::vector<uint8_t> data = {9, 8};
  Exchange(&passive, [&](MpaResponder* p) { EXPECT_TRUE(p->Accept(4, 4, data)); });
  EXPECT_EQ(active_->need(), Need::kOver);
  EXPECT_EQ(active_->outcome(), Outcome::kEstablished);
  EXPECT_TRUE(std::ranges::equal(active_->peer_private_data(), data));
  EXPECT_TRUE(std::ranges::equal(passive.peer_private_data(), std::vector<uint8_t>{1, 2, 3}));
}

TEST_F(InitiationTest, TheConsumersRejectIsThePeersWord) {
  Begin();
  active_->OnConnected(false, now_);
  MpaResponder passive = Responder();
  const std::vector<uint8_t> data = {7};
  Exchange(&passive, [&](MpaResponder* p) { EXPECT_TRUE(p->Reject(data)); });
  EXPECT_EQ(active_->outcome(), Outcome::kRejected);
  EXPECT_EQ(active_->reason(), RejectReason::kPeer);
  EXPECT_TRUE(std::ranges::equal(active_->peer_private_data(), data));
}

TEST_F(InitiationTest, ARefusalByTheBackEndIsNot) {
  Begin();
  active_->OnConnected(false, now_);
  MpaResponder passive = Responder();
  Exchange(&passive, [](MpaResponder* p) { p->Refuse(RefuseReason::kBacklog); });
  ExpectFailure(RejectReason::kNonPeer, "");
}

// A program may start its server and its client at once, so the client tries again for a while.
TEST_F(InitiationTest, ARefusalByTheOwnHostIsTriedAgainForAWhile) {
  Begin();
  const Initiation::Time begun = now_;
  uint32_t attempts = 0;
  while (active_->need() != Need::kOver) {
    ASSERT_EQ(active_->need(), Need::kLink);
    EXPECT_EQ(active_->attempt(), ++attempts);
    active_->OnLost(ECONNREFUSED, now_);
    if (active_->need() == Need::kPause) Wait();
  }
  ExpectFailure(RejectReason::kNonPeer, "nobody listens there");
  EXPECT_GE(now_ - begun, milliseconds(300));
  EXPECT_LT(now_ - begun, milliseconds(330));
  EXPECT_GT(attempts, 10u);  // the pauses grow, but no longer than a listener may be late
}

TEST_F(InitiationTest, ARefusalByAnotherHostIsFinal) {
  Begin(false);
  active_->OnLost(ECONNREFUSED, now_);
  ExpectFailure(RejectReason::kNonPeer, "nobody listens there");
}

TEST_F(InitiationTest, ALinkToItselfIsARefusal) {
  Begin();
  active_->OnConnected(true, now_);
  EXPECT_EQ(active_->need(), Need::kPause);
  Wait();
  EXPECT_EQ(active_->need(), Need::kLink);
}

// covers: semantics 9.2
TEST_F(InitiationTest, TheSystemsPatienceIsNotTheConsumers) {
  Begin();
  active_->OnLost(ETIMEDOUT, now_);
  ExpectFailure(RejectReason::kUnreachable, "timed out");
}

// covers: semantics 9.2
TEST_F(InitiationTest, TheConsumersLimitHoldsInEachState) {
  for (const bool connected : {false, true}) {
    Begin(true, milliseconds(50));
    if (connected) active_->OnConnected(false, now_);
    Wait();
    ExpectFailure(RejectReason::kTimedOut, "within 50 ms");
    EXPECT_EQ(active_->why().find("TCP not connected") == std::string::npos, connected);
  }
  Begin(true, milliseconds(50));  // the limit covers all attempts together
  const Initiation::Time begun = now_;
  while (active_->need() != Need::kOver) {
    if (active_->need() == Need::kLink) active_->OnLost(ECONNREFUSED, now_);
    Wait();
  }
  ExpectFailure(RejectReason::kTimedOut, "");
  EXPECT_EQ(now_ - begun, milliseconds(50));
}

// A timer that fires early changes nothing.
TEST_F(InitiationTest, APauseIsKept) {
  Begin();
  active_->OnLost(ECONNREFUSED, now_);
  active_->OnTime(now_);
  EXPECT_EQ(active_->need(), Need::kPause);
}

// A peer of revision 1 drops requests that it does not know. It is asked again in revision 1, but
// only once.
TEST_F(InitiationTest, APeerThatDropsTheRequestIsAskedOnceMoreInRevisionOne) {
  Begin();
  for (const uint8_t revision : {uint8_t{2}, uint8_t{1}}) {
    active_->OnConnected(false, now_);
    iwarp::MpaStart frame;
    const std::span<const uint8_t> output = active_->output();
    EXPECT_EQ(iwarp::ParseMpaStart(output, &frame).status, iwarp::MpaParseStatus::kOk);
    EXPECT_EQ(frame.revision, revision);
    active_->OnSent(output.size(), now_);
    active_->OnLost(revision == 2 ? 0 : ECONNRESET, now_);
    if (revision == 1) break;
    ASSERT_EQ(active_->need(), Need::kPause);
    Wait();
    ASSERT_EQ(active_->need(), Need::kLink);
  }
  ExpectFailure(RejectReason::kNonPeer, "closed during MPA start-up");
}

// The path fails while the request is under way.
TEST_F(InitiationTest, APathThatFailsUnderTheRequestIsUnreachable) {
  Begin();
  active_->OnConnected(false, now_);
  active_->OnLost(EHOSTUNREACH, now_);
  ExpectFailure(RejectReason::kUnreachable, "");
}

TEST_F(InitiationTest, AHostWithoutALinkSaysWhy) {
  Begin();
  active_->OnNoLink("connect to there: no descriptors");
  ExpectFailure(RejectReason::kUnreachable, "no descriptors");
}

}  // namespace
}  // namespace softdat::softnet
