// SPDX-License-Identifier: BSD-3-Clause
// What a run is made of: the network, the nodes, who connects to whom, who disturbs them.
#include <utility>

#include "tests/sim/cm_program.h"
#include "wire/bytes.h"

namespace softdat::sim {

LinkOptions CmProgram::DrawLink() {
  LinkOptions o;
  o.max_delay_us = Pick({0, 100, 5000, 60'000});
  o.min_delay_us = Draw(2) * o.max_delay_us / 2;
  o.lose_one_in = Pick({0, 0, 50, 10, 5});
  o.burst_one_in = Pick({0, 0, 100});
  o.longest_burst = 4;  // of packets that are far from each other
  o.reorder_one_in = Pick({0, 8});
  o.reorder_us = 1 + Pick({100, 20'000, 300'000});
  o.duplicate_one_in = Pick({0, 10, 3});
  return o;
}

softnet::CmOptions CmProgram::DrawOptions() {
  softnet::CmOptions o;
  o.ca_guid = random_();
  o.handshake_limit_us = 12'000'000;
  o.time_wait_us = Pick({1'000'000, 2'000'000});
  return o;
}

CmProgram::CmProgram(uint64_t seed) : seed_(seed), random_(seed * 0x9e3779b97f4a7c15) {
  const int count = static_cast<int>(2 + Draw(3));
  network_ = std::make_unique<Network>(&time_, count + 1, random_());
  network_->SetLinks(DrawLink());  // also those of the stranger
  CmNodeSink* const sink = this;
  for (int i = 0; i < count; ++i) {
    if (Draw(3) == 0)
      network_->link(i, static_cast<int>(Draw(static_cast<uint64_t>(count)))) = DrawLink();
    nodes_.push_back(std::make_unique<CmNode>(i, network_.get(), DrawOptions(), random_(), sink));
  }
  PlanConnects(-1, 2 + Draw(14), 0, 10'000'000);
  PlanFaults();
  if (Draw(3) == 0) PlanForgeries();
  time_.At(kShutDownUs, [this] { ShutDown(); });
}

void CmProgram::PlanConnects(int from, uint64_t connects, uint64_t earliest_us,
                             uint64_t within_us) {
  for (; connects > 0; --connects) {
    const uint64_t number = attempts_.size() + 1;
    Attempt& a = attempts_[number];
    a.from = from >= 0 ? from : static_cast<int>(Draw(nodes_.size()));
    a.to = Draw(5) == 0 ? a.from : static_cast<int>(Draw(nodes_.size()));
    a.listened = Draw(10) != 0;
    a.started_us = earliest_us + Draw(within_us);
    softnet::CmConnect& p = a.parameters;
    p.local = CmNode::AddressOf(a.from);
    p.remote = CmNode::AddressOf(a.to);
    p.service_id = Draw(1000);
    p.depths = {.in = static_cast<uint8_t>(Draw(8)), .out = static_cast<uint8_t>(Draw(8))};
    p.starting_psn = static_cast<uint32_t>(Draw(1 << 24));
    if (Draw(3) == 0) p.timeout_us = Pick({1000, 100'000, 2'000'000, 10'000'000}) + Draw(1000);
    if (!a.listened && Draw(2) == 0) p.grace_us = 300'000;
    time_.At(a.started_us, [this, number] { BeginConnect(number); });
  }
}

void CmProgram::BeginConnect(uint64_t number) {
  Attempt& a = attempts_[number];
  CmNode& n = node(a.from);
  a.begun = true;
  a.parameters.qpn = n.TakeQpn();
  std::array<uint8_t, 8> data;
  StoreBe64(data.data(), number);
  a.parameters.private_data = data;
  End& end = a.active;
  end.node = &n;
  end.life = n.life();
  end.qpn = a.parameters.qpn;
  end.psn = a.parameters.starting_psn;
  end.depths = a.parameters.depths;
  end.id = n.manager().Connect(a.parameters, n.now_us());
  ends_[{n.number(), n.life(), end.id}] = {number, &end};
  ++tally_.connects;
  if (Draw(8) == 0)
    After(Draw(Pick({100'000, 3'000'000})), end, [this, e = &end] { EndByConsumer(e, true); });
  n.Settle();
}

void CmProgram::PlanEnd(End* end) {
  if (Draw(3) == 0) return;  // it lasts
  const bool abandon = Draw(6) == 0;
  After(Draw(Pick({100, 500'000, 10'000'000})), *end,
        [this, end, abandon] { EndByConsumer(end, abandon); });
}

void CmProgram::EndByConsumer(End* end, bool abandon) {
  if (end->abandoned || end->disconnected) return;
  if (abandon) {
    tally_.abandoned += !end->failed && !end->ended;
    end->abandoned = true;
    end->node->manager().Abandon(end->id, end->node->now_us());
  } else {
    end->disconnected = !end->failed && !end->ended;
    end->node->manager().Disconnect(end->id, end->node->now_us());
  }
  end->node->Settle();
}

void CmProgram::PlanFaults() {
  if (Draw(4) == 0) {
    faults_ = true;
    const int i = static_cast<int>(Draw(nodes_.size()));
    const bool same_guid = Draw(2) == 0;
    const uint64_t at_us = Draw(12'000'000);
    time_.At(at_us, [this, i, same_guid] { node(i).Crash(same_guid); });
    // With QPNs that the others know from before.
    PlanConnects(i, Draw(8), at_us + 1, 1'000'000);
  }
  for (uint64_t cuts = Draw(4) == 0 ? 1 + Draw(3) : 0; cuts > 0; --cuts) {
    faults_ = true;
    const int from = static_cast<int>(Draw(nodes_.size()));
    const int to = static_cast<int>(Draw(nodes_.size()));
    const uint64_t at_us = Draw(12'000'000);
    time_.At(at_us, [this, from, to] { network_->SetCut(from, to, true); });
    time_.At(at_us + Draw(30'000'000), [this, from, to] { network_->SetCut(from, to, false); });
  }
}

// One that takes part in nothing says what others have said, as it was or with octets changed.
void CmProgram::PlanForgeries() {
  forgeries_ = true;
  const int stranger = network_->nodes() - 1;
  for (uint64_t k = Draw(60); k > 0; --k) {
    const int of = static_cast<int>(Draw(nodes_.size()));
    const int to = static_cast<int>(Draw(nodes_.size()));
    ++tally_.forged;
    time_.At(Draw(15'000'000), [this, stranger, of, to] {
      Network::Bytes bytes = node(of).last_sent();
      for (uint64_t changes = Draw(4); changes > 0 && !bytes.empty(); --changes)
        bytes[Draw(bytes.size())] = static_cast<uint8_t>(Draw(256));
      network_->Send(stranger, to, std::move(bytes));
    });
  }
}

void CmProgram::ShutDown() {
  CheckAgreement();
  for (auto& [key, value] : ends_) {
    End* const end = value.second;
    if (!end->dead() && !end->over) EndByConsumer(end, false);
  }
}

}  // namespace softdat::sim
