// SPDX-License-Identifier: BSD-3-Clause
// For tests: random programs on a stream pair, and their invariants.
#include "provider_softnet/iwarp/stream_program.h"

#include <algorithm>
#include <cstring>

namespace softdat::softnet::testing {

using transport::Completion;
using transport::DisconnectMode;
using transport::EndReason;
using transport::Op;
using transport::SendRequest;
using transport::WorkStatus;

namespace {

constexpr uint64_t kArea = 160 * 1024;
constexpr uint32_t kQueue = 16;

}  // namespace

PairOptions StreamProgram::Options(uint64_t seed) {
  std::mt19937_64 r(seed * 0x9e3779b97f4a7c15);
  const size_t mulpdus[] = {128, 200, 1442, 8192, 65535};
  const size_t pipes[] = {1, 100, 3000, 70000, 1 << 20};
  PairOptions o;
  o.seed = seed;
  o.crc = r() % 2 == 0;
  o.mulpdu = mulpdus[r() % 5];
  o.depth = static_cast<uint16_t>(1 + r() % 6);
  o.rtr = r() % 3 == 0 ? Rtr::kRead : Rtr::kWrite;
  o.queue = kQueue;
  o.max_segments = 4;
  o.pipe_capacity = pipes[r() % 5];
  o.share_receives = r() % 4 == 0;
  return o;
}

StreamProgram::StreamProgram(uint64_t seed) : seed_(seed), pair_(Options(seed)) {
  ending_ = static_cast<Ending>(pair_.Draw(static_cast<uint64_t>(Ending::kCount)));
  for (int i = 0; i < 2; ++i) {
    Side& side = *pair_.sides[i];
    Node& node = nodes_[i];
    node.source = side.AddBuffer(kArea);
    node.target = side.AddBuffer(kArea);
    node.sink = side.AddBuffer(kArea);
    node.counter = side.AddBuffer(8);
    node.inbox = side.AddBuffer(kInboxSlot * kInboxSlots);
    for (uint64_t k = 0; k < kArea; ++k) {
      side.data(node.source)[k] = Pattern(static_cast<uint64_t>(i), k);
    }
    std::memset(side.data(node.counter), 0, 8);
    node.posts_left = 5 + pair_.Draw(40);
    for (uint64_t k = 0; k < kInboxSlots; ++k) node.free_inbox.push_back(k);
  }
  if (ending_ == Ending::kCut) pair_.pipes[pair_.Draw(2)].cut = pair_.Draw(60000);
}

void StreamProgram::Expect(bool ok, const std::string& what) {
  if (!ok && wrong_.empty()) wrong_ = "seed " + std::to_string(seed_) + ": " + what;
}

uint32_t StreamProgram::RandomLength() {
  const uint64_t kinds[] = {1, 16, 600, 4200, kInboxSlot};
  // A pipe of few bytes takes many steps: small messages there.
  return static_cast<uint32_t>(
      pair_.Draw(kinds[pair_.Draw(pair_.pipes[0].capacity < 3000 ? 3 : 5)]));
}

// Random pieces, empty ones among them.
std::vector<Segment> StreamProgram::Split(Side& side, size_t buffer, uint64_t offset,
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

void StreamProgram::Post(int i) {
  Side& side = *pair_.sides[i];
  Side& peer = *pair_.sides[1 - i];
  Node& node = nodes_[i];
  if (node.posts_left == 0 || side.send_queue.full()) return;
  --node.posts_left;
  const Op ops[] = {Op::kSend,    Op::kSend, Op::kRdmaWrite, Op::kRdmaRead, Op::kRdmaWriteImmediate,
                    Op::kFetchAdd};
  Posted p;
  p.op = ops[pair_.Draw(6)];
  p.cookie = node.next_cookie++;
  p.length = RandomLength();
  if (pair_.Draw(3) == 0) p.flags |= transport::kSuppress;
  if (pair_.Draw(4) == 0) p.flags |= transport::kFence;
  if (pair_.Draw(4) == 0) p.flags |= transport::kSolicited;
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
    r.swap_or_add = 1;
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
      r.remote = peer.Remote(nodes_[1 - i].target, p.slot, p.length);
      r.key = static_cast<uint32_t>(p.cookie);
      node.writes.push_back(p);
    }
  }
  r.local = parts;
  const bool over = side.stream->ended();
  const Code code = side.stream->PostSend(r);
  Expect(code == Code::kOk, "post refused: " + std::to_string(static_cast<int>(code)));
  node.sends.push_back(p);
  if (!over && (p.op == Op::kSend || p.op == Op::kRdmaWriteImmediate)) node.messages.push_back(p);
}

void StreamProgram::PostReceives(int i) {
  Side& side = *pair_.sides[i];
  Node& node = nodes_[i];
  while (!node.free_inbox.empty() && node.receives.size() < kQueue && pair_.Draw(3) != 0) {
    const uint64_t slot = node.free_inbox.back();
    const uint64_t cookie = 100000 + node.next_cookie++;
    node.receives.emplace_back(cookie, slot);
    const Code code = side.Receive(cookie, Split(side, node.inbox, slot * kInboxSlot, kInboxSlot));
    Expect(code == Code::kOk, "receive refused");
    node.free_inbox.pop_back();
  }
}

// Whether `at` holds what was at the source of `p`, which nobody changes.
bool StreamProgram::Matches(const uint8_t* at, const Posted& p) {
  Side& owner = *pair_.sides[p.stream];
  return std::memcmp(at, owner.data(nodes_[p.stream].source) + p.expect, p.length) == 0;
}

void StreamProgram::CheckData(int i, const Posted& p) {
  Side& side = *pair_.sides[i];
  const uint8_t* sink = side.data(nodes_[i].sink) + p.slot;
  if (p.op == Op::kFetchAdd) {
    uint64_t before = 0;
    std::memcpy(&before, sink, 8);
    Expect(before == p.expect, "fetch-and-add returned " + std::to_string(before));
  } else if (p.op == Op::kRdmaRead) {
    Expect(Matches(sink, p), "bytes read by " + std::to_string(p.cookie));
  }
}

void StreamProgram::CheckSend(int i, const Completion& c) {
  Node& node = nodes_[i];
  const bool failed = c.status != WorkStatus::kSuccess;
  // Suppressed ones before it succeeded.
  while (!node.sends.empty() && node.sends.front().cookie != c.cookie) {
    const Posted& p = node.sends.front();
    Expect((p.flags & transport::kSuppress) != 0 && !node.send_failed,
           "completion " + std::to_string(p.cookie) + " is missing");
    if (!wrong_.empty()) return;
    CheckData(i, p);
    node.sends.pop_front();
  }
  Expect(!node.sends.empty(), "a completion for nothing");
  if (!wrong_.empty()) return;
  const Posted p = node.sends.front();
  node.sends.pop_front();
  Expect(c.op == p.op && c.context == pair_.sides[i].get(), "a completion of another operation");
  Expect(!node.send_failed || failed, "success behind a failure");
  node.send_failed |= failed;
  if (failed) return;
  Expect((p.flags & transport::kSuppress) == 0, "a suppressed success was reported");
  Expect(c.length == p.length, "length of a send completion");
  CheckData(i, p);
}

void StreamProgram::CheckReceive(int i, const Completion& c) {
  Node& node = nodes_[i];
  Node& peer = nodes_[1 - i];
  Expect(!node.receives.empty() && node.receives.front().first == c.cookie,
         "receives out of order");
  if (!wrong_.empty()) return;
  const uint64_t slot = node.receives.front().second;
  node.receives.pop_front();
  node.free_inbox.push_back(slot);
  const bool failed = c.status != WorkStatus::kSuccess;
  Expect(!node.receive_failed || failed, "received behind a failure");
  node.receive_failed |= failed;
  if (failed) return Expect(c.status == WorkStatus::kFlushed, "a receive failed");
  Expect(!peer.messages.empty(), "a message that nobody sent");
  if (!wrong_.empty()) return;
  const Posted m = peer.messages.front();
  peer.messages.pop_front();
  ++node.received;
  Expect(c.solicited == ((m.flags & transport::kSolicited) != 0), "solicited");
  if (m.op == Op::kRdmaWriteImmediate) {
    Expect(c.op == Op::kReceiveImmediate && c.key == static_cast<uint32_t>(m.cookie) &&
               c.length == m.length,
           "immediate");
  } else {
    Expect(c.op == Op::kReceive && c.length == m.length, "length of a receive");
    const uint8_t* got = pair_.sides[i]->data(node.inbox) + slot * kInboxSlot;
    Expect(Matches(got, m), "received bytes of " + std::to_string(m.cookie));
  }
  // Everything written before it is in place (semantics 10.3).
  while (!peer.writes.empty() && peer.writes.front().cookie <= m.cookie) {
    const Posted w = peer.writes.front();
    peer.writes.pop_front();
    const uint8_t* at = pair_.sides[i]->data(node.target) + w.slot;
    Expect(Matches(at, w), "written bytes of " + std::to_string(w.cookie));
  }
}

void StreamProgram::Reap(int i) {
  for (const Completion& c : pair_.sides[i]->Sends()) CheckSend(i, c);
  for (const Completion& c : pair_.sides[i]->Receives()) CheckReceive(i, c);
}

// Posts and moves bytes at random until all is posted and received.
void StreamProgram::Drive() {
  for (int idle = 0, steps = 0; idle < 50 && wrong_.empty(); ++steps) {
    Expect(steps < 3000000, "no end: " + Describe());
    const int i = static_cast<int>(pair_.Draw(2));
    bool moved = false;
    switch (pair_.Draw(8)) {
      case 0:
        moved = nodes_[i].posts_left > 0 && !pair_.sides[i]->send_queue.full();
        Post(i);
        break;
      case 1:
        PostReceives(i);
        break;
      case 2:
        Reap(i);
        break;
      case 3:
      case 4:
        moved = pair_.Transmit(i);
        break;
      default:
        moved = pair_.Receive(i);
        break;
    }
    if (moved) {
      idle = 0;
    } else if (++idle == 50) {
      // Bad luck, or really idle?
      const bool any = pair_.StepAll();
      const uint64_t before = nodes_[0].received + nodes_[1].received;
      for (int k = 0; k < 2; ++k) {
        Reap(k);
        for (int n = 0; n < 20; ++n) PostReceives(k);
        Reap(k);
      }
      const bool more = before != nodes_[0].received + nodes_[1].received ||
                        pair_.sides[0]->stream->wants_transmit() ||
                        pair_.sides[1]->stream->wants_transmit();
      if (any || more) idle = 0;
    }
    if (pair_.sides[0]->stream->ended() && pair_.sides[1]->stream->ended()) break;
    // Some runs are ended in mid-traffic.
    if (ending_ != Ending::kCut && pair_.Draw(4000) == 0) break;
  }
}

std::string StreamProgram::Describe() const {
  std::string s;
  for (int i = 0; i < 2; ++i) {
    const Side& side = *pair_.sides[i];
    s += "side " + std::to_string(i) + ": posts left " + std::to_string(nodes_[i].posts_left) +
         ", queued " + std::to_string(side.send_queue.count()) + ", receives " +
         std::to_string(nodes_[i].receives.size()) + ", in pipe " +
         std::to_string(pair_.pipes[i].size()) + ", carried " +
         std::to_string(pair_.pipes[i].carried) +
         (side.stream->wants_transmit() ? ", wants to send" : "") +
         (side.stream->stalled() ? ", stalled" : "") + (side.stream->ended() ? ", ended" : "") +
         (pair_.pipes[i].fin ? ", fin; " : "; ");
  }
  return s;
}

void StreamProgram::End() {
  const int i = static_cast<int>(pair_.Draw(2));
  switch (ending_) {
    case Ending::kGraceful:
    case Ending::kCut:
    case Ending::kCount:
      pair_.sides[i]->stream->Disconnect(DisconnectMode::kGraceful);
      break;
    case Ending::kBothGraceful:
      pair_.sides[0]->stream->Disconnect(DisconnectMode::kGraceful);
      pair_.sides[1]->stream->Disconnect(DisconnectMode::kGraceful);
      break;
    case Ending::kAbrupt:
      pair_.sides[i]->stream->Disconnect(DisconnectMode::kAbrupt);
      break;
    case Ending::kBothAbrupt:
      pair_.sides[0]->stream->Disconnect(DisconnectMode::kAbrupt);
      pair_.sides[1]->stream->Disconnect(DisconnectMode::kAbrupt);
      break;
    case Ending::kReset:
      for (auto& side : pair_.sides) side->stream->OnPeerReset("reset");
      break;
  }
}

// After the end: everything flushed, then silence.
void StreamProgram::Settle() {
  for (int round = 0; round < 200000 && wrong_.empty(); ++round) {
    const bool moved = pair_.StepAll();
    bool over = true;
    for (int k = 0; k < 2; ++k) {
      if (!pair_.sides[k]->stream->ended()) {
        over = false;
        PostReceives(k);
      }
      Reap(k);
    }
    if (over && !moved) break;
    if (!moved && !over && round > 100 && ending_ == Ending::kCut) {
      for (auto& side : pair_.sides) side->stream->OnPeerReset("gone");
    }
  }
  for (int k = 0; k < 2; ++k) {
    Side& side = *pair_.sides[k];
    Reap(k);
    Expect(side.stream->ended(), "side " + std::to_string(k) + " has not ended");
    Expect(side.send_queue.empty(), "sends left");
    Expect(side.receive_queue.empty(), "receives left");
    for (const Posted& p : nodes_[k].sends) {
      Expect((p.flags & transport::kSuppress) != 0 && !nodes_[k].send_failed,
             "no completion for " + std::to_string(p.cookie));
    }
    if (side.shared == nullptr) Expect(nodes_[k].receives.empty(), "a receive without completion");
    Expect(side.GuardsIntact(), "guard bytes");
    Expect(side.send_ring.Poll({}) == 0, "late completions");
    const bool broken = side.stream->end().reason == EndReason::kBroken;
    const bool may_break = ending_ == Ending::kCut || ending_ == Ending::kReset;
    Expect(!broken || may_break, "broken: " + side.stream->end().why);
    // Nothing is pinned any more, or this would hang.
    for (const auto& b : side.buffers) Expect(side.memory->DeregisterRegion(b.key), "deregister");
    Expect(side.memory->regions() == 0, "regions");
  }
}

std::string StreamProgram::Run() {
  Drive();
  if (wrong_.empty()) End();
  if (wrong_.empty()) Settle();
  return wrong_;
}

}  // namespace softdat::softnet::testing
