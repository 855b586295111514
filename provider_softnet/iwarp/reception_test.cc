// SPDX-License-Identifier: BSD-3-Clause
// The passive side of connecting, in virtual time: what comes on an open port, how many connections
// wait there, and when an accepted connection is established.
#include "provider_softnet/iwarp/reception.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "provider_softnet/iwarp/acceptance.h"
#include "provider_softnet/iwarp/half_open.h"

namespace softdat::softnet {
namespace {

using std::chrono::milliseconds;
using State = Reception::State;

constexpr Reception::Time kNow = std::chrono::hours(3);

class ReceptionTest : public testing::Test {
 protected:
  static std::vector<uint8_t> Request(uint64_t qualifier) {
    MpaConfig config;
    config.conn_qual = qualifier;
    const MpaInitiator active(config, {});
    return {active.output().begin(), active.output().end()};
  }
  static MpaConfig Listening(uint64_t qualifier) {
    MpaConfig config;
    config.conn_qual = qualifier;
    return config;
  }
  // Feeds parts of at most `piece` bytes. Returns how many bytes were taken.
  size_t Feed(const std::vector<uint8_t>& bytes, size_t piece) {
    size_t taken = 0;
    while (taken < bytes.size() && reception_.bytes_wanted() > 0) {
      const size_t n = std::min({piece, reception_.bytes_wanted(), bytes.size() - taken});
      std::memcpy(reception_.room(), bytes.data() + taken, n);
      reception_.OnReceived(n);
      taken += n;
    }
    return taken;
  }
  void ExpectDropped(const std::string& words) {
    EXPECT_EQ(reception_.state(), State::kDropped);
    EXPECT_EQ(reception_.bytes_wanted(), 0u);
    EXPECT_NE(reception_.why().find(words), std::string::npos) << reception_.why();
  }

  Reception reception_{milliseconds(100), kNow};
};

TEST_F(ReceptionTest, ARequestIsReadInAnyPiecesAndNoByteBehindIt) {
  constexpr uint64_t kLong = 0x1122334455667788;
  std::vector<uint8_t> bytes = Request(kLong);
  const size_t whole = bytes.size();
  bytes.push_back(0xEE);
  EXPECT_EQ(Feed(bytes, 3), whole);
  ASSERT_EQ(reception_.state(), State::kRead);
  uint64_t qualifier = 1;
  EXPECT_TRUE(reception_.NamesQualifier(&qualifier));
  EXPECT_EQ(qualifier, kLong);
  EXPECT_EQ(reception_.Judge(Listening(kLong), true)->state(), MpaState::kRequest);
}

TEST_F(ReceptionTest, NothingMayComeBehindAShortRequest) {
  std::vector<uint8_t> bytes(iwarp::kMpaHeaderSize);
  bytes.resize(iwarp::EncodeMpaStart({.revision = 1}, bytes));
  bytes.push_back(0xEE);
  Feed(bytes, 1000);
  ASSERT_EQ(reception_.state(), State::kRead);
  const auto responder = reception_.Judge(Listening(5000), true);
  EXPECT_EQ(responder->failure(), MpaFailure::kFrame);
  EXPECT_TRUE(responder->output().empty());
}

TEST_F(ReceptionTest, AShortQualifierIsNotNamed) {
  Feed(Request(5000), 1000);
  ASSERT_EQ(reception_.state(), State::kRead);
  uint64_t qualifier = 1;
  EXPECT_FALSE(reception_.NamesQualifier(&qualifier));
  EXPECT_EQ(qualifier, 1u);
}

TEST_F(ReceptionTest, WhereNobodyListensThePeerIsTold) {
  Feed(Request(5000), 1000);
  const auto responder = reception_.Judge(Listening(5000), false);
  EXPECT_NE(responder->state(), MpaState::kRequest);
  EXPECT_FALSE(responder->output().empty());
  EXPECT_FALSE(Reception::RefusalText(*responder).empty());
}

TEST_F(ReceptionTest, GarbageIsDropped) {
  const std::string text = "GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n";
  Feed({text.begin(), text.end()}, 1000);
  if (reception_.state() == State::kRead) {
    EXPECT_NE(reception_.Judge(Listening(5000), true)->state(), MpaState::kRequest);
  } else {
    ExpectDropped("no MPA request");
  }
}

TEST_F(ReceptionTest, SilenceHasALimit) {
  EXPECT_EQ(reception_.deadline(), kNow + milliseconds(100));
  reception_.OnTime(kNow + milliseconds(99));
  EXPECT_EQ(reception_.state(), State::kReading);
  reception_.OnTime(kNow + milliseconds(100));
  ExpectDropped("time limit");
}

TEST_F(ReceptionTest, APeerThatGoesIsForgotten) {
  Feed({Request(5000).front()}, 1);
  reception_.OnLost(0);
  ExpectDropped("closed before its request");
  reception_.OnLost(ECONNRESET);  // the first reason stays
  ExpectDropped("closed before its request");
}

TEST(HalfOpenTest, TheOldestGoesForTheNewest) {
  HalfOpen<int> all(2);
  int* const first = all.Add(std::make_unique<int>(1));
  EXPECT_EQ(all.Surplus(), nullptr);
  int* const second = all.Add(std::make_unique<int>(2));
  ASSERT_EQ(all.Surplus(), first);
  EXPECT_EQ(*all.Take(first), 1);
  all.Add(std::make_unique<int>(3));
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(all.Surplus(), second);
  EXPECT_EQ(*all.Take(second), 2);
  EXPECT_EQ(all.Take(second), nullptr);
}

class AcceptanceTest : public testing::Test {
 protected:
  static Acceptance Make(Rtr rtr, const std::string& gone = {}) {
    MpaAgreement agreement;
    agreement.rtr = rtr;
    return {agreement, gone, milliseconds(100), kNow};
  }
};

TEST_F(AcceptanceTest, WithoutAReadyMessageItIsEstablishedAtOnce) {
  EXPECT_EQ(Make(Rtr::kNone).state(), Acceptance::State::kEstablished);
}

TEST_F(AcceptanceTest, TheFirstByteEstablishes) {
  Acceptance a = Make(Rtr::kWrite);
  EXPECT_EQ(a.state(), Acceptance::State::kWaiting);
  a.OnTime(kNow + milliseconds(99));
  a.OnReadable();
  EXPECT_EQ(a.state(), Acceptance::State::kEstablished);
}

TEST_F(AcceptanceTest, ItFailsForAPeerThatIsGoneOrSilent) {
  for (const Rtr rtr : {Rtr::kNone, Rtr::kRead}) {
    const Acceptance gone = Make(rtr, "the requester closed before it was answered");
    EXPECT_EQ(gone.state(), Acceptance::State::kFailed);
    EXPECT_NE(gone.why().find("requester closed"), std::string::npos);
  }
  Acceptance closed = Make(Rtr::kWrite), silent = Make(Rtr::kWrite);
  closed.OnLost(0);
  EXPECT_EQ(closed.state(), Acceptance::State::kFailed);
  silent.OnTime(kNow + milliseconds(100));
  EXPECT_EQ(silent.state(), Acceptance::State::kFailed);
  silent.OnReadable();  // too late
  EXPECT_EQ(silent.state(), Acceptance::State::kFailed);
}

}  // namespace
}  // namespace softdat::softnet
