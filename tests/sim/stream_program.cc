// SPDX-License-Identifier: BSD-3-Clause
// The random program of a run: what is posted, what moves, how it ends.
#include "tests/sim/stream_program.h"

#include <algorithm>
#include <cstring>

namespace softdat::sim {

using softnet::Rtr;
using softnet::testing::Pattern;
using transport::Completion;
using transport::DisconnectMode;
using transport::EndReason;
using transport::Op;
using transport::SendRequest;
using transport::WorkStatus;

namespace {

constexpr uint32_t kQueue = 16;

}  // namespace

PairOptions StreamProgram::Options(uint64_t seed) {
  std::mt19937_64 r(seed * 0x9e3779b97f4a7c15);
  const size_t mulpdus[] = {128, 200, 1442, 8192, 65535};
  const size_t direct[] = {64, 600, 4096, 16384};
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
  // A pipe of one byte makes a flight of each byte: short ones there.
  const uint64_t delays_us[] = {0, 0, 50, o.pipe_capacity < 3000 ? 200u : 20000u};
  o.max_delay_us = delays_us[r() % 4];
  if (r() % 2 == 0) o.loss_one_in = 40;
  // Receives are posted within a few arrivals: a timer that goes off all the same is a defect.
  if (r() % 3 == 0) o.rnr_timeout_us = 3600'000'000;
  o.direct_payload = direct[r() % 4];
  o.confirm = r() % 3 != 0;
  o.empty_reads = r() % 8 != 0;
  o.confirmation_slots = static_cast<uint16_t>(r() % 3);
  if (r() % 8 == 0 && o.rtr != Rtr::kRead) o.depth = 0;  // consumers without reads and atomics
  return o;
}

// What the source of side `i` holds, made once.
const uint8_t* StreamProgram::SourceBytes(int i) {
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

StreamProgram::StreamProgram(uint64_t seed)
    : seed_(seed), options_(Options(seed)), pair_(options_) {
  ending_ = static_cast<Ending>(pair_.Draw(static_cast<uint64_t>(Ending::kCount)));
  for (int i = 0; i < 2; ++i) {
    Side& side = *pair_.sides[i];
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
  if (ending_ == Ending::kCut) LoseByte();
}

// The connection is lost at some byte that is still to come.
void StreamProgram::LoseByte() {
  lossy_ = true;
  softnet::testing::Pipe& pipe = pair_.pipes[pair_.Draw(2)];
  const uint64_t spans[] = {100, 3000, 60000};
  pipe.cut = pipe.carried + pair_.Draw(spans[pair_.Draw(3)]);
  switch (static_cast<Cut>(pair_.Draw(static_cast<uint64_t>(Cut::kCount)))) {
    case Cut::kReset:
      pipe.cut_resets = true;
      break;
    case Cut::kGone:
      pipe.cut_is_gone = true;
      break;
    default:
      break;
  }
}

// A window over the middle of each target.
void StreamProgram::BindTargets() {
  for (int i = 0; i < 2; ++i) {
    Side& side = *pair_.sides[i];
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

DAT_RMR_TRIPLET StreamProgram::TargetOf(int i, uint64_t slot, uint32_t length) {
  const Node& node = nodes_[i];
  DAT_RMR_TRIPLET remote = pair_.sides[i]->Remote(node.target, kMargin + slot, length);
  if (windows_) remote.rmr_context = node.window_key;
  return remote;
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
  if (pair_.Draw(12) == 0) return PostBind(i);
  Posted p;
  p.op = ops[pair_.Draw(6)];
  if (options_.depth == 0 && (p.op == Op::kRdmaRead || p.op == Op::kFetchAdd)) p.op = Op::kSend;
  p.cookie = node.next_cookie++;
  p.length = RandomLength();
  if (pair_.Draw(3) == 0) p.flags |= transport::kSuppress;
  if (pair_.Draw(4) == 0) p.flags |= transport::kFence;
  if (pair_.Draw(4) == 0) p.flags |= transport::kSolicited;
  if (pair_.Draw(3) == 0 && side.stream->can_confirm())
    p.flags |= transport::kConfirm;  // of writes
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
  const bool over = side.stream->ended();
  const Code code = side.stream->PostSend(r);
  Expect(code == Code::kOk, "post refused: " + std::to_string(static_cast<int>(code)));
  node.sends.push_back(p);
  if (!over && (p.op == Op::kSend || p.op == Op::kRdmaWriteImmediate)) node.messages.push_back(p);
}

void StreamProgram::PostBind(int i) {
  Side& side = *pair_.sides[i];
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
  Expect(side.stream->PostSend(r) == Code::kOk, "a bind was refused");
  node.sends.push_back(p);
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

// Something moves, or time passes.
void StreamProgram::Step() {
  const int i = static_cast<int>(pair_.Draw(2));
  switch (pair_.Draw(6)) {
    case 0:
      PostReceives(i);
      break;
    case 1:
      // No timer goes off while something could move.
      if (!pair_.pipes[i].flights.empty()) pair_.AdvanceClock();
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
        // Time passes now and then even while something could move.
        if (!pair_.pipes[i].flights.empty()) moved = pair_.AdvanceClock();
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
      if (any || more || pair_.AdvanceClock()) idle = 0;
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
    case Ending::kReset: {
      const uint64_t sides = 1 + pair_.Draw(3);
      for (uint64_t k = 0; k < 2; ++k) {
        if ((sides >> k & 1) != 0) pair_.sides[k]->stream->OnPeerReset("reset");
      }
      break;
    }
    case Ending::kBadRequest:
      PostAmongGood(i);
      break;
  }
}

// Until both sides have ended and nothing moves any more.
void StreamProgram::Settle() {
  for (int round = 0, idle = 0; round < 400000 && wrong_.empty(); ++round) {
    const bool moved = pair_.StepAll() || pair_.AdvanceClock();
    idle = moved ? 0 : idle + 1;
    FreeInTime();
    bool over = true;
    for (int k = 0; k < 2; ++k) {
      if (!pair_.sides[k]->stream->ended()) {
        over = false;
        PostReceives(k);
      }
      Reap(k);
    }
    if (over && !moved) break;
    if (over || idle < 100) continue;
    if (lossy_) {
      for (auto& side : pair_.sides) side->stream->OnPeerReset("gone");
    } else if (bad_.posted && !bad_.failed) {
      Expect(bad_.completed, "the bad request does not end: " + Describe());
      pair_.sides[bad_.side]->stream->Disconnect(DisconnectMode::kGraceful);
    }
  }
  CheckBehindBad();
  for (int k = 0; k < 2; ++k) {
    CheckUntouched(k);
    CheckSilence(k);
    CheckLeftovers(k);
  }
}

std::string StreamProgram::Run() {
  Drive();
  if (wrong_.empty()) End();
  if (wrong_.empty()) Settle();
  return wrong_;
}

}  // namespace softdat::sim
