// SPDX-License-Identifier: BSD-3-Clause
// Service resolution, message by message: one end, and a peer that is played by hand.
#include "provider_softnet/cm/service_resolution.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "provider_softnet/cm/testing/cm_bench.h"
#include "wire/rdmacm/mad.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::softnet {
namespace {

using rdmacm::CmField;
using rdmacm::FieldWriter;
using rdmacm::SidrRep;
using rdmacm::SidrReq;
using rdmacm::SidrStatus;
using testing::Host;
using transport::RejectReason;

constexpr uint64_t kService = 0x01111388;
constexpr uint32_t kQkey = 0x01234567;

class ServiceResolutionTest : public ::testing::Test {
 protected:
  // A message that was sent. The private data of `message` point into `octets`.
  struct Sent {
    sockaddr_storage to{};
    std::array<uint8_t, rdmacm::kMadSize> octets{};
    rdmacm::Mad mad{};
  };

  void Make(const CmOptions& options) {
    end_.emplace(options, [this] { return random_(); });
  }
  void SetUp() override { Make({}); }

  std::vector<Sent> TakeSent() {
    std::vector<Sent> all;
    while (const auto out = end_->TakeOutgoing()) {
      all.emplace_back();
      all.back().to = out->to;
      all.back().octets = out->mad;
    }
    for (Sent& sent : all)
      EXPECT_EQ(rdmacm::ParseMad(sent.octets, &sent.mad), rdmacm::MadParse::kOk);
    return all;
  }
  Sent OnlySent() {
    std::vector<Sent> all = TakeSent();
    EXPECT_EQ(all.size(), 1u);
    Sent sent = all.empty() ? Sent() : all[0];
    rdmacm::ParseMad(sent.octets, &sent.mad);
    return sent;
  }
  template <typename T>
  T OnlyEvent() {
    std::vector<SidrEvent> all;
    while (auto event = end_->TakeEvent()) all.push_back(std::move(*event));
    EXPECT_EQ(all.size(), 1u);
    if (all.empty() || !std::holds_alternative<T>(all[0])) {
      ADD_FAILURE() << "another event, or none";
      return {};
    }
    return std::get<T>(all[0]);
  }
  bool Silent() { return !end_->TakeEvent() && !end_->TakeOutgoing(); }

  void Receive(const rdmacm::CmMessage& message, uint8_t from = 2, uint64_t transaction = 99) {
    std::array<uint8_t, rdmacm::kMadSize> octets;
    EXPECT_TRUE(rdmacm::EncodeMad({transaction, message}, octets));
    rdmacm::Mad mad;
    EXPECT_EQ(rdmacm::ParseMad(octets, &mad), rdmacm::MadParse::kOk);
    end_->OnMad(Host(from), mad, now_us_);
  }
  void Wait() {
    now_us_ = end_->deadline_us();
    end_->OnTime(now_us_);
  }

  // Asks host 2. The request id is in asked_.
  SidrId Ask(SidrResolve p = {}) {
    p.remote = Host(2);
    p.service_id = kService;
    const SidrId id = end_->Resolve(p, now_us_);
    const Sent sent = OnlySent();
    const auto* const req = std::get_if<SidrReq>(&sent.mad.message);
    EXPECT_NE(req, nullptr);
    if (req != nullptr) asked_ = req->request_id;
    return id;
  }
  SidrRep Reply(SidrStatus status = SidrStatus::kOk) const {
    SidrRep rep;
    rep.request_id = asked_;
    rep.status = status;
    rep.qpn = status == SidrStatus::kOk ? 0x77 : 0;
    rep.qkey = status == SidrStatus::kOk ? kQkey : 0;
    rep.service_id = kService;
    return rep;
  }

  uint64_t now_us_ = 1'000'000;
  std::mt19937_64 random_{1};
  std::optional<ServiceResolution> end_;
  uint32_t asked_ = 0;
};

TEST_F(ServiceResolutionTest, AQuestionIsAnswered) {
  const std::array<uint8_t, 3> data = {1, 2, 3};
  SidrResolve p;
  p.remote = Host(2);
  p.service_id = kService;
  p.private_data = data;
  const SidrId id = end_->Resolve(p, now_us_);
  const Sent sent = OnlySent();
  EXPECT_EQ(testing::Host(2).ss_family, sent.to.ss_family);
  const auto& req = std::get<SidrReq>(sent.mad.message);
  EXPECT_NE(req.request_id, 0u);
  EXPECT_EQ(req.service_id, kService);
  EXPECT_EQ(req.pkey, 0xffff);
  EXPECT_EQ(req.private_data[2], 3);
  // As Linux does it: the low half of the transaction is the id.
  EXPECT_EQ(static_cast<uint32_t>(sent.mad.transaction_id), req.request_id);
  asked_ = req.request_id;
  SidrRep rep = Reply();
  rep.private_data = data;
  Receive(rep);
  const auto resolved = OnlyEvent<SidrResolved>();
  EXPECT_EQ(resolved.id, id);
  EXPECT_EQ(resolved.qpn, 0x77u);
  EXPECT_EQ(resolved.qkey, kQkey);
  EXPECT_EQ(resolved.private_data[1], 2);
  EXPECT_EQ(end_->size(), 0u);
  EXPECT_EQ(end_->deadline_us(), kCmNever);
  Receive(rep);  // the same again
  EXPECT_TRUE(Silent());
}

TEST_F(ServiceResolutionTest, SilenceIsAskedAgainAtLongerIntervals) {
  Ask();
  const uint64_t begin = now_us_;
  std::vector<uint64_t> pauses;
  uint64_t last = begin;
  while (end_->size() > 0) {
    Wait();
    if (TakeSent().empty()) break;
    pauses.push_back(now_us_ - last);
    last = now_us_;
  }
  ASSERT_EQ(pauses.size(), 15u);  // with the first one, as often as rdma_cm
  EXPECT_EQ(pauses[0], 100'000u);
  EXPECT_EQ(pauses[1], 200'000u);
  EXPECT_EQ(pauses.back(), 4'000'000u);
  const auto failed = OnlyEvent<SidrFailed>();
  EXPECT_EQ(failed.reason, RejectReason::kUnreachable);
  EXPECT_NE(failed.why.find("16 requests"), std::string::npos) << failed.why;
}

TEST_F(ServiceResolutionTest, TheTimeOfTheConsumerCounts) {
  const SidrId id = Ask({.timeout_us = 250'000});
  const uint64_t begin = now_us_;
  while (end_->size() > 0) Wait();
  EXPECT_EQ(now_us_ - begin, 250'000u);
  EXPECT_EQ(TakeSent().size(), 1u);
  const auto failed = OnlyEvent<SidrFailed>();
  EXPECT_EQ(failed.id, id);
  EXPECT_EQ(failed.reason, RejectReason::kTimedOut);
  Receive(Reply());  // too late
  EXPECT_TRUE(Silent());
}

TEST_F(ServiceResolutionTest, EachStatusHasItsMeaning) {
  struct Case {
    SidrStatus status;
    RejectReason reason;
    const char* why;
  };
  const Case cases[] = {
      {SidrStatus::kUnsupportedServiceId, RejectReason::kNonPeer, "nobody listens"},
      {SidrStatus::kRejected, RejectReason::kNonPeer, "rejected"},
      {SidrStatus::kNoQp, RejectReason::kNonPeer, "no QP"},
      {SidrStatus::kRedirect, RejectReason::kNonPeer, "redirection"},
      {SidrStatus::kUnsupportedVersion, RejectReason::kNonPeer, "version"},
      {static_cast<SidrStatus>(77), RejectReason::kNonPeer, "77"},
  };
  for (const Case& c : cases) {
    const SidrId id = Ask();
    Receive(Reply(c.status));
    const auto failed = OnlyEvent<SidrFailed>();
    EXPECT_EQ(failed.id, id);
    EXPECT_EQ(failed.reason, c.reason) << c.why;
    EXPECT_NE(failed.why.find(c.why), std::string::npos) << failed.why;
    EXPECT_TRUE(failed.private_data.empty());
  }
}

TEST_F(ServiceResolutionTest, AConsumersRejectIsToldFromARefusal) {
  const std::array<uint8_t, 2> no = {'n', 'o'};
  const auto told = [&](const FieldWriter& field) {
    Ask();
    SidrRep rep = Reply(SidrStatus::kRejected);
    rep.private_data = {field.data(), field.size()};
    Receive(rep);
    return OnlyEvent<SidrFailed>();
  };
  const SidrFailed ours = told(FieldWriter(CmField::kSidrReject, true, std::nullopt, no));
  EXPECT_EQ(ours.reason, RejectReason::kPeer);
  EXPECT_EQ(ours.private_data, std::vector<uint8_t>({'n', 'o'}));
  const SidrFailed empty = told(FieldWriter(CmField::kSidrReject, true, std::nullopt, {}));
  EXPECT_EQ(empty.reason, RejectReason::kPeer);
  const SidrFailed foreign = told(FieldWriter(CmField::kSidrReject, false, std::nullopt, no));
  EXPECT_EQ(foreign.reason, RejectReason::kPeer);
  EXPECT_EQ(foreign.private_data.size(), rdmacm::kSidrRepPrivateSize);
  EXPECT_EQ(told(FieldWriter::Refusal(true, CmField::kSidrReject)).reason, RejectReason::kNonPeer);
}

TEST_F(ServiceResolutionTest, AReplyWithoutAQueuePairIsNone) {
  Ask();
  SidrRep rep = Reply();
  rep.qpn = 1;
  Receive(rep);
  EXPECT_EQ(OnlyEvent<SidrFailed>().reason, RejectReason::kUnreachable);
}

TEST_F(ServiceResolutionTest, AnotherHostsReplyIsNotBelieved) {
  Ask();
  Receive(Reply(), 3);
  EXPECT_TRUE(Silent());
  Receive(Reply());
  EXPECT_EQ(OnlyEvent<SidrResolved>().qpn, 0x77u);
}

TEST_F(ServiceResolutionTest, NobodyListensYet) {
  const SidrId id = Ask({.grace_us = 300'000});
  const uint64_t begin = now_us_;
  uint32_t asked = 0;
  while (now_us_ - begin < 300'000) {
    Receive(Reply(SidrStatus::kUnsupportedServiceId));
    if (end_->size() == 0) break;
    Wait();
    for (const Sent& sent : TakeSent()) {
      EXPECT_EQ(std::get<SidrReq>(sent.mad.message).request_id, asked_);
      ++asked;
    }
  }
  EXPECT_GT(asked, 10u);
  Receive(Reply(SidrStatus::kUnsupportedServiceId));
  const auto failed = OnlyEvent<SidrFailed>();
  EXPECT_EQ(failed.id, id);
  EXPECT_EQ(failed.reason, RejectReason::kNonPeer);
}

TEST_F(ServiceResolutionTest, WhoeverIsGoneIsToldNothing) {
  const SidrId id = Ask();
  end_->Cancel(id);
  EXPECT_EQ(end_->size(), 0u);
  EXPECT_EQ(end_->deadline_us(), kCmNever);
  Receive(Reply());
  EXPECT_TRUE(Silent());
  end_->Cancel(id);
}

TEST_F(ServiceResolutionTest, IdsAreOfTheMembersBlock) {
  Make({.comm_id_block = 0x123});
  for (int i = 0; i < 100; ++i) {
    Ask();
    EXPECT_EQ(asked_ >> 20, 0x123u);
  }
}

TEST_F(ServiceResolutionTest, WhatCannotBeSentFailsAtOnce) {
  const std::vector<uint8_t> long_data(rdmacm::kSidrReqPrivateSize + 1);
  SidrResolve p;
  p.remote = Host(2);
  p.private_data = long_data;
  end_->Resolve(p, now_us_);
  EXPECT_FALSE(end_->TakeOutgoing());
  EXPECT_EQ(OnlyEvent<SidrFailed>().reason, RejectReason::kNonPeer);
  p.remote = {};
  p.private_data = {};
  end_->Resolve(p, now_us_);
  EXPECT_EQ(OnlyEvent<SidrFailed>().reason, RejectReason::kUnreachable);
  EXPECT_EQ(end_->size(), 0u);
}

// ---- the answering end ----

SidrReq RequestOf(uint32_t request_id) {
  SidrReq req;
  req.request_id = request_id;
  req.service_id = kService;
  return req;
}

TEST_F(ServiceResolutionTest, AnAcceptIsRepeatedForWhoDidNotHearIt) {
  const std::array<uint8_t, 2> data = {8, 9};
  Receive(RequestOf(5));
  const auto request = OnlyEvent<SidrRequestArrived>();
  EXPECT_EQ(request.service_id, kService);
  Receive(RequestOf(5));  // while the consumer thinks
  EXPECT_TRUE(Silent());
  end_->Accept(request.id, {.qpn = 0x44, .qkey = kQkey, .private_data = data}, now_us_);
  const Sent first = OnlySent();
  const auto& rep = std::get<SidrRep>(first.mad.message);
  EXPECT_EQ(first.mad.transaction_id, 99u);
  EXPECT_EQ(rep.request_id, 5u);
  EXPECT_EQ(rep.status, SidrStatus::kOk);
  EXPECT_EQ(rep.qpn, 0x44u);
  EXPECT_EQ(rep.qkey, kQkey);
  EXPECT_EQ(rep.service_id, kService);
  EXPECT_EQ(rep.private_data[1], 9);
  Receive(RequestOf(5));
  EXPECT_EQ(OnlySent().octets, first.octets);
  end_->Accept(request.id, {.qpn = 0x45}, now_us_);  // answered already
  EXPECT_TRUE(Silent());
  Wait();  // until it is forgotten
  EXPECT_EQ(end_->size(), 0u);
  Receive(RequestOf(5));
  EXPECT_NE(OnlyEvent<SidrRequestArrived>().id, request.id);
}

TEST_F(ServiceResolutionTest, ARejectIsRepeatedToo) {
  const std::array<uint8_t, 1> data = {7};
  Receive(RequestOf(5));
  end_->Refuse(OnlyEvent<SidrRequestArrived>().id, SidrStatus::kRejected, data, now_us_);
  const Sent first = OnlySent();
  const auto& rep = std::get<SidrRep>(first.mad.message);
  EXPECT_EQ(rep.status, SidrStatus::kRejected);
  EXPECT_EQ(rep.qpn, 0u);
  EXPECT_EQ(rep.qkey, 0u);
  EXPECT_EQ(rep.private_data[0], 7);
  Receive(RequestOf(5));
  EXPECT_EQ(OnlySent().octets, first.octets);
}

// A peer that has not heard the answer asks again after 100 ms, then 200, and so on. Each of its
// questions may come to another member, which knows neither the service nor the answer.
TEST_F(ServiceResolutionTest, AnAnswerIsRepeatedUnaskedWhenItsServiceIsGone) {
  Receive(RequestOf(5));
  end_->Accept(OnlyEvent<SidrRequestArrived>().id, {.qpn = 0x44}, now_us_);
  const Sent first = OnlySent();
  const uint64_t begun_us = now_us_;
  const uint64_t service = std::get<SidrRep>(first.mad.message).service_id;
  end_->RepeatAnswers(service + 1, now_us_);
  EXPECT_TRUE(Silent());
  std::vector<uint64_t> again_ms;
  end_->RepeatAnswers(service, now_us_);
  while (end_->size() > 0) {
    for (const Sent& again : TakeSent()) {
      EXPECT_EQ(again.octets, first.octets);
      again_ms.push_back((now_us_ - begun_us) / 1000);
    }
    Wait();
    end_->RepeatAnswers(service, now_us_);  // once is enough
  }
  EXPECT_EQ(again_ms, (std::vector<uint64_t>{0, 50, 150, 350, 750, 1550, 3150, 6350}));
  EXPECT_TRUE(Silent());
  EXPECT_EQ(end_->deadline_us(), kCmNever);
}

TEST_F(ServiceResolutionTest, ThatNobodyListensIsNotKept) {
  Receive(RequestOf(5));
  end_->Refuse(OnlyEvent<SidrRequestArrived>().id, SidrStatus::kUnsupportedServiceId, {}, now_us_);
  EXPECT_EQ(std::get<SidrRep>(OnlySent().mad.message).status, SidrStatus::kUnsupportedServiceId);
  EXPECT_EQ(end_->size(), 0u);
  Receive(RequestOf(5));
  OnlyEvent<SidrRequestArrived>();
}

// The same number from another host, or from another life of the same host, is another question.
TEST_F(ServiceResolutionTest, QuestionsAreToldApart) {
  Receive(RequestOf(5), 2, 99);
  const SidrId first = OnlyEvent<SidrRequestArrived>().id;
  Receive(RequestOf(5), 3, 99);
  EXPECT_NE(OnlyEvent<SidrRequestArrived>().id, first);
  Receive(RequestOf(5), 2, 98);
  EXPECT_NE(OnlyEvent<SidrRequestArrived>().id, first);
  EXPECT_EQ(end_->size(), 3u);
}

TEST_F(ServiceResolutionTest, MemoryIsBounded) {
  Make({.most_unanswered = 2, .most_remembered = 3});
  std::vector<SidrId> ids;
  for (uint32_t i = 0; i < 10; ++i) Receive(RequestOf(i));
  while (auto event = end_->TakeEvent()) ids.push_back(std::get<SidrRequestArrived>(*event).id);
  EXPECT_EQ(ids.size(), 2u);
  for (uint32_t i = 0; i < 10; ++i) {
    for (const SidrId id : ids) end_->Accept(id, {.qpn = 0x44}, now_us_);
    ids.clear();
    Receive(RequestOf(100 + i));
    while (auto event = end_->TakeEvent()) ids.push_back(std::get<SidrRequestArrived>(*event).id);
    EXPECT_LE(end_->size(), 5u);
  }
}

TEST_F(ServiceResolutionTest, MessagesOfConnectionsAreNotItsBusiness) {
  Receive(rdmacm::CmReq{});
  Receive(rdmacm::CmRep{});
  Receive(rdmacm::CmRej{});
  EXPECT_TRUE(Silent());
}

}  // namespace
}  // namespace softdat::softnet
