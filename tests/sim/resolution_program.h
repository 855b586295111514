// SPDX-License-Identifier: BSD-3-Clause
// One run of the simulation of service resolution (SIDR): two to four nodes ask each other and
// themselves for queue pairs for datagrams, over a network that loses, doubles and reorders. Some
// ask where nobody listens, or are gone before the answer; some answers come late. All of it is
// drawn from the seed. What every run must keep:
//
//   - each question has one outcome, in time, unless its asker is gone: then it has none;
//   - the outcome is what the other's consumer said, with its queue pair and its private data;
//   - a request comes to the consumer once, as long as its answer is kept;
//   - the number of messages is bounded, and in the end nothing is left.
#ifndef SOFTDAT_TESTS_SIM_RESOLUTION_PROGRAM_H_
#define SOFTDAT_TESTS_SIM_RESOLUTION_PROGRAM_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "provider_softnet/cm/service_resolution.h"
#include "tests/sim/network.h"
#include "tests/sim/virtual_time.h"

namespace softdat::sim {

class ResolutionProgram {
 public:
  explicit ResolutionProgram(uint64_t seed);

  // Runs to the end. Empty when all invariants held, else what did not.
  std::string Run();

  // What happened, so that runs can be compared and counted.
  struct Tally {
    uint64_t resolved = 0, rejected = 0, unlistened = 0, timed_out = 0, unreachable = 0;
    uint64_t cancelled = 0, messages = 0, end_us = 0;
  };
  const Tally& tally() const { return tally_; }

 private:
  enum class Answer : uint8_t { kAccept, kReject, kNobody };
  struct Question {
    size_t from = 0, to = 0;
    uint64_t timeout_us = softnet::kCmNever;
    uint64_t started_us = 0;
    uint64_t think_us = 0;   // before the answer
    uint64_t listen_us = 0;  // the consumer listens from then on
    uint64_t cancel_us = 0;  // the asker goes; 0: never
    Answer answer = Answer::kAccept;
    uint32_t qpn = 0;  // of the answer
    softnet::SidrId id = 0;
    int outcomes = 0;
    int arrivals = 0;          // that were listened to
    uint64_t answered_us = 0;  // the last time
    bool cancelled = false;
  };
  struct Node {
    std::unique_ptr<softnet::ServiceResolution> end;
    std::mt19937_64 random;
    std::map<softnet::SidrId, uint64_t> asked;  // numbers of questions
    VirtualTime::Id timer = 0;
  };

  uint64_t Draw(uint64_t bound) { return random_() % bound; }
  uint64_t Pick(std::initializer_list<uint64_t> of) { return of.begin()[Draw(of.size())]; }
  void Expect(bool ok, const std::string& what);
  LinkOptions DrawLink();
  void Plan(uint64_t number);
  void Ask(uint64_t number);
  void Settle(size_t node);
  void OnPacket(size_t node, int from, const Network::Bytes& bytes);
  void On(size_t node, const softnet::SidrRequestArrived& event);
  void On(size_t node, const softnet::SidrResolved& event);
  void On(size_t node, const softnet::SidrFailed& event);
  void Reply(size_t node, softnet::SidrId id, uint64_t number);
  // The question whose outcome this is; null for what it should not be.
  Question* OutcomeOf(size_t node, softnet::SidrId id);

  const uint64_t seed_;
  std::mt19937_64 random_;
  VirtualTime time_;
  std::unique_ptr<Network> network_;
  std::vector<Node> nodes_;
  std::map<uint64_t, Question> questions_;  // by number, which goes in the private data
  std::string wrong_;
  Tally tally_;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_RESOLUTION_PROGRAM_H_
