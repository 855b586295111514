// SPDX-License-Identifier: BSD-3-Clause
// Definitions of PairProgram: the checks after every run of the simulation, whatever its seed.
#ifndef SOFTDAT_TESTS_SIM_PAIR_PROGRAM_CHECK_H_
#define SOFTDAT_TESTS_SIM_PAIR_PROGRAM_CHECK_H_

#include <algorithm>
#include <cstring>

#include "tests/sim/pair_program.h"

namespace softdat::sim {

using transport::Completion;
using transport::EndReason;
using transport::Op;
using transport::WorkStatus;

inline bool IsUntouched(const uint8_t* p, size_t size) {
  return std::all_of(p, p + size, [](uint8_t byte) { return byte == EngineSide::kGuardByte; });
}

// Whether `at` holds the data of the source of `p`, which nobody changes.
template <EnginePair Pair>
bool PairProgram<Pair>::Matches(const uint8_t* at, const Posted& p) {
  Side& owner = pair_.side(static_cast<int>(p.stream));
  return std::memcmp(at, owner.data(nodes_[p.stream].source) + p.expect, p.length) == 0;
}

// Whether the success of `p` says that the peer has its data.
template <EnginePair Pair>
bool PairProgram<Pair>::Confirms(const Posted& p) const {
  const bool write = p.op == Op::kRdmaWrite || p.op == Op::kRdmaWriteImmediate;
  return rules_.confirms_all ||
         (rules_.can_confirm && write && (p.flags & transport::kConfirm) != 0);
}

// With confirmed completions the peer has the data of a successful send or write.
template <EnginePair Pair>
void PairProgram<Pair>::CheckTaken(int i, const Posted& p) {
  if (!Confirms(p)) return;
  if (p.op == Op::kRdmaWrite || p.op == Op::kRdmaWriteImmediate) {
    const bool mortal = bad_.posted && bad_.side == i && bad_.cookie == p.cookie;
    Expect(mortal || Matches(TargetData(1 - i) + p.slot, p),
           "confirmed bytes of " + std::to_string(p.cookie) + " are not there");
  }
  if (p.op != Op::kSend && p.op != Op::kRdmaWriteImmediate) return;
  for (const Completion& c : pair_.side(1 - i).Receives()) CheckReceive(1 - i, c);
  for (const Posted& m : nodes_[i].messages) {
    Expect(m.cookie != p.cookie,
           "message " + std::to_string(p.cookie) + " has completed, and its receive has not");
  }
}

template <EnginePair Pair>
void PairProgram<Pair>::CheckData(int i, const Posted& p) {
  Side& side = pair_.side(i);
  const uint8_t* sink = side.data(nodes_[i].sink) + p.slot;
  if (p.op == Op::kFetchAdd) {
    uint64_t before = 0;
    std::memcpy(&before, sink, 8);
    ++nodes_[i].adds_done;
    Expect(before == p.expect, "fetch-and-add returned " + std::to_string(before));
  } else if (p.op == Op::kRdmaRead) {
    const bool mortal = bad_.posted && bad_.side == i && bad_.cookie == p.cookie;
    Expect(mortal || Matches(sink, p), "bytes read by " + std::to_string(p.cookie));
  } else {
    CheckTaken(i, p);
  }
}

template <EnginePair Pair>
void PairProgram<Pair>::CheckSend(int i, const Completion& c) {
  Node& node = nodes_[i];
  const bool failed = c.status != WorkStatus::kSuccess;
  // The suppressed requests before it have succeeded.
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
  Expect(c.op == p.op && c.context == pair_.side(i).context(), "a completion of another operation");
  CheckBad(i, p, c);
  Expect(!node.send_failed || failed, "success behind a failure");
  node.send_failed |= failed;
  if (failed) return;
  Expect((p.flags & transport::kSuppress) == 0, "a suppressed success was reported");
  Expect(c.length == p.length, "length of a send completion");
  CheckData(i, p);
}

template <EnginePair Pair>
void PairProgram<Pair>::CheckReceive(int i, const Completion& c) {
  Node& node = nodes_[i];
  Node& peer = nodes_[1 - i];
  Expect(!node.receives.empty() && node.receives.front().first == c.cookie,
         "receives out of order");
  if (!wrong_.empty()) return;
  const uint64_t slot = node.receives.front().second;
  node.receives.pop_front();
  if (slot != kNoSlot) node.free_inbox.push_back(slot);
  uint8_t* inbox = slot == kNoSlot ? pair_.side(i).data(bad_.memory)
                                   : pair_.side(i).data(node.inbox) + slot * kInboxSlot;
  const bool failed = c.status != WorkStatus::kSuccess;
  Expect(!node.receive_failed || failed, "received behind a failure");
  if (failed) CheckFailedReceive(i, c);
  node.receive_failed |= failed;
  if (failed) return;
  Expect(!peer.messages.empty(), "a message that nobody sent");
  if (!wrong_.empty()) return;
  const Posted m = peer.messages.front();
  peer.messages.pop_front();
  ++node.received;
  node.last_received = m.cookie;
  Expect(c.solicited == ((m.flags & transport::kSolicited) != 0), "solicited");
  if (m.op == Op::kRdmaWriteImmediate) {
    Expect(c.op == Op::kReceiveImmediate && c.key == static_cast<uint32_t>(m.cookie) &&
               c.length == m.length,
           "immediate");
  } else {
    Expect(c.op == Op::kReceive && c.length == m.length, "length of a receive");
    Expect(Matches(inbox, m), "received bytes of " + std::to_string(m.cookie));
    Expect(IsUntouched(inbox + m.length, kInboxSlot - m.length), "bytes behind a message");
  }
  std::memset(inbox, Side::kGuardByte, kInboxSlot);
  // Everything that was written before it is in place (semantics 10.3).
  while (!peer.writes.empty() && peer.writes.front().cookie <= m.cookie) {
    const Posted w = peer.writes.front();
    peer.writes.pop_front();
    Expect(Matches(TargetData(i) + w.slot, w), "written bytes of " + std::to_string(w.cookie));
  }
}

template <EnginePair Pair>
void PairProgram<Pair>::Reap(int i) {
  for (const Completion& c : pair_.side(i).Sends()) CheckSend(i, c);
  for (const Completion& c : pair_.side(i).Receives()) CheckReceive(i, c);
}

// Nothing was written outside a window, a sink or a receive, and nothing into a source.
template <EnginePair Pair>
void PairProgram<Pair>::CheckUntouched(int i) {
  Side& side = pair_.side(i);
  const Node& node = nodes_[i];
  const uint64_t used = nodes_[1 - i].target_used;
  Expect(side.GuardsIntact(), "guard bytes");
  Expect(IsUntouched(TargetData(i) - kMargin, kMargin), "written in front of the window");
  Expect(IsUntouched(TargetData(i) + used, kArea - used + kMargin), "written where nobody asked");
  Expect(IsUntouched(side.data(node.sink) + node.sink_used, kArea - node.sink_used),
         "read where nobody asked");
  Expect(std::memcmp(side.data(node.source), SourceBytes(i), kArea) == 0, "a source has changed");
}

// After the end every signalled post has completed, nothing completes any more, and a new post is
// flushed.
template <EnginePair Pair>
void PairProgram<Pair>::CheckSilence(int k) {
  Side& side = pair_.side(k);
  Reap(k);
  Expect(side.ended(), "side " + std::to_string(k) + " has not ended: " + Describe());
  Expect(side.send_queue.empty(), "sends left");
  Expect(side.receive_queue.empty(), "receives left");
  for (const Posted& p : nodes_[k].sends) {
    Expect((p.flags & transport::kSuppress) != 0 && !nodes_[k].send_failed,
           "no completion for " + std::to_string(p.cookie));
  }
  if (side.shared == nullptr) Expect(nodes_[k].receives.empty(), "a receive without completion");
  Expect(side.ends_seen == 1, "ended " + std::to_string(side.ends_seen) + " times");
  Expect(!side.timer_runs(), "a timer outlives the end");
  const uint64_t packets = side.packets_sent();
  Expect(side.Send(7, {}) == Code::kOk, "a post after the end");
  const auto flushed = side.Sends();
  Expect(flushed.size() == 1 && flushed[0].cookie == 7 && flushed[0].status == WorkStatus::kFlushed,
         "a post after the end is flushed once");
  if (side.shared == nullptr) {
    Expect(side.Receive(8, {}) == Code::kOk, "a receive after the end");
    const auto dropped = side.Receives();
    Expect(
        dropped.size() == 1 && dropped[0].cookie == 8 && dropped[0].status == WorkStatus::kFlushed,
        "a receive after the end is flushed once");
  }
  Expect(!pair_.StepAll() && !pair_.AdvanceClock(), "something moves after the end: " + Describe());
  Expect(side.packets_sent() == packets, "sent after the end");
  Expect(side.send_ring.Poll({}) == 0 && side.receive_ring.Poll({}) == 0, "late completions");
}

// Resources balance, and the connection ended for the right reason.
template <EnginePair Pair>
void PairProgram<Pair>::CheckLeftovers(int k) {
  Side& side = pair_.side(k);
  const bool broken = side.end().reason == EndReason::kBroken;
  const bool may_break =
      lossy_ || ending_ == Ending::kReset || (bad_.posted && (bad_.failed || !BadMaySucceed()));
  Expect(!broken || may_break || bad_.freed, "broken: " + side.end().why);
  Expect(broken || lossy_ || !bad_.posted || BadMaySucceed(),
         "a bad request did not break the connection");
  Expect(side.send_sink.overflows == 0 && side.receive_sink.overflows == 0, "overflow");
  if (side.shared != nullptr) {
    Expect(side.held_receives() == 0, "a receive is held");
    Expect(side.shared->Available() == nodes_[k].receives.size(), "shared receives");
  }
  // Nothing is pinned any more, or this would hang.
  if (windows_) Expect(side.memory->DestroyWindow(nodes_[k].window), "destroy window");
  Expect(side.memory->DestroyWindow(nodes_[k].own_window), "destroy window");
  if (bad_.window != 0 && bad_.owner == k) {
    Expect(side.memory->DestroyWindow(bad_.window), "destroy window");
  }
  for (size_t n = 0; n < side.buffers.size(); ++n) {
    if (bad_.freed && bad_.owner == k && bad_.memory == n) continue;
    Expect(side.memory->DeregisterRegion(side.buffers[n].key), "deregister");
  }
  Expect(side.memory->regions() == 0 && side.memory->windows() == 0, "regions or windows left");
}

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_PAIR_PROGRAM_CHECK_H_
