// SPDX-License-Identifier: BSD-3-Clause
// Definitions of PairProgram: one bad request among good ones of every kind. How it is posted, and
// what may follow.
#ifndef SOFTDAT_TESTS_SIM_PAIR_PROGRAM_BAD_H_
#define SOFTDAT_TESTS_SIM_PAIR_PROGRAM_BAD_H_

#include <algorithm>
#include <cstring>
#include <optional>

#include "tests/sim/pair_program.h"

namespace softdat::sim {

using transport::Completion;
using transport::Op;
using transport::SendRequest;
using transport::WorkStatus;

inline constexpr uint32_t kReach = 16;  // bytes of an access outside
// Nothing has this key, because keys are counted from another start.
inline constexpr uint32_t kOtherKey = 0x5a;

inline bool IsMessage(Op op) {
  return op == Op::kSend || op == Op::kSendInvalidate || op == Op::kRdmaWriteImmediate;
}

inline bool IsRead(BadKind kind) {
  return kind == BadKind::kOutsideRead || kind == BadKind::kOutsideFetchAdd ||
         kind == BadKind::kOutsideCompareSwap || kind == BadKind::kReadSourceGone ||
         kind == BadKind::kSinkGone;
}

template <EnginePair Pair>
void PairProgram<Pair>::PostAmongGood(int i) {
  for (const int k : {i, 1 - i}) {
    nodes_[k].posts_left += pair_.Draw(10);
    while (nodes_[k].posts_left > 0 && !pair_.side(k).send_queue.full()) Post(k);
  }
  // If the queue is full, the bad request waits for room.
  for (int n = 0; n < 2000 && pair_.side(i).send_queue.full() && wrong_.empty(); ++n) Step();
  bad_.side = i;
  bad_.posted = PostBad(i);
  if (!bad_.posted) {
    pair_.side(i).Disconnect(transport::DisconnectMode::kAbrupt);
    return;
  }
  nodes_[i].posts_left += pair_.Draw(5);
  while (nodes_[i].posts_left > 0 && !pair_.side(i).send_queue.full()) Post(i);
  if (pair_.Draw(4) == 0) PlanLoss();
  for (uint64_t n = pair_.Draw(60); n > 0 && wrong_.empty(); --n) {
    FreeInTime();
    Step();
  }
}

// Returns false if it cannot be posted any more.
template <EnginePair Pair>
bool PairProgram<Pair>::PostBad(int i) {
  Side& side = pair_.side(i);
  Side& peer = pair_.side(1 - i);
  Node& node = nodes_[i];
  bad_.kind = static_cast<BadKind>(pair_.Draw(static_cast<uint64_t>(BadKind::kCount)));
  if (!rules_.reads && IsRead(bad_.kind)) bad_.kind = BadKind::kOutsideWrite;
  if (bad_.kind == BadKind::kReceiveGone && !AimAtReceive(i)) bad_.kind = BadKind::kTooLong;
  if (side.send_queue.full() || side.ended() || peer.ended()) return false;
  Posted p;
  p.cookie = bad_.cookie = node.next_cookie++;
  p.stream = static_cast<uint64_t>(i);
  if (pair_.Draw(4) == 0) p.flags |= transport::kFence;
  SendRequest r;
  Segment local = side.Local(node.source, 0, 0);
  const uint32_t length = 16 + static_cast<uint32_t>(pair_.Draw(pair_.Draw(2) == 0 ? 600 : 8000));
  std::optional<softnet::testing::FakeRegion> region;
  switch (bad_.kind) {
    case BadKind::kTooLong:
      p.op = Op::kSend;
      local = side.Local(node.source, 0, kInboxSlot + 1 + static_cast<uint32_t>(pair_.Draw(9000)));
      break;
    case BadKind::kInvalidatesNothing:
      p.op = Op::kSendInvalidate;
      r.key = TargetOf(1 - i, 0, 0).rmr_context ^ kOtherKey;
      local = side.Local(node.source, 0, length);
      break;
    case BadKind::kReceiveGone:
      p.op = Op::kSend;
      local = side.Local(node.source, 0, length);
      break;
    case BadKind::kTargetGone:
      p.op = Op::kRdmaWrite;
      local = side.Local(node.source, 0, length);
      r.remote = peer.Remote(Mortal(1 - i, length), 0, length);
      break;
    case BadKind::kReadSourceGone:
      p.op = Op::kRdmaRead;
      if (node.sink_used + length > kArea) return false;
      local = side.Local(node.sink, node.sink_used, length);
      node.sink_used += length;
      r.remote = peer.Remote(Mortal(1 - i, length), 0, length);
      break;
    case BadKind::kSourceGone:
      p.op = Op::kSend;
      local = side.Local(Mortal(i, length), 0, length);
      std::memcpy(side.data(bad_.memory), SourceBytes(i), length);
      break;
    case BadKind::kSinkGone:
      p.op = Op::kRdmaRead;
      local = side.Local(Mortal(i, length), 0, length);
      r.remote = peer.Remote(nodes_[1 - i].source, 0, length);
      break;
    case BadKind::kBindGone:
      p.op = Op::kBind;
      local = side.Local(Mortal(i, length), 0, length);
      region.emplace(side.buffers[bad_.memory].key);
      bad_.window = side.memory->CreateWindow(side.pd, false);
      r.key = side.memory->NextWindowKey(bad_.window);
      r.bind = {};
      r.bind.region = &*region;
      r.bind.privileges = softnet::kPrivRemoteRead;
      r.bind.context = &side;
      break;
    default:
      if (node.sink_used + kReach > kArea) return false;
      ReachOutside(i, &p, &r, &local);
      break;
  }
  p.length = p.op == Op::kFetchAdd || p.op == Op::kCompareSwap ? 8 : local.segment_length;
  r.op = p.op;
  r.cookie = p.cookie;
  r.flags = p.flags;
  r.local = {&local, 1};
  const Code code = side.PostSend(r);
  Expect(code == Code::kOk, "a bad post was refused: " + std::to_string(static_cast<int>(code)));
  node.sends.push_back(p);
  if (IsMessage(p.op)) node.messages.push_back(p);
  return true;
}

// Accesses memory in front of the window or behind it, or uses a context that is not bound.
template <EnginePair Pair>
void PairProgram<Pair>::ReachOutside(int i, Posted* p, SendRequest* r, Segment* local) {
  Side& side = pair_.side(i);
  Node& node = nodes_[i];
  const Op ops[] = {Op::kRdmaWrite, Op::kRdmaWriteImmediate, Op::kRdmaRead, Op::kFetchAdd,
                    Op::kCompareSwap};
  p->op = ops[static_cast<size_t>(bad_.kind)];
  const bool write = p->op == Op::kRdmaWrite || p->op == Op::kRdmaWriteImmediate;
  *local =
      write ? side.Local(node.source, 0, kReach) : side.Local(node.sink, node.sink_used, kReach);
  r->remote = TargetOf(1 - i, 0, kReach);
  // Without windows the whole region is open, including its margins.
  const uint64_t open = windows_ ? kArea : kArea + 2 * kMargin;
  if (!windows_) r->remote.virtual_address -= kMargin;
  // An atomic can miss only by its context, because it has 8 bytes, aligned.
  switch (p->op == Op::kFetchAdd || p->op == Op::kCompareSwap ? 2 : pair_.Draw(3)) {
    case 0:
      r->remote.virtual_address -= kReach / 2;
      break;
    case 1:
      r->remote.virtual_address += open - kReach / 2;
      break;
    default:
      r->remote.rmr_context ^= kOtherKey;
      break;
  }
}

// Makes sure that the next message of side `i` meets a receive in memory that is freed.
template <EnginePair Pair>
bool PairProgram<Pair>::AimAtReceive(int i) {
  Node& node = nodes_[i];
  Node& other = nodes_[1 - i];
  Side& peer = pair_.side(1 - i);
  Reap(0);
  Reap(1);
  while (node.messages.size() < other.receives.size()) {
    if (pair_.side(i).send_queue.full() || pair_.side(i).ended()) return false;
    const uint64_t before = node.messages.size();
    node.posts_left = 1;
    Post(i);
    if (node.messages.size() == before && node.posts_left == 1) return false;
  }
  for (int n = 0; n < 100 && other.receives.size() < node.messages.size(); ++n) {
    if (peer.ended() || other.free_inbox.empty()) return false;
    PostReceives(1 - i);
    if (other.receives.size() > node.messages.size()) return false;
  }
  if (other.receives.size() != node.messages.size() || other.receives.size() >= rules_.queue) {
    return false;
  }
  if (peer.ended()) return false;
  const size_t memory = Mortal(1 - i, kInboxSlot);
  const uint64_t cookie = 100000 + other.next_cookie++;
  other.receives.emplace_back(cookie, kNoSlot);
  Expect(peer.Receive(cookie, {peer.Local(memory, 0, kInboxSlot)}) == Code::kOk, "receive refused");
  return wrong_.empty();
}

// Makes memory that is freed some steps later.
template <EnginePair Pair>
size_t PairProgram<Pair>::Mortal(int owner, uint32_t length) {
  bad_.owner = owner;
  bad_.free_in = pair_.Draw(3) == 0 ? 0 : pair_.Draw(80);
  bad_.memory = pair_.side(owner).AddBuffer(length);
  return bad_.memory;
}

template <EnginePair Pair>
void PairProgram<Pair>::FreeInTime() {
  if (!bad_.posted || bad_.memory == kNoBuffer || bad_.freed || bad_.free_in-- > 0) return;
  Side& owner = pair_.side(bad_.owner);
  // A region is not freed under a window that is bound to it.
  bad_.freed = owner.memory->DeregisterRegion(owner.buffers[bad_.memory].key);
  Expect(bad_.freed || bad_.kind == BadKind::kBindGone, "memory cannot be freed");
  if (!bad_.freed) bad_.free_in = ~uint64_t{0};
}

template <EnginePair Pair>
bool PairProgram<Pair>::BadMaySucceed() const {
  return bad_.memory != kNoBuffer;
}

template <EnginePair Pair>
bool PairProgram<Pair>::BadStopsWhatIsBehind() const {
  const bool read = bad_.kind == BadKind::kReadSourceGone || bad_.kind == BadKind::kSinkGone;
  return !read || rules_.failed_read_stops_the_rest;
}

// A packet that had begun cannot be finished without its source. The end can report nothing any
// more, and what was under way is lost.
template <EnginePair Pair>
bool PairProgram<Pair>::LostHalfAPacket() const {
  if (bad_.kind != BadKind::kSourceGone && bad_.kind != BadKind::kReadSourceGone) return false;
  return pair_.EndedInMidPacket();
}

template <EnginePair Pair>
void PairProgram<Pair>::CheckBad(int i, const Posted& p, const Completion& c) {
  if (!bad_.posted || bad_.side != i) return;
  const bool failed = c.status != WorkStatus::kSuccess;
  const bool excused = lossy_ || LostHalfAPacket();
  if (p.cookie < bad_.cookie) {
    Expect(!failed || excused, "request " + std::to_string(p.cookie) +
                                   " in front of the bad one (" + std::to_string(bad_.cookie) +
                                   ") ends with status " +
                                   std::to_string(static_cast<int>(c.status)));
    return;
  }
  if (p.cookie != bad_.cookie) return;
  bad_.completed = true;
  bad_.failed = failed;
  const bool taken = !Confirms(p) && (p.op == Op::kSend || p.op == Op::kSendInvalidate ||
                                      p.op == Op::kRdmaWrite || p.op == Op::kRdmaWriteImmediate);
  if (!failed) return Expect(taken || BadMaySucceed(), "a bad request succeeds");
  Expect(c.status == Pair::StatusOf(bad_.kind) || excused,
         "bad request of kind " + std::to_string(static_cast<int>(bad_.kind)) +
             " ends with status " + std::to_string(static_cast<int>(c.status)));
}

template <EnginePair Pair>
void PairProgram<Pair>::CheckFailedReceive(int i, const Completion& c) {
  const Node& peer = nodes_[1 - i];
  const bool by_bad = bad_.posted && bad_.side == 1 - i && !peer.messages.empty() &&
                      peer.messages.front().cookie == bad_.cookie && !nodes_[i].receive_failed;
  WorkStatus status = WorkStatus::kFlushed;
  if (by_bad && bad_.kind == BadKind::kTooLong) status = WorkStatus::kLocalLength;
  if (by_bad && (bad_.kind == BadKind::kReceiveGone || bad_.kind == BadKind::kInvalidatesNothing)) {
    status = WorkStatus::kLocalProtection;
  }
  Expect(c.status == status || (c.status == WorkStatus::kFlushed && by_bad),
         "a receive ends with status " + std::to_string(static_cast<int>(c.status)));
}

// Requests after the bad one were not carried out, and requests before it were.
template <EnginePair Pair>
void PairProgram<Pair>::CheckBehindBad() {
  if (!bad_.posted || !wrong_.empty()) return;
  const int i = bad_.side;
  const Node& node = nodes_[i];
  if (lossy_ || LostHalfAPacket() || !BadStopsWhatIsBehind()) return;
  if (BadMaySucceed() && !bad_.failed) return;
  uint64_t counted = 0;
  std::memcpy(&counted, pair_.side(1 - i).data(nodes_[1 - i].counter), sizeof counted);
  Expect(counted == node.adds_done, std::to_string(counted) + " additions were carried out, and " +
                                        std::to_string(node.adds_done) + " completed with success");
  Expect(nodes_[1 - i].last_received < bad_.cookie,
         "a message behind the bad request (kind " + std::to_string(static_cast<int>(bad_.kind)) +
             ") arrived");
  for (const Posted& w : node.writes) {
    if (w.cookie < bad_.cookie) {
      Expect(Matches(TargetData(1 - i) + w.slot, w), "a write in front was not carried out");
    } else {
      const uint8_t* const at = TargetData(1 - i) + w.slot;
      Expect(std::all_of(at, at + w.length, [](uint8_t b) { return b == Side::kGuardByte; }),
             "a write behind the bad request was carried out");
    }
  }
}

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_PAIR_PROGRAM_BAD_H_
