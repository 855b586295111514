// SPDX-License-Identifier: BSD-3-Clause
// Definitions of PairProgram: the random program of a run, its posts, its steps, and its end.
#ifndef SOFTDAT_TESTS_SIM_PAIR_PROGRAM_RUN_H_
#define SOFTDAT_TESTS_SIM_PAIR_PROGRAM_RUN_H_

#include <algorithm>
#include <cstring>

#include "tests/sim/pair_program.h"

namespace softdat::sim {

using softnet::testing::Pattern;
using transport::Completion;
using transport::DisconnectMode;
using transport::Op;
using transport::SendRequest;

// The bytes of the source of side `i`, made once.
template <EnginePair Pair>
const uint8_t* PairProgram<Pair>::SourceBytes(int i) {
  static const std::array<std::vector<uint8_t>, 2> sources = [] {
    std::array<std::vector<uint8_t>, 2> made;
    for (uint64_t side = 0; side < 2; ++side) {
      made[side].resize(kArea);
      for (uint64_t k = 0; k < kArea; ++k) made[side][k] = Pattern(side, k);
    }
    return made;
  }();
  return sources[static_cast<size_t>(i)].data();
}

template <EnginePair Pair>
PairProgram<Pair>::PairProgram(uint64_t seed) : seed_(seed), pair_(seed), rules_(pair_.rules()) {
  ending_ = static_cast<Ending>(pair_.Draw(static_cast<uint64_t>(Ending::kCount)));
  for (int i = 0; i < 2; ++i) {
    Side& side = pair_.side(i);
    Node& node = nodes_[i];
    node.source = side.AddBuffer(kArea);
    node.target = side.AddBuffer(kArea + 2 * kMargin);
    node.sink = side.AddBuffer(kArea);
    node.counter = side.AddBuffer(8);
    node.inbox = side.AddBuffer(kInboxSlot * kInboxSlots);
    std::memcpy(side.data(node.source), SourceBytes(i), kArea);
    std::memset(side.data(node.counter), 0, 8);
    node.own_window = side.memory->CreateWindow(side.pd, false);
    node.posts_left = 5 + pair_.Draw(40);
    for (uint64_t k = 0; k < kInboxSlots; ++k) node.free_inbox.push_back(k);
  }
  windows_ = pair_.Draw(2) == 0;
  if (windows_) BindTargets();
  eager_ = pair_.Draw(2) == 0;
  if (ending_ == Ending::kLost) PlanLoss();
}

// The connection is lost at some moment in the future.
template <EnginePair Pair>
void PairProgram<Pair>::PlanLoss() {
  lossy_ = true;
  pair_.PlanLoss();
}

// Binds a window over the middle of each target.
template <EnginePair Pair>
void PairProgram<Pair>::BindTargets() {
  for (int i = 0; i < 2; ++i) {
    Side& side = pair_.side(i);
    Node& node = nodes_[i];
    node.window = side.memory->CreateWindow(side.pd, pair_.Draw(2) == 0);
    softnet::MemoryTable::BindRequest bind;
    bind.key = node.window_key = side.memory->NextWindowKey(node.window);
    bind.region = side.buffers[node.target].key;
    bind.offset = side.Local(node.target, kMargin, 0).virtual_address;
    bind.length = kArea;
    bind.privileges = softnet::kPrivRemoteRead | softnet::kPrivRemoteWrite;
    bind.pd = side.pd;
    bind.qp = side.qp;
    Expect(side.memory->Bind(bind) == softnet::AccessError::kNone, "bind");
  }
}

template <EnginePair Pair>
DAT_RMR_TRIPLET PairProgram<Pair>::TargetOf(int i, uint64_t slot, uint32_t length) {
  const Node& node = nodes_[i];
  DAT_RMR_TRIPLET remote = pair_.side(i).Remote(node.target, kMargin + slot, length);
  if (windows_) remote.rmr_context = node.window_key;
  return remote;
}

template <EnginePair Pair>
void PairProgram<Pair>::Expect(bool ok, const std::string& what) {
  if (!ok && wrong_.empty()) wrong_ = "seed " + std::to_string(seed_) + ": " + what;
}

template <EnginePair Pair>
uint32_t PairProgram<Pair>::RandomLength() {
  const uint64_t kinds[] = {1, 16, 600, 4200, kInboxSlot};
  // A pipe of few bytes takes many steps, so messages are small there.
  return static_cast<uint32_t>(pair_.Draw(kinds[pair_.Draw(rules_.narrow ? 3 : 5)]));
}

// Splits into random pieces, including empty ones.
template <EnginePair Pair>
std::vector<Segment> PairProgram<Pair>::Split(Side& side, size_t buffer, uint64_t offset,
                                              uint32_t length) {
  std::vector<Segment> parts;
  while (parts.size() < 3 && length > 0 && pair_.Draw(2) == 0) {
    const uint32_t n = static_cast<uint32_t>(pair_.Draw(length + 1));
    parts.push_back(side.Local(buffer, offset, n));
    offset += n;
    length -= n;
  }
  parts.push_back(side.Local(buffer, offset, length));
  return parts;
}

template <EnginePair Pair>
void PairProgram<Pair>::Post(int i) {
  Side& side = pair_.side(i);
  Side& peer = pair_.side(1 - i);
  Node& node = nodes_[i];
  if (node.posts_left == 0 || side.send_queue.full()) return;
  --node.posts_left;
  const Op ops[] = {Op::kSend,    Op::kSend, Op::kRdmaWrite, Op::kRdmaRead, Op::kRdmaWriteImmediate,
                    Op::kFetchAdd};
  if (pair_.Draw(12) == 0) return PostBind(i);
  Posted p;
  p.op = ops[pair_.Draw(6)];
  if (!rules_.reads && (p.op == Op::kRdmaRead || p.op == Op::kFetchAdd)) p.op = Op::kSend;
  p.cookie = node.next_cookie++;
  p.length = RandomLength();
  if (pair_.Draw(3) == 0) p.flags |= transport::kSuppress;
  if (pair_.Draw(4) == 0) p.flags |= transport::kFence;
  if (pair_.Draw(4) == 0) p.flags |= transport::kSolicited;
  if (pair_.Draw(3) == 0 && rules_.can_confirm) p.flags |= transport::kConfirm;  // of writes
  p.stream = static_cast<uint64_t>(i);
  uint64_t from = pair_.Draw(kArea - p.length);
  SendRequest r;
  r.op = p.op;
  r.cookie = p.cookie;
  r.flags = p.flags;
  std::vector<Segment> parts;
  if (p.op == Op::kFetchAdd) p.length = 8;
  if (p.op == Op::kRdmaRead || p.op == Op::kFetchAdd) {
    if (node.sink_used + p.length > kArea) return;
    p.slot = node.sink_used;
    node.sink_used += p.length;
    parts = Split(side, node.sink, p.slot, p.length);
    r.remote = p.op == Op::kFetchAdd ? peer.Remote(nodes_[1 - i].counter, 0, 8)
                                     : peer.Remote(nodes_[1 - i].source, from, p.length);
    r.atomic = {.compare = 0, .swap_or_add = 1};
    p.expect = node.adds;
    if (p.op == Op::kFetchAdd) ++node.adds;
    p.stream = static_cast<uint64_t>(1 - i);
    if (p.op == Op::kRdmaRead) p.expect = from;
  } else {
    if (p.op != Op::kSend && node.target_used + p.length > kArea) return;
    parts = Split(side, node.source, from, p.length);
    p.expect = from;
    if (p.op != Op::kSend) {
      p.slot = node.target_used;
      node.target_used += p.length;
      r.remote = TargetOf(1 - i, p.slot, p.length);
      r.key = static_cast<uint32_t>(p.cookie);
      node.writes.push_back(p);
    }
  }
  r.local = parts;
  const bool over = side.ended();
  const Code code = side.PostSend(r);
  Expect(code == Code::kOk, "post refused: " + std::to_string(static_cast<int>(code)));
  node.sends.push_back(p);
  if (!over && (p.op == Op::kSend || p.op == Op::kRdmaWriteImmediate)) node.messages.push_back(p);
}

template <EnginePair Pair>
void PairProgram<Pair>::PostBind(int i) {
  Side& side = pair_.side(i);
  Node& node = nodes_[i];
  Posted p;
  p.op = Op::kBind;
  p.cookie = node.next_cookie++;
  p.length = RandomLength();
  if (pair_.Draw(3) == 0) p.flags |= transport::kSuppress;
  if (pair_.Draw(4) == 0) p.flags |= transport::kFence;
  softnet::testing::FakeRegion region(side.buffers[node.source].key);
  const Segment part = side.Local(node.source, 0, p.length);
  SendRequest r;
  r.op = p.op;
  r.cookie = p.cookie;
  r.flags = p.flags;
  r.key = side.memory->NextWindowKey(node.own_window);
  r.bind = {};
  r.bind.region = &region;
  r.bind.privileges = softnet::kPrivRemoteRead;
  r.bind.context = &side;
  if (p.length > 0) r.local = {&part, 1};
  Expect(side.PostSend(r) == Code::kOk, "a bind was refused");
  node.sends.push_back(p);
}

template <EnginePair Pair>
void PairProgram<Pair>::PostReceives(int i) {
  Side& side = pair_.side(i);
  Node& node = nodes_[i];
  while (!node.free_inbox.empty() && node.receives.size() < rules_.queue && pair_.Draw(3) != 0) {
    const uint64_t slot = node.free_inbox.back();
    const uint64_t cookie = 100000 + node.next_cookie++;
    node.receives.emplace_back(cookie, slot);
    const Code code = side.Receive(cookie, Split(side, node.inbox, slot * kInboxSlot, kInboxSlot));
    Expect(code == Code::kOk, "receive refused");
    node.free_inbox.pop_back();
  }
}

// Moves something, or lets time pass.
template <EnginePair Pair>
void PairProgram<Pair>::Step() {
  const int i = static_cast<int>(pair_.Draw(2));
  switch (pair_.Draw(6)) {
    case 0:
      PostReceives(i);
      break;
    case 1:
      // No timer expires while something could move.
      if (pair_.UnderWay(i)) pair_.AdvanceClock();
      break;
    case 2:
    case 3:
      pair_.Transmit(i);
      break;
    default:
      pair_.Receive(i);
      break;
  }
  if (eager_) Reap(0);
  if (eager_) Reap(1);
}

// Posts and moves bytes at random until everything is posted and received.
template <EnginePair Pair>
void PairProgram<Pair>::Drive() {
  for (int idle = 0, steps = 0; idle < 50 && wrong_.empty(); ++steps) {
    Expect(steps < 3000000, "no end: " + Describe());
    const int i = static_cast<int>(pair_.Draw(2));
    bool moved = false;
    switch (pair_.Draw(8)) {
      case 0:
        moved = nodes_[i].posts_left > 0 && !pair_.side(i).send_queue.full();
        Post(i);
        break;
      case 1:
        PostReceives(i);
        break;
      case 2:
        Reap(i);
        break;
      case 3:
        // Time passes now and then, even while something could move.
        if (pair_.UnderWay(i)) moved = pair_.AdvanceClock();
        break;
      case 4:
        moved = pair_.Transmit(i);
        break;
      default:
        moved = pair_.Receive(i);
        break;
    }
    if (eager_) Reap(0);
    if (eager_) Reap(1);
    if (moved) {
      idle = 0;
    } else if (++idle == 50) {
      // Was this bad luck, or is the pair really idle?
      const bool any = pair_.StepAll();
      const uint64_t before = nodes_[0].received + nodes_[1].received;
      for (int k = 0; k < 2; ++k) {
        Reap(k);
        for (int n = 0; n < 20; ++n) PostReceives(k);
        Reap(k);
      }
      const bool more = before != nodes_[0].received + nodes_[1].received ||
                        pair_.side(0).wants_transmit() || pair_.side(1).wants_transmit();
      if (any || more || pair_.AdvanceClock()) idle = 0;
    }
    if (pair_.side(0).ended() && pair_.side(1).ended()) break;
    // Some runs end in the middle of the traffic.
    if (ending_ != Ending::kLost && pair_.Draw(4000) == 0) break;
  }
}

template <EnginePair Pair>
std::string PairProgram<Pair>::Describe() const {
  std::string s;
  for (int i = 0; i < 2; ++i) {
    const auto& side = pair_.side(i);
    s += "side " + std::to_string(i) + ": posts left " + std::to_string(nodes_[i].posts_left) +
         ", queued " + std::to_string(side.send_queue.count()) + ", receives " +
         std::to_string(nodes_[i].receives.size()) + pair_.Describe(i) +
         (side.wants_transmit() ? ", wants to send" : "") + (side.stalled() ? ", stalled" : "") +
         (side.ended() ? ", ended; " : "; ");
  }
  return s;
}

template <EnginePair Pair>
void PairProgram<Pair>::End() {
  const int i = static_cast<int>(pair_.Draw(2));
  switch (ending_) {
    case Ending::kGraceful:
    case Ending::kLost:
    case Ending::kCount:
      pair_.side(i).Disconnect(DisconnectMode::kGraceful);
      break;
    case Ending::kBothGraceful:
      pair_.side(0).Disconnect(DisconnectMode::kGraceful);
      pair_.side(1).Disconnect(DisconnectMode::kGraceful);
      break;
    case Ending::kAbrupt:
      pair_.side(i).Disconnect(DisconnectMode::kAbrupt);
      break;
    case Ending::kBothAbrupt:
      pair_.side(0).Disconnect(DisconnectMode::kAbrupt);
      pair_.side(1).Disconnect(DisconnectMode::kAbrupt);
      break;
    case Ending::kReset: {
      const uint64_t sides = 1 + pair_.Draw(3);
      for (uint64_t k = 0; k < 2; ++k) {
        if ((sides >> k & 1) != 0) pair_.Break(static_cast<int>(k), "reset");
      }
      break;
    }
    case Ending::kBadRequest:
      PostAmongGood(i);
      break;
  }
}

// Runs until both sides have ended and nothing moves any more.
template <EnginePair Pair>
void PairProgram<Pair>::Settle() {
  for (int round = 0, idle = 0; round < 400000 && wrong_.empty(); ++round) {
    const bool moved = pair_.StepAll() || pair_.AdvanceClock();
    idle = moved ? 0 : idle + 1;
    FreeInTime();
    bool over = true;
    for (int k = 0; k < 2; ++k) {
      if (!pair_.side(k).ended()) {
        over = false;
        PostReceives(k);
      }
      Reap(k);
    }
    if (over && !moved) break;
    if (over || idle < 100) continue;
    if (lossy_) {
      for (int k = 0; k < 2; ++k) pair_.Break(k, "gone");
    } else if (bad_.posted && !bad_.failed) {
      Expect(bad_.completed, "the bad request does not end: " + Describe());
      pair_.side(bad_.side).Disconnect(DisconnectMode::kGraceful);
    }
  }
  CheckBehindBad();
  for (int k = 0; k < 2; ++k) {
    CheckUntouched(k);
    CheckSilence(k);
    CheckLeftovers(k);
  }
}

template <EnginePair Pair>
std::string PairProgram<Pair>::Run() {
  Drive();
  if (wrong_.empty()) End();
  if (wrong_.empty()) Settle();
  return wrong_;
}

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_PAIR_PROGRAM_RUN_H_
