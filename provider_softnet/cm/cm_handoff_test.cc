// SPDX-License-Identifier: BSD-3-Clause
// A request that one member of an address hands to another one: three managers in virtual time, and
// a network that loses and doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "provider_softnet/cm/testing/cm_bench.h"

namespace softdat::softnet {
namespace {

using testing::CmBench;
using testing::Host;
using testing::NameOf;

constexpr uint64_t kDelayUs = 50;
constexpr uint32_t kFirstBlock = 1;
constexpr uint32_t kSecondBlock = 2;
constexpr uint32_t kAskerBlock = 3;

// One member asks from host 2. At host 1 the first member has the service and hands each request to
// the second one, which answers it after `thinking_us`.
class Handoff {
 public:
  enum class Answer : uint8_t { kAccept, kReject };

  Answer answer = Answer::kAccept;
  uint64_t thinking_us = 350'000;
  uint64_t limit_us = kCmNever;  // of the asker
  // The messages, by their order, that are lost or come twice.
  std::set<size_t> lost{}, doubled{};
  // After this the first member is gone: its service is nobody's.
  uint64_t first_leaves_us = kCmNever;
  uint64_t second_dies_us = kCmNever;

  void Run(uint64_t until_us) {
    CmConnect p = CmBench().Parameters();
    p.local = Host(2);
    p.remote = Host(1);
    p.timeout_us = limit_us;
    ask_ = asker_.Connect(p, now_us_);
    while (now_us_ <= until_us) {
      Settle();
      uint64_t next_us =
          std::min({asker_.deadline_us(), answer_us_, first_leaves_us, second_dies_us,
                    Next(first_, !first_gone_), Next(second_, !second_gone_)});
      if (!under_way_.empty()) next_us = std::min(next_us, under_way_.begin()->first);
      if (next_us == kCmNever) break;
      now_us_ = std::max(now_us_, next_us);
      Step();
    }
  }

  // "reply established", as each of the three was told.
  std::string asker, first, second;
  size_t messages() const { return sent_; }
  bool Said(const std::string& message) const {
    return std::find(log.begin(), log.end(), message) != log.end();
  }
  CmState asking() { return asker_.state(ask_); }
  CmState there() { return second_.state(taken_); }
  size_t left_at_first() const { return first_.size(); }
  uint32_t asker_knows_qpn = 0;
  std::vector<std::string> log{};

 private:
  static uint64_t Next(const CommunicationManager& m, bool lives) {
    return lives ? m.deadline_us() : kCmNever;
  }

  void Step() {
    if (first_leaves_us <= now_us_) {
      first_leaves_us = kCmNever;
      first_gone_ = true;
      second_.Delay(taken_);  // what its port does when the first member goes
      Settle();
    }
    if (second_dies_us <= now_us_) {
      second_dies_us = kCmNever;
      second_gone_ = true;
      answer_us_ = kCmNever;
      first_.handoff().LostElsewhere(given_, now_us_);
      Settle();
    }
    if (answer_us_ <= now_us_) {
      answer_us_ = kCmNever;
      AnswerIt();
      Settle();
    }
    while (!under_way_.empty() && under_way_.begin()->first <= now_us_) {
      const CmOutgoing mad = under_way_.begin()->second.first;
      const sockaddr_storage from = under_way_.begin()->second.second;
      under_way_.erase(under_way_.begin());
      Deliver(mad, from);
      Settle();
    }
    asker_.OnTime(now_us_);
    if (!first_gone_) first_.OnTime(now_us_);
    if (!second_gone_) second_.OnTime(now_us_);
  }

  void AnswerIt() {
    if (answer == Answer::kAccept) {
      second_.Accept(taken_, {.qpn = testing::kOwnQpn, .starting_psn = 1}, now_us_);
      return;
    }
    second_.Reject(taken_, rdmacm::RejectReason::kConsumer, {}, now_us_);
    Answered();
  }

  void Answered() {
    const std::optional<MadOctets> refusal = second_.handoff().Refusal(taken_);
    if (first_gone_) return;
    first_.handoff().AnsweredElsewhere(given_, refusal ? ByteSpan(*refusal) : ByteSpan(), now_us_);
  }

  void Deliver(const CmOutgoing& out, const sockaddr_storage& from) {
    rdmacm::Mad mad;
    ASSERT_EQ(rdmacm::ParseMad(out.mad, &mad), rdmacm::MadParse::kOk);
    if (SameAs(out.to, Host(2))) return asker_.OnMad(from, out.mad, now_us_);
    const uint32_t block = BlockOf(mad.message);
    if (block == kSecondBlock) {
      if (!second_gone_) second_.OnMad(from, out.mad, now_us_);
    } else if (!first_gone_) {
      first_.OnMad(from, out.mad, now_us_);
    }
  }
  static bool SameAs(const sockaddr_storage& a, const sockaddr_storage& b) {
    return memcmp(&a, &b, sizeof(a)) == 0;
  }
  // Of the id that a message answers. A request answers none.
  static uint32_t BlockOf(const rdmacm::CmMessage& message) {
    return std::visit(
        [](const auto& m) -> uint32_t {
          if constexpr (requires { m.remote_comm_id; }) return m.remote_comm_id >> 20;
          return 0;
        },
        message);
  }

  void Settle() {
    Send(&asker_, Host(2));
    Send(&first_, Host(1));
    Send(&second_, Host(1));
    for (bool told = true; told;) {
      told = false;
      while (auto event = asker_.TakeEvent()) {
        told = true;
        asker += NameOf(*event) + " ";
        if (const auto* reply = std::get_if<CmReplyArrived>(&*event)) {
          asker_knows_qpn = reply->peer.qpn;
          asker_.ReadyToUse(reply->id);
        }
      }
      while (auto event = first_.TakeEvent()) {
        told = true;
        first += NameOf(*event) + " ";
        OnFirst(*event);
      }
      while (auto event = second_.TakeEvent()) {
        told = true;
        second += NameOf(*event) + " ";
        if (std::holds_alternative<CmEstablished>(*event) ||
            std::holds_alternative<CmFailed>(*event))
          Answered();
      }
      Send(&asker_, Host(2));
      Send(&first_, Host(1));
      Send(&second_, Host(1));
    }
  }

  void OnFirst(const CmEvent& event) {
    if (const auto* request = std::get_if<CmRequestArrived>(&event)) {
      const std::optional<MadOctets> mad = first_.handoff().RequestOf(request->id);
      ASSERT_TRUE(mad.has_value());
      ASSERT_TRUE(second_.handoff().CanTakeOver(Host(2), *mad));
      const CmTakenOver taken = second_.handoff().TakeOver(Host(2), *mad, now_us_);
      ASSERT_TRUE(taken.request.has_value());
      EXPECT_EQ(taken.replaced, 0u);
      EXPECT_EQ(taken.request->peer.qpn, request->peer.qpn);
      EXPECT_EQ(taken.request->private_data, request->private_data);
      given_ = request->id;
      taken_ = taken.request->id;
      first_.handoff().HandOff(given_);
      answer_us_ = now_us_ + thinking_us;
    } else if (const auto* news = std::get_if<CmForNewOwner>(&event)) {
      if (second_gone_) return;
      if (news->what == CmForNewOwner::What::kAgain) second_.handoff().RequestedAgain(taken_);
      if (news->what == CmForNewOwner::What::kWithdrawn) second_.handoff().GivenUp(taken_, now_us_);
    }
  }

  void Send(CommunicationManager* from, const sockaddr_storage& address) {
    const bool gone = (from == &first_ && first_gone_) || (from == &second_ && second_gone_);
    while (const auto out = from->TakeOutgoing()) {
      if (gone) continue;
      rdmacm::Mad mad;
      rdmacm::ParseMad(out->mad, &mad);
      log.push_back(std::string(rdmacm::CmMessageText(mad.message)));
      const size_t number = sent_++;
      if (!lost.contains(number)) under_way_.emplace(now_us_ + kDelayUs, std::pair(*out, address));
      // The second time comes late, behind what answers the first one.
      if (doubled.contains(number))
        under_way_.emplace(now_us_ + 5 * kDelayUs, std::pair(*out, address));
    }
  }

  static CmOptions OptionsOf(uint64_t guid, uint32_t block) {
    return {.ca_guid = guid, .comm_id_block = block};
  }

  std::mt19937_64 random_{1};
  std::function<uint64_t()> draw_ = [this] { return random_(); };
  CommunicationManager asker_{OptionsOf(1, kAskerBlock), draw_};
  CommunicationManager first_{OptionsOf(2, kFirstBlock), draw_};
  CommunicationManager second_{OptionsOf(3, kSecondBlock), draw_};
  bool first_gone_ = false, second_gone_ = false;
  uint64_t now_us_ = 0, answer_us_ = kCmNever;
  CmId ask_ = 0, given_ = 0, taken_ = 0;
  size_t sent_ = 0;
  std::multimap<uint64_t, std::pair<CmOutgoing, sockaddr_storage>> under_way_;
};

constexpr uint64_t kLong = 60'000'000;

TEST(CmHandoffTest, TheRequesterIsAnsweredByTheNewOwner) {
  Handoff h;
  h.thinking_us = 0;
  h.Run(kLong);
  EXPECT_EQ(h.log, (std::vector<std::string>{"REQ", "REP", "RTU"}));
  EXPECT_EQ(h.asker, "reply ");
  EXPECT_EQ(h.first, "request ");
  EXPECT_EQ(h.second, "established ");
  EXPECT_EQ(h.asker_knows_qpn, testing::kOwnQpn);
  EXPECT_EQ(h.left_at_first(), 0u);
}

// Repeats come to the first member, which hands them to the second one.
TEST(CmHandoffTest, ARepeatedRequestReachesTheNewOwner) {
  Handoff h;
  h.Run(kLong);
  EXPECT_EQ(h.first, "request new owner:again new owner:again ");
  EXPECT_EQ(h.second, "established ");
  // The second repeat is answered with a plea for time, whose sender is the new owner.
  EXPECT_EQ(h.log, (std::vector<std::string>{"REQ", "REQ", "REQ", "MRA", "REP", "RTU"}));
}

// Any one or two messages of it are lost or come twice. The outcome is the same.
TEST(CmHandoffTest, LossesAndDoublesChangeNothing) {
  constexpr size_t kFirstMessages = 9;
  for (const Handoff::Answer answer : {Handoff::Answer::kAccept, Handoff::Answer::kReject}) {
    for (const uint64_t thinking_us : {uint64_t{0}, uint64_t{120'000}, uint64_t{350'000}}) {
      for (size_t i = 0; i < kFirstMessages; ++i) {
        for (size_t k = 0; k < kFirstMessages; ++k) {
          for (int kind = 0; kind < 3; ++kind) {
            Handoff h;
            h.answer = answer;
            h.thinking_us = thinking_us;
            (kind == 2 ? h.doubled : h.lost).insert(i);
            (kind >= 1 ? h.doubled : h.lost).insert(k);
            h.Run(10 * kLong);
            const bool accepted = answer == Handoff::Answer::kAccept;
            const std::string what = std::to_string(i) + " " + std::to_string(k) + " kind " +
                                     std::to_string(kind) + " thinking " +
                                     std::to_string(thinking_us);
            EXPECT_EQ(h.asker, accepted ? "reply " : "failed:non-peer over ") << what;
            EXPECT_EQ(h.second, accepted ? "established " : "") << what;
            EXPECT_TRUE(h.first.starts_with("request ")) << what;
            // A requester that was asked for time repeats its request when the refusal is
            // forgotten.
            const bool may_come_anew = !accepted && h.Said("MRA");
            EXPECT_TRUE(may_come_anew || h.first.find("request", 1) == std::string::npos) << what;
            EXPECT_EQ(h.asking(), accepted ? CmState::kEstablished : CmState::kNone) << what;
            EXPECT_EQ(h.there(), accepted ? CmState::kEstablished : CmState::kNone) << what;
            EXPECT_EQ(h.left_at_first(), 0u) << what;
          }
        }
      }
    }
  }
}

// Its giving-up comes to the first member, and an answer that comes too late finds nobody.
TEST(CmHandoffTest, TheRequesterGivesUp) {
  Handoff h;
  h.limit_us = 200'000;
  h.Run(kLong);
  EXPECT_EQ(h.asker, "failed:timed out over ");
  EXPECT_EQ(h.first, "request new owner:again new owner:withdrawn ");
  EXPECT_EQ(h.second, "withdrawn failed:aborted over ");
  EXPECT_EQ(h.left_at_first(), 0u);
}

TEST(CmHandoffTest, ItsGivingUpIsLost) {
  Handoff h;
  h.limit_us = 200'000;
  h.lost = {2};  // REQ REQ REJ
  h.Run(kLong);
  EXPECT_EQ(h.asker, "failed:timed out over ");
  EXPECT_EQ(h.second, "failed:aborted over ");
  EXPECT_EQ(h.left_at_first(), 0u);
}

TEST(CmHandoffTest, TheNewOwnerDies) {
  Handoff h;
  h.second_dies_us = 110'000;
  h.Run(kLong);
  EXPECT_EQ(h.asker, "failed:non-peer over ");
  EXPECT_EQ(h.log, (std::vector<std::string>{"REQ", "REQ", "REJ"}));
  EXPECT_EQ(h.left_at_first(), 0u);
}

TEST(CmHandoffTest, TheNewOwnerDiesAndTheRefusalIsLost) {
  Handoff h;
  h.second_dies_us = 110'000;
  h.lost = {2};
  h.Run(kLong);
  EXPECT_EQ(h.asker, "failed:non-peer over ");
  EXPECT_EQ(h.log, (std::vector<std::string>{"REQ", "REQ", "REJ", "REQ", "REJ"}));
}

// From then on repeats would come to nobody who knows of the request. So the requester is asked to
// wait.
TEST(CmHandoffTest, TheFirstMemberLeaves) {
  Handoff h;
  h.first_leaves_us = 110'000;
  h.Run(kLong);
  EXPECT_EQ(h.asker, "reply ");
  EXPECT_EQ(h.second, "established ");
  EXPECT_EQ(h.log, (std::vector<std::string>{"REQ", "REQ", "MRA", "REP", "RTU"}));
}

// ---- one manager by itself ----------------------------------------------------------------------

MadOctets OctetsOf(const rdmacm::CmMessage& message) {
  MadOctets octets;
  rdmacm::EncodeMad({testing::kPeerTransaction, message}, octets);
  return octets;
}

TEST(CmHandoffTest, WhatIsNoRequestIsNotTakenOver) {
  CmBench b;
  EXPECT_FALSE(b.cm().handoff().CanTakeOver(Host(2), OctetsOf(b.Rtu())));
  EXPECT_FALSE(b.cm().handoff().CanTakeOver(Host(2), std::array<uint8_t, 4>{}));
  EXPECT_FALSE(b.cm().handoff().CanTakeOver(sockaddr_storage{}, OctetsOf(b.Req())));
  rdmacm::CmReq req = b.Req();
  req.path_mtu = 0;
  EXPECT_FALSE(b.cm().handoff().CanTakeOver(Host(2), OctetsOf(req)));
  b.RequestArrives();
  EXPECT_FALSE(b.cm().handoff().CanTakeOver(Host(2), OctetsOf(b.Req()))) << "it is here already";
}

TEST(CmHandoffTest, NoRoomForAnotherRequest) {
  CmBench b({.ca_guid = testing::kOwnGuid, .most_half_open = 1});
  b.RequestArrives();
  rdmacm::CmReq req = b.Req();
  req.local_comm_id ^= 1;
  req.local_qpn ^= 1;
  EXPECT_FALSE(b.cm().handoff().CanTakeOver(Host(2), OctetsOf(req)));
  b.cm().handoff().HandOff(b.id);
  EXPECT_TRUE(b.cm().handoff().CanTakeOver(Host(2), OctetsOf(req)))
      << "what was handed off takes no room";
}

// It comes back to the manager that had it first.
TEST(CmHandoffTest, BackAgain) {
  CmBench b;
  b.RequestArrives();
  b.cm().handoff().HandOff(b.id);
  ASSERT_TRUE(b.cm().handoff().CanTakeOver(Host(2), OctetsOf(b.Req())));
  const CmTakenOver taken = b.cm().handoff().TakeOver(Host(2), OctetsOf(b.Req()), b.now_us);
  EXPECT_EQ(taken.replaced, b.id);
  ASSERT_TRUE(taken.request.has_value());
  EXPECT_EQ(b.TakeAll(), "|");
  b.cm().Reject(taken.request->id, rdmacm::RejectReason::kConsumer, {}, b.now_us);
  EXPECT_EQ(b.TakeAll(), "REJ:28 |");
  b.Receive(b.Req());
  EXPECT_EQ(b.TakeAll(), "REJ:28 |");
}

// The connection of the pair was lost there, as with a request that comes by itself.
TEST(CmHandoffTest, TheRequestersPairIsInUseHere) {
  CmBench b;
  b.EstablishPassively();
  rdmacm::CmReq req = b.Req();
  req.local_comm_id ^= 1;
  ASSERT_TRUE(b.cm().handoff().CanTakeOver(Host(2), OctetsOf(req)));
  EXPECT_FALSE(b.cm().handoff().TakeOver(Host(2), OctetsOf(req), b.now_us).request.has_value());
  EXPECT_EQ(b.TakeAll(), "DREQ REJ:10 | disconnected:stale");
}

TEST(CmHandoffTest, AWithdrawnRequestIsToldToTheNewOwner) {
  CmBench b;
  b.RequestArrives();
  b.Receive(b.RejOfUnknown());
  EXPECT_EQ(b.TakeAll(), "| withdrawn");
  EXPECT_TRUE(b.cm().handoff().RequestOf(b.id).has_value());
  b.cm().handoff().HandOff(b.id);
  EXPECT_EQ(b.TakeAll(), "| new owner:withdrawn");
}

// Only so many are remembered.
TEST(CmHandoffTest, TheOldestGivesWay) {
  CmBench b({.ca_guid = testing::kOwnGuid, .most_remembered = 1});
  b.RequestArrives();
  b.cm().handoff().HandOff(b.id);
  rdmacm::CmReq req = b.Req();
  req.local_comm_id ^= 1;
  req.local_qpn ^= 1;
  b.Receive(req);
  const auto second = b.TakeOnly<CmRequestArrived>();
  ASSERT_TRUE(second.has_value());
  b.cm().handoff().HandOff(second->id);
  EXPECT_EQ(b.TakeAll(), "| new owner:forgotten");
  EXPECT_EQ(b.state(), CmState::kNone);
}

// A refusal from elsewhere is repeated here only if it is one of this request.
TEST(CmHandoffTest, AnotherRefusalIsNotRepeated) {
  CmBench b;
  b.RequestArrives();
  b.cm().handoff().HandOff(b.id);
  const rdmacm::CmRej other{.local_comm_id = 1,
                            .remote_comm_id = testing::kPeerCommId ^ 1,
                            .answered = rdmacm::Answered::kReq,
                            .reason = rdmacm::RejectReason::kConsumer};
  b.cm().handoff().AnsweredElsewhere(b.id, OctetsOf(other), b.now_us);
  b.Receive(b.Req());
  EXPECT_EQ(b.TakeAll(), "|");
}

}  // namespace
}  // namespace softdat::softnet
