// SPDX-License-Identifier: BSD-3-Clause
// One run of the simulation of communication management: two to four nodes that connect, to each
// other and to themselves, accept, reject, delay, abandon and disconnect, over a network that
// loses, doubles and reorders (what is corrupted does not get through the ICRC: it is lost). In
// some runs nodes crash, links are cut, and a node sends forgeries of what others said. All of it
// is drawn from the seed. What every run must keep:
//
//   - each Connect is answered once and in time, and ends once; so does each Accept;
//   - both ends tell the same story: what each knows of the other's queue pair is so, and private
//     data arrive whole; nobody is rejected but by the other's consumer;
//   - nobody stays connected when the other is not (of a node that crashed, and of links that are
//     cut, nothing is asked);
//   - a request comes to the consumer once; again only if an earlier one failed;
//   - the number of messages is bounded, and behind the shut-down nothing is left: no exchange, no
//     QPN, no timer.
#ifndef SOFTDAT_TESTS_SIM_CM_PROGRAM_H_
#define SOFTDAT_TESTS_SIM_CM_PROGRAM_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/sim/cm_node.h"

namespace softdat::sim {

class CmProgram final : private CmNodeSink {
 public:
  explicit CmProgram(uint64_t seed);

  // Runs to the end. Empty when all invariants held, else what did not.
  std::string Run();

  // What happened, so that runs can be compared and counted.
  struct Tally {
    uint64_t connects = 0, established = 0, rejected = 0, timed_out = 0, unreachable = 0;
    uint64_t failed = 0, abandoned = 0, withdrawn = 0, accepts = 0, aborted = 0;
    uint64_t by_data = 0, by_peer = 0, by_self = 0, stale = 0, forged = 0, messages = 0;
    uint64_t end_us = 0;
  };
  const Tally& tally() const { return tally_; }

 private:
  enum class Answer : uint8_t { kNone, kAccept, kReject, kAbandon };
  // One end of a connection as its consumer sees it.
  struct End {
    CmNode* node = nullptr;
    int life = 0;
    softnet::CmId id = 0;
    uint32_t qpn = 0, psn = 0;
    softnet::CmDepths depths{};
    softnet::CmPeer peer{};
    int answers = 0;  // reply or failure; established or failure
    bool replied = false, established = false, failed = false, ended = false, over = false;
    bool withdrawn = false;
    bool abandoned = false;         // by its own consumer
    bool disconnected = false;      // the same
    Answer answer = Answer::kNone;  // of a passive one
    uint64_t answered_us = 0;

    bool dead() const { return node->life() != life; }
    bool open() const { return established && !ended && !abandoned && !dead(); }
  };
  struct Attempt {
    int from = 0, to = 0;
    softnet::CmConnect parameters{};
    uint64_t started_us = 0;
    bool listened = true;
    bool begun = false;
    End active;
    std::vector<std::unique_ptr<End>> passive;  // one for each request that arrived
  };
  using EndKey = std::tuple<int, int, softnet::CmId>;  // node, its life, id

  static constexpr uint64_t kShutDownUs = 60'000'000;

  uint64_t Draw(uint64_t bound) { return random_() % bound; }
  uint64_t Pick(std::initializer_list<uint64_t> of) { return of.begin()[Draw(of.size())]; }
  void Expect(bool ok, const std::string& what);
  CmNode& node(int i) { return *nodes_[static_cast<size_t>(i)]; }
  void After(uint64_t delay_us, const End& end, std::function<void()> action);

  // cm_program_plan.cc
  LinkOptions DrawLink();
  softnet::CmOptions DrawOptions();
  // Of node `from`; -1: of any.
  void PlanConnects(int from, uint64_t connects, uint64_t earliest_us, uint64_t within_us);
  void PlanFaults();
  void PlanForgeries();
  void BeginConnect(uint64_t number);
  void PlanEnd(End* end);
  void EndByConsumer(End* end, bool abandon);
  void ShutDown();

  // cm_program.cc: what the nodes tell
  void OnEvent(CmNode& node, const softnet::CmEvent& event) override;
  void OnData(CmNode& node, uint32_t qpn) override;
  std::pair<uint64_t, End*> Find(const CmNode& node, softnet::CmId id);
  void On(CmNode& node, const softnet::CmRequestArrived& event);
  void On(CmNode& node, const softnet::CmWithdrawn& event);
  void On(CmNode& node, const softnet::CmForNewOwner& event);
  void On(CmNode& node, const softnet::CmReplyArrived& event);
  void On(CmNode& node, const softnet::CmEstablished& event);
  void On(CmNode& node, const softnet::CmFailed& event);
  void On(CmNode& node, const softnet::CmDisconnected& event);
  void On(CmNode& node, const softnet::CmOver& event);
  void AnswerRequest(uint64_t number, End* end);
  void BecomeReady(uint64_t number, End* end);

  // cm_program_check.cc
  void CheckReply(uint64_t number, const softnet::CmReplyArrived& event);
  void CheckFailure(uint64_t number, const End& end, const softnet::CmFailed& event);
  void CheckSecondRequest(uint64_t number);
  void CheckAgreement();
  void CheckLeftovers();

  const uint64_t seed_;
  std::mt19937_64 random_;
  VirtualTime time_;
  std::unique_ptr<Network> network_;
  std::vector<std::unique_ptr<CmNode>> nodes_;
  bool faults_ = false;  // a node crashes, or a link is cut
  bool forgeries_ = false;
  std::map<uint64_t, Attempt> attempts_;  // by number, which goes in the private data
  std::map<EndKey, std::pair<uint64_t, End*>> ends_;
  std::vector<std::unique_ptr<End>> strangers_;
  std::string wrong_;
  Tally tally_;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_CM_PROGRAM_H_
