// SPDX-License-Identifier: BSD-3-Clause
// The plan of a run of connecting: the network, the nodes, who connects to whom and when, and who
// disturbs them.
#include <algorithm>
#include <utility>

#include "tests/sim/connect_program.h"
#include "wire/iwarp/mpa.h"

namespace softdat::sim {

using softnet::CrcPolicy;

namespace {

// Two qualifiers that are ports, and two that share one port.
constexpr std::array<uint64_t, 4> kQualifiers = {5000, 50000, 70000, uint64_t{1} << 40};

}  // namespace

LinkOptions ConnectProgram::DrawLink() {
  LinkOptions o;
  o.max_delay_us = Pick({0, 100, 5000, 60000});
  o.min_delay_us = Draw(2) * o.max_delay_us / 2;
  o.lose_one_in = Pick({0, 0, 40, 10});
  o.burst_one_in = Pick({0, 0, 100});
  o.reorder_one_in = Pick({0, 8});
  o.reorder_us = 1 + Pick({100, 20000});
  o.duplicate_one_in = Pick({0, 10});
  o.corrupt_one_in = Pick({0, 50});
  return o;
}

NodeOptions ConnectProgram::DrawNode() {
  NodeOptions o;
  o.revision1_only = Draw(6) == 0;
  o.crc = Draw(4) != 0 ? CrcPolicy::kAuto : Draw(2) == 0 ? CrcPolicy::kOn : CrcPolicy::kOff;
  o.depth = static_cast<uint32_t>(Draw(6));
  o.half_open = 1 + Draw(6);
  o.handshake_us = Pick({300'000, 2'000'000, 8'000'000});
  return o;
}

ConnectProgram::ConnectProgram(uint64_t seed) : seed_(seed), random_(seed * 0x9e3779b97f4a7c15) {
  const int count = static_cast<int>(2 + Draw(7));
  network_ = std::make_unique<Network>(&time_, count, random_());
  network_->SetLinks(DrawLink());
  for (int i = 0; i < count; ++i) {
    if (Draw(4) == 0)
      network_->link(i, static_cast<int>(Draw(static_cast<uint64_t>(count)))) = DrawLink();
  }
  ByteStreamOptions options;
  options.segment = 1 + Pick({20, 500, 1460});
  options.connect_patience_us = Pick({3'000'000, 20'000'000});
  options.send_patience_us = 60'000'000;
  options.probe_us = 3'000'000;
  options.linger_us = 10'000'000;
  streams_ = std::make_unique<ByteStreams>(&time_, network_.get(), options);
  PartySink* const sink = this;
  for (int i = 0; i < count; ++i) {
    nodes_.push_back(std::make_unique<ConnectingNode>(i, &time_, streams_.get(), DrawNode(), sink));
  }
  dead_.resize(static_cast<size_t>(count));
  PlanServices();
  PlanFaults();
  PlanConnects();
  PlanStrangers();
  time_.At(kShutDownUs, [this] { ShutDown(); });
}

ConnectProgram::~ConnectProgram() = default;

void ConnectProgram::PlanServices() {
  for (const auto& own : nodes_) {
    ConnectingNode* const n = own.get();
    for (const uint64_t qualifier : kQualifiers) {
      if (Draw(3) == 0) continue;
      time_.At(Draw(3) == 0 ? Draw(500'000) : 0, [this, n, qualifier] {
        if (!dead(n->number())) n->Listen(qualifier);
      });
      if (Draw(8) == 0) {
        time_.At(Draw(5'000'000), [this, n, qualifier] {
          if (!dead(n->number())) n->StopListening(qualifier);
        });
      }
    }
  }
}

void ConnectProgram::PlanFaults() {
  const uint64_t count = nodes_.size();
  if (Draw(4) == 0) {
    faults_ = true;
    const int i = static_cast<int>(Draw(count));
    const bool vanish = Draw(2) == 0;
    time_.At(Draw(6'000'000), [this, i, vanish] { KillNode(i, vanish); });
  }
  for (uint64_t cuts = Draw(4) == 0 ? 1 + Draw(3) : 0; cuts > 0; --cuts) {
    faults_ = true;
    const int from = static_cast<int>(Draw(count)), to = static_cast<int>(Draw(count));
    const uint64_t at_us = Draw(6'000'000);
    time_.At(at_us, [this, from, to] { network_->SetCut(from, to, true); });
    time_.At(at_us + Draw(10'000'000), [this, from, to] {
      if (!dead(from) && !dead(to)) network_->SetCut(from, to, false);
    });
  }
}

void ConnectProgram::PlanConnects() {
  const uint64_t connects = 4 + Draw(30);
  for (uint64_t number = 1; number <= connects; ++number) {
    Attempt& a = attempts_[number];
    a.from = static_cast<int>(Draw(nodes_.size()));
    a.started_us = Draw(4'000'000);
    a.parameters.to = Draw(5) == 0 ? a.from : static_cast<int>(Draw(nodes_.size()));
    a.parameters.qualifier = kQualifiers[Draw(kQualifiers.size())];
    a.parameters.private_data = PrivateData(number);
    a.parameters.grace = std::chrono::milliseconds(Pick({0, 0, 300}));
    if (Draw(3) == 0) {
      const uint64_t limit_us = Pick({1000, 100'000, 2'000'000, 20'000'000});
      a.parameters.limit = std::chrono::microseconds(limit_us + Draw(1000));
    }
    // The local port is the one that `to` listens on, as if the system had chosen it by chance.
    if (a.parameters.to == a.from && Draw(2) == 0)
      a.parameters.local_port = PortOf(a.parameters.qualifier);
    time_.At(a.started_us, [this, number] { BeginConnect(number); });
    if (Draw(8) != 0) continue;
    time_.At(a.started_us + Draw(1'000'000), [this, number] {
      End& end = attempts_[number].active;
      if (end.party == nullptr || end.party->phase() != Party::Phase::kConnecting) return;
      end.result = Result::kGivenUp;
      ++end.reports;
      ++tally_.given_up;
      Party* const party = end.party;
      Forget(&end);
      party->GiveUp();
    });
  }
}

void ConnectProgram::BeginConnect(uint64_t number) {
  Attempt& a = attempts_[number];
  if (dead(a.from)) return;
  // A port on which somebody listens is taken.
  if (a.parameters.local_port != 0 && node(a.from).listens(a.parameters.qualifier)) {
    a.parameters.local_port = 0;
  }
  ++tally_.connects;
  a.active.node = a.from;
  a.active.party = node(a.from).Connect(a.parameters);
  ends_[a.active.party] = {number, &a.active};
}

// Bursts of strangers connect to one port.
void ConnectProgram::PlanStrangers() {
  if (Draw(2) == 0) return;
  for (uint64_t bursts = 1 + Draw(3); bursts > 0; --bursts) {
    const int to = static_cast<int>(Draw(nodes_.size()));
    const Address port{to, PortOf(kQualifiers[Draw(kQualifiers.size())])};
    const uint64_t at_us = Draw(4'000'000);
    for (uint64_t k = 1 + Draw(12); k > 0; --k) {
      const int from = static_cast<int>(Draw(nodes_.size()));
      time_.At(at_us + Draw(100'000), [this, from, port] { BeginStranger(from, port); });
    }
  }
}

// Silence, garbage, a part of a request, a whole request, or a Reply in place of a request.
std::vector<uint8_t> ConnectProgram::StrangersWords() {
  std::vector<uint8_t> words(iwarp::kMpaMaxFrameSize);
  iwarp::MpaStart frame;
  std::vector<uint8_t> data(8 + Draw(40));  // number 0
  frame.private_data = data;
  frame.enhanced = Draw(2) == 0;
  frame.revision = static_cast<uint8_t>(frame.enhanced ? 2 : Draw(3));
  frame.markers = Draw(8) == 0;
  frame.crc = Draw(3) == 0;
  frame.reply = Draw(5) == 0;
  words.resize(iwarp::EncodeMpaStart(frame, words));
  switch (Draw(5)) {
    case 0:
      words.clear();
      break;
    case 1:
      for (uint8_t& byte : words) byte = static_cast<uint8_t>(Draw(256));
      break;
    case 2:
      words.resize(Draw(words.size()));
      break;
    case 3:
      words[Draw(iwarp::kMpaHeaderSize)] ^= static_cast<uint8_t>(1 + Draw(255));
      break;
    default:
      break;
  }
  return words;
}

void ConnectProgram::BeginStranger(int from, Address to) {
  if (dead(from)) return;
  ++tally_.intruders;
  const StreamId stream = streams_->Connect(from, to);
  strangers_[stream] = {from, StrangersWords(), Draw(3) == 0};
}

void ConnectProgram::KillNode(int i, bool vanish) {
  dead_[static_cast<size_t>(i)] = true;
  for (Party* const party : node(i).parties()) {
    if (End* const end = Find(*party).second) Forget(end);
  }
  node(i).Kill();
  std::erase_if(strangers_, [i](const auto& s) { return s.second.from == i; });
  if (vanish) {
    streams_->Vanish(i);
  } else {
    streams_->Crash(i);
  }
}

// Every node ends its connections in good order.
void ConnectProgram::ShutDown() {
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    if (dead(i)) continue;
    for (const uint64_t qualifier : kQualifiers) node(i).StopListening(qualifier);
    for (Party* const party : node(i).parties()) {
      const auto known = ends_.find(party);
      if (known == ends_.end()) continue;
      if (party->phase() == Party::Phase::kConnecting) {
        Expect(false, "a connect is still under way");
      } else if (party->phase() == Party::Phase::kRequested) {
        Expect(false, "a request has no answer");
      } else if (party->phase() == Party::Phase::kConnected && !party->stream_ended()) {
        EndByConsumer(known->second.second);
      }
    }
  }
  for (auto& [stream, stranger] : strangers_) streams_->Close(stream);
  strangers_.clear();
}

}  // namespace softdat::sim
