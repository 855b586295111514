// SPDX-License-Identifier: BSD-3-Clause
// One run of the simulation of connecting. Two to eight nodes listen, connect, accept, reject,
// refuse, give up, exchange messages and disconnect. Strangers flood them or send garbage. The
// network loses packets. In some runs nodes crash or vanish and links are cut. All of it is drawn
// from the seed. Every run must keep these invariants:
//
//   - each Connect and each Accept is reported once, and so is the end of what was established;
//   - both ends tell the same story: established at both or at neither, rejected only by a
//     consumer, and private data arrive whole;
//   - nobody waits beyond its time limit, and half-open connections never exceed theirs;
//   - messages arrive once, in order and whole, and a graceful disconnect delivers them all;
//   - after the shut-down nothing is left: no connection, stream, timer or region.
//
// Some exceptions are allowed. The checks name them in their place:
//
//   - A connection is established for the initiator and failed for the acceptor if the initiator's
//     first bytes did not arrive within the acceptor's time limit, or if its link was reset by a
//     fault or by its own abrupt disconnect.
//   - An initiator that sends no ready-to-receive message (MPA revision 1): the connection is
//     established for the acceptor. Its Reply came too late for the initiator, or never because the
//     acceptor had left meanwhile. As long as such an initiator sends nothing, the acceptor must
//     not send either, whatever its disconnect waits for.
//   - Nothing is asked of a node that crashed or vanished.
#ifndef SOFTDAT_TESTS_SIM_CONNECT_PROGRAM_H_
#define SOFTDAT_TESTS_SIM_CONNECT_PROGRAM_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/sim/connecting_node.h"

namespace softdat::sim {

class ConnectProgram final : private PartySink {
 public:
  explicit ConnectProgram(uint64_t seed);
  ~ConnectProgram() override;

  // Runs to the end. Returns an empty text if all invariants held, else the one that did not.
  std::string Run();

  // Counts of what happened, so that runs can be compared.
  struct Tally {
    uint64_t events = 0;
    uint64_t connects = 0, established = 0, rejected = 0, timed_out = 0, failed = 0, given_up = 0;
    uint64_t accepts = 0, accept_failures = 0, messages = 0, intruders = 0;
    uint64_t most_half_open = 0;
    uint64_t end_us = 0;
  };
  const Tally& tally() const { return tally_; }

 private:
  enum class Result : uint8_t { kNone, kEstablished, kFailed, kGivenUp };
  enum class Answer : uint8_t { kNone, kAccept, kReject, kRefuse };
  // One end of a connection as its consumer sees it.
  struct End {
    Party* party = nullptr;  // until it is over
    int node = 0;
    Result result = Result::kNone;
    int reports = 0, ends = 0;
    transport::RejectReason reason = transport::RejectReason::kNonPeer;
    std::string why;
    StreamId link = 0;         // which of the attempt's links: Party::initiator_link()
    std::vector<uint8_t> got;  // private data
    // Messages.
    size_t inbox = 0, outbox = 0;
    uint64_t posted = 0, completed = 0, send_failures = 0, received = 0, receives = 0;
    bool disconnected = false;  // by its own consumer
    bool graceful = false;
    transport::EndReason end_reason = transport::EndReason::kDisconnected;
    // Of an accepted connection.
    Answer answer = Answer::kNone;
    std::vector<uint8_t> answered;  // with these private data
    bool peer_to_peer = false;
  };
  struct Attempt {
    int from = 0;
    ConnectParameters parameters;
    uint64_t started_us = 0;
    End active;
    std::vector<std::unique_ptr<End>> passive;  // one for each request that arrived
  };
  struct Stranger {
    int from = 0;
    std::vector<uint8_t> words;
    bool leaves = false;
  };

  static constexpr uint32_t kMessage = 256;
  static constexpr uint32_t kReceives = 8;
  static constexpr uint64_t kShutDownUs = 100'000'000;

  uint64_t Draw(uint64_t bound) { return random_() % bound; }
  uint64_t Pick(std::initializer_list<uint64_t> of) { return of.begin()[Draw(of.size())]; }
  void Expect(bool ok, const std::string& what);
  bool dead(int node) const { return dead_[static_cast<size_t>(node)]; }
  ConnectingNode& node(int i) { return *nodes_[static_cast<size_t>(i)]; }
  std::vector<uint8_t> PrivateData(uint64_t number);

  // connect_program_plan.cc
  LinkOptions DrawLink();
  NodeOptions DrawNode();
  void PlanServices();
  void PlanConnects();
  void PlanStrangers();
  void PlanFaults();
  void BeginConnect(uint64_t number);
  void BeginStranger(int from, Address to);
  std::vector<uint8_t> StrangersWords();
  void KillNode(int i, bool vanish);
  void ShutDown();

  // connect_program.cc: PartySink, and what follows from it
  void OnRequest(Party& party, Data private_data) override;
  void OnEstablished(Party& party, Data private_data) override;
  void OnFailed(Party& party, transport::RejectReason reason, Data private_data,
                const std::string& why) override;
  void OnEnded(Party& party, transport::EndReason reason, const std::string& why) override;
  void OnMoved(Party& party) override;
  void OnStranger(const StreamEvent& event) override;
  std::pair<uint64_t, End*> Find(const Party& party);
  void Forget(End* end);
  void AnswerRequest(uint64_t number, End* end);
  void CheckReceived(uint64_t number, End* end, const transport::Completion& c);
  void PostReceive(End* end);
  void PlanTraffic(uint64_t number, End* end);
  void PostMessage(uint64_t number, End* end);
  void EndByConsumer(End* end);

  // connect_program_check.cc
  void CheckLimits();
  void CheckLeftovers();
  void CheckReports(uint64_t number, const Attempt& attempt);
  static bool TooLate(const End& acceptor);
  void CheckAcceptor(uint64_t number, const End& active, const End& passive);
  void CheckInitiator(uint64_t number, const Attempt& attempt);
  void CheckMessages(uint64_t number, const End& from, const End& to, bool by_initiator);

  const uint64_t seed_;
  std::mt19937_64 random_;
  VirtualTime time_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<ByteStreams> streams_;
  std::vector<std::unique_ptr<ConnectingNode>> nodes_;
  std::vector<bool> dead_;
  bool faults_ = false;                   // a node dies, or a link is cut
  std::map<uint64_t, Attempt> attempts_;  // by number, which goes in the private data; 0: strangers
  std::map<const Party*, std::pair<uint64_t, End*>> ends_;
  std::map<StreamId, Stranger> strangers_;
  std::string wrong_;
  Tally tally_;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_CONNECT_PROGRAM_H_
