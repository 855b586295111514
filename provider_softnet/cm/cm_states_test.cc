// SPDX-License-Identifier: BSD-3-Clause
// Every message in every state: what becomes of the exchange, what is sent, what the consumer is
// told. A pair that has no line here changes nothing, sends nothing and tells nothing.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "provider_softnet/cm/testing/cm_bench.h"

namespace softdat::softnet {
namespace {

using rdmacm::Answered;
using rdmacm::CmMessage;
using rdmacm::RejectReason;
using testing::CmBench;
using testing::NameOf;

struct Situation {
  const char* name;
  std::function<void(CmBench*)> reach;
};

void EndActively(CmBench* b) {
  b->EstablishActively();
  b->cm().Disconnect(b->id, b->now_us);
  b->TakeAll();
}

void EndPassively(CmBench* b) {
  b->EstablishPassively();
  b->cm().Disconnect(b->id, b->now_us);
  b->TakeAll();
}

const std::vector<Situation>& Situations() {
  static const std::vector<Situation> all = {
      {"none", [](CmBench*) {}},
      {"active: request sent", [](CmBench* b) { b->Connect(); }},
      {"active: pausing",
       [](CmBench* b) {
         b->Connect();
         b->Receive(b->Rej(RejectReason::kStaleConnection));
       }},
      {"active: reply received", [](CmBench* b) { b->ReplyArrives(); }},
      {"active: established", [](CmBench* b) { b->EstablishActively(); }},
      {"active: disconnecting", EndActively},
      {"active: time-wait",
       [](CmBench* b) {
         EndActively(b);
         b->Receive(b->Drep());
       }},
      {"active: rejected",
       [](CmBench* b) {
         b->ReplyArrives();
         b->cm().Abandon(b->id, b->now_us);
       }},
      {"passive: request received", [](CmBench* b) { b->RequestArrives(); }},
      {"passive: withdrawn",
       [](CmBench* b) {
         b->RequestArrives();
         b->Receive(b->RejOfUnknown());
       }},
      {"passive: handed off",
       [](CmBench* b) {
         b->RequestArrives();
         b->cm().handoff().HandOff(b->id);
       }},
      {"passive: handed off and answered",
       [](CmBench* b) {
         b->RequestArrives();
         b->cm().handoff().HandOff(b->id);
         b->cm().handoff().AnsweredElsewhere(b->id, {}, b->now_us);
       }},
      {"passive: handed off and refused",
       [](CmBench* b) {
         b->RequestArrives();
         b->cm().handoff().HandOff(b->id);
         MadOctets refusal;
         rdmacm::EncodeMad(
             {testing::kPeerTransaction, rdmacm::CmRej{.local_comm_id = 0x88,
                                                       .remote_comm_id = testing::kPeerCommId,
                                                       .answered = Answered::kReq,
                                                       .reason = RejectReason::kConsumer}},
             refusal);
         b->cm().handoff().AnsweredElsewhere(b->id, refusal, b->now_us);
       }},
      {"passive: reply sent", [](CmBench* b) { b->Accept(); }},
      {"passive: established", [](CmBench* b) { b->EstablishPassively(); }},
      {"passive: disconnecting", EndPassively},
      {"passive: time-wait",
       [](CmBench* b) {
         EndPassively(b);
         b->Receive(b->Drep());
       }},
      {"passive: rejected",
       [](CmBench* b) {
         b->RequestArrives();
         b->cm().Reject(b->id, RejectReason::kConsumer, {}, b->now_us);
       }},
  };
  return all;
}

struct Message {
  const char* name;
  std::function<CmMessage(CmBench*)> make;
};

const std::vector<Message>& Messages() {
  static const std::vector<Message> all = {
      {"REQ", [](CmBench* b) { return b->Req(); }},
      {"REQ, same id",
       [](CmBench* b) {
         rdmacm::CmReq req = b->Req();
         req.starting_psn ^= 1;
         return req;
       }},
      {"REQ, same pair",
       [](CmBench* b) {
         rdmacm::CmReq req = b->Req();
         req.local_comm_id ^= 1;
         return req;
       }},
      {"REQ, other pair",
       [](CmBench* b) {
         rdmacm::CmReq req = b->Req();
         req.local_comm_id ^= 1;
         req.local_qpn ^= 1;
         return req;
       }},
      {"MRA of REQ", [](CmBench* b) { return b->Mra(Answered::kReq); }},
      {"MRA of REP", [](CmBench* b) { return b->Mra(Answered::kRep); }},
      {"REP", [](CmBench* b) { return b->Rep(); }},
      {"REP, other id",
       [](CmBench* b) {
         rdmacm::CmRep rep = b->Rep();
         rep.local_comm_id ^= 1;
         return rep;
       }},
      {"RTU", [](CmBench* b) { return b->Rtu(); }},
      {"REJ", [](CmBench* b) { return b->Rej(RejectReason::kNoResources); }},
      {"REJ, other id",
       [](CmBench* b) {
         rdmacm::CmRej rej = b->Rej(RejectReason::kNoResources);
         rej.local_comm_id ^= 1;
         return rej;
       }},
      {"REJ of unknown", [](CmBench* b) { return b->RejOfUnknown(); }},
      {"DREQ", [](CmBench* b) { return b->Dreq(); }},
      {"DREQ, other QPN",
       [](CmBench* b) {
         rdmacm::CmDreq dreq = b->Dreq();
         dreq.remote_qpn ^= 1;
         return dreq;
       }},
      {"DREQ, other id",
       [](CmBench* b) {
         rdmacm::CmDreq dreq = b->Dreq();
         dreq.local_comm_id ^= 1;
         return dreq;
       }},
      {"DREP", [](CmBench* b) { return b->Drep(); }},
      {"SIDR_REP",
       [](CmBench*) { return rdmacm::SidrRep{.request_id = 1, .service_id = testing::kService}; }},
  };
  return all;
}

// (situation, message) -> "state; sent | told"
using Expectations = std::map<std::pair<std::string, std::string>, std::string>;

const Expectations& Expected() {
  static const Expectations all = {
#include "provider_softnet/cm/testing/expected_states.inc"
  };
  return all;
}

std::string RunPair(const Situation& situation, const Message& message, uint8_t from) {
  CmBench bench;
  situation.reach(&bench);
  bench.TakeAll();
  bench.Receive(message.make(&bench), from);
  return NameOf(bench.state()) + "; " + bench.TakeAll();
}

std::string Unchanged(const Situation& situation) {
  CmBench bench;
  situation.reach(&bench);
  return NameOf(bench.state()) + "; |";
}

TEST(CmStatesTest, EveryMessageInEveryState) {
  size_t found = 0;
  for (const Situation& situation : Situations()) {
    for (const Message& message : Messages()) {
      const auto line = Expected().find({situation.name, message.name});
      found += line != Expected().end();
      const std::string expected = line != Expected().end() ? line->second : Unchanged(situation);
      EXPECT_EQ(RunPair(situation, message, 2), expected)
          << "{{\"" << situation.name << "\", \"" << message.name << "\"}, \""
          << RunPair(situation, message, 2) << "\"},";
    }
  }
  EXPECT_EQ(found, Expected().size()) << "a line that names nothing";
}

// What another host says of an exchange is not believed. Its own requests are heard, and a DREQ is
// answered by whoever gets it.
TEST(CmStatesTest, AnotherHostChangesNothing) {
  for (const Situation& situation : Situations()) {
    for (const Message& message : Messages()) {
      const std::string name = message.name;
      std::string expected = Unchanged(situation);
      if (name.starts_with("REQ")) expected = Unchanged(situation) + " request";
      if (name.starts_with("DREQ")) expected.insert(expected.find('|'), "DREP ");
      // Nothing is known of the comm ID 0.
      if (name.starts_with("REP") && Unchanged(situation) == "none; |") expected = "none; REJ:6 |";
      if (std::string(situation.name) == "passive: request received" ||
          std::string(situation.name) == "passive: withdrawn" ||
          std::string(situation.name) == "passive: rejected" ||
          std::string(situation.name).starts_with("passive: handed off")) {
        // Its comm ID is not known to anybody, so that the peer cannot name it.
        if (name.starts_with("REP")) expected.insert(expected.find('|'), "REJ:6 ");
      }
      EXPECT_EQ(RunPair(situation, message, 3), expected) << situation.name << ", " << message.name;
    }
  }
}

}  // namespace
}  // namespace softdat::softnet
